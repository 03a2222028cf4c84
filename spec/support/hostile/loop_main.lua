-- Ended by main-cpu: an endless loop in k8s.main.
local k8s = require "k8s"

k8s.main(function()
  while true do
    pcall(error)
  end
end)
