-- Ended by handler-cpu: an endless loop in a timer's function.
local k8s = require "k8s"

k8s.after("100ms", function()
  while true do
    pcall(error)
  end
end)
