-- Ended by filter-cpu: an endless loop in a filter.
local k8s = require "k8s"

k8s.informer("configmaps", { namespace = "default" }):on_add(print, {
  id = "attack",
  filter = function(obj)
    while obj:name() == "go" do
    end
    return false
  end,
})
