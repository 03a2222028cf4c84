-- Records an Event with the image for each pod that cannot pull it; `kubectl describe pod` shows the Event.
--   kubelua run -f scripts/image_events.lua
local k8s = require "k8s"

local REASON = "status.containerStatuses[*].state.waiting.reason"
local TROUBLE = { ErrImagePull = true, ImagePullBackOff = true, InvalidImageName = true }

local function tell(pod)
  for _, status in ipairs(pod.status.containerStatuses) do
    local waiting = status.state and status.state.waiting
    if waiting and TROUBLE[waiting.reason] then
      k8s.event(pod, "Warning", "NoImage", "container %s: %s", status.name, waiting.reason)
      print("told of " .. pod:key())
    end
  end
end

k8s.informer("pods"):add_event_handler {
  where = { [REASON] = { "ErrImagePull", "ImagePullBackOff", "InvalidImageName" } },
  changed = { REASON },
  OnAdd = tell,
  OnUpdate = function(_, pod)
    tell(pod)
  end,
}
