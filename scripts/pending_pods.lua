-- Prints which pods wait for a node or an image, and the reason.
--   kubelua run -f scripts/pending_pods.lua
local k8s = require "k8s"

-- What keeps a pending pod; nil for any other pod.
local function reason(pod)
  if pod:get "status.phase" ~= "Pending" then return nil end
  local waiting = pod:get "status.containerStatuses[*].state.waiting.reason"
  if #waiting > 0 then return table.concat(waiting, ", ") end
  local message = pod:get "status.conditions[?type=='PodScheduled'].message"
  return message[1] or "no reason given yet"
end

k8s.informer("pods"):add_event_handler {
  OnAdd = function(pod)
    if reason(pod) then print("pending  " .. pod:key() .. ": " .. reason(pod)) end
  end,
  OnUpdate = function(old, new)
    local before, after = reason(old), reason(new)
    if after and after ~= before then
      print("pending  " .. new:key() .. ": " .. after)
    elseif before and not after then
      print("resolved " .. new:key() .. ": " .. (new:get "status.phase" or "?"))
    end
  end,
  OnDelete = function(last)
    if reason(last) then print("gone     " .. last:key() .. ": it never ran") end
  end,
}
