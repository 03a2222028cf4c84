-- Says which pods cannot get their images, and when that is over. The filter is evaluated without entering Lua: the
-- functions run only when a pod comes into this state or leaves it.
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
