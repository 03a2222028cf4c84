-- Prints which pods cannot pull their images, and when they can again. The engine evaluates the filter without Lua: the
-- functions run only when a pod enters or leaves this state.
--   kubelua run -f scripts/image_errors.lua
local k8s = require "k8s"

local REASON = "status.containerStatuses[*].state.waiting.reason"

k8s.informer("pods"):add_event_handler {
  namespaces = { "!kube-*" },
  where = { [REASON] = { "ErrImagePull", "ImagePullBackOff", "InvalidImageName" } },
  changed = { REASON },
  OnAdd = function(pod)
    print("no image " .. pod:key() .. ": " .. pod:get(REASON)[1])
  end,
  OnUpdate = function(_, pod)
    print("no image " .. pod:key() .. ": " .. pod:get(REASON)[1])
  end,
  OnDelete = function(pod, ev)
    print((ev.filtered and "resolved " or "deleted  ") .. pod:key())
  end,
}
