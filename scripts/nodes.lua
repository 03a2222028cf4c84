-- Logs when a node becomes ready or not ready. Log lines go to stderr, output of print to stdout.
--   kubelua run -f scripts/nodes.lua
local k8s = require "k8s"

local function ready(node)
  return node:get("status.conditions[?type=='Ready'].status")[1] or "Unknown"
end

local function report(node, before)
  local version = node:get "status.nodeInfo.kubeletVersion"
  local fields = { node = node:name(), ready = ready(node), before = before, version = version }
  if ready(node) == "True" then
    k8s.log.info("Node is ready", fields)
  else
    k8s.log.warn("Node is not ready", fields)
  end
end

k8s.informer("nodes"):add_event_handler {
  OnAdd = function(node, ev)
    if not ev.initial or ready(node) ~= "True" then report(node) end
  end,
  OnUpdate = function(old, new)
    if ready(old) ~= ready(new) then report(new, ready(old)) end
  end,
  OnDelete = function(last) k8s.log.warn("Node is gone", { node = last:name() }) end,
}
