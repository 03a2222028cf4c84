-- Tells of every pod that comes, changes or goes: the first thing to try.
--   kubelua run -f scripts/watch_pods.lua
local k8s = require "k8s"

local pods = k8s.informer "pods"

local function describe(pod)
  return ("%s on %s"):format(pod:get "status.phase" or "?", pod.spec.nodeName or "no node")
end

pods:add_event_handler {
  OnAdd = function(pod, ev)
    print((ev.initial and "found   " or "added   ") .. pod:key() .. "  " .. describe(pod))
  end,
  OnUpdate = function(old, new)
    local before, after = describe(old), describe(new)
    if before ~= after then
      print("updated " .. new:key() .. "  " .. before .. " -> " .. after)
    end
  end,
  OnDelete = function(last)
    print("deleted " .. last:key() .. "  it was " .. describe(last))
  end,
}
