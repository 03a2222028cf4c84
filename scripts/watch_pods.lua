-- Prints every added, changed and deleted pod: a first script to try.
--   kubelua run -f scripts/watch_pods.lua
local k8s = require "k8s"

local pods = k8s.informer "pods"

local function phase(pod)
  return pod:get "status.phase" or "Unknown"
end

pods:add_event_handler {
  OnAdd = function(pod, ev)
    local verb = ev.initial and "found  " or "added  "
    print(verb .. " " .. pod:key() .. "  " .. phase(pod) .. " on " .. (pod.spec.nodeName or "no node"))
  end,
  OnUpdate = function(old, new)
    if phase(old) ~= phase(new) then
      print("updated " .. new:key() .. "  " .. phase(old) .. " -> " .. phase(new))
    end
  end,
  OnDelete = function(last)
    print("deleted " .. last:key() .. "  it was " .. phase(last))
  end,
}
