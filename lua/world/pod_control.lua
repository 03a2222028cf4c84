-- Pods that controllers create and delete, of which they tell.
local api = require "world.api"
local cache = require "world.cache"
local raw = require "world.raw"

local AGENT = "kube-controller-manager"
local LETTERS, SUFFIX, NAME_MAX = "bcdfghjklmnpqrstvwxz2456789", 5, 63

local pod_control = {}

-- A name as a server generates it, which nobody has.
local function generated(namespace, prefix)
  local name
  repeat
    name = prefix:sub(1, NAME_MAX - SUFFIX)
    for _ = 1, SUFFIX do
      local at = raw.random(#LETTERS) + 1
      name = name .. LETTERS:sub(at, at)
    end
  until not cache.get("pods", namespace .. "/" .. name)
  return name
end

-- Creates the pod of an owner, with a name of its own if it has none, and tells of it. Returns true, or false and why
-- not. A namespace on its way out takes none, and nobody is told.
function pod_control.create(tell, owner, pod)
  local metadata = pod.metadata
  metadata.name = metadata.name or generated(owner.metadata.namespace, metadata.generateName)
  local ok, code, _, message = api.create(AGENT, "pods", owner.metadata.namespace, pod)
  if ok then
    tell(owner, "Normal", "SuccessfulCreate", "Created pod: " .. metadata.name)
  elseif not message:find("is being terminated", 1, true) then
    tell(owner, "Warning", "FailedCreate", "Error creating: " .. message)
  end
  return ok, message, code
end

-- Deletes a pod of the owner, and tells of it.
function pod_control.delete(tell, owner, pod)
  local ok, code, _, message = api.delete(AGENT, "pods", pod)
  if ok then
    tell(owner, "Normal", "SuccessfulDelete", "Deleted pod: " .. pod.metadata.name)
  elseif code ~= 404 then
    tell(owner, "Warning", "FailedDelete", "Error deleting: " .. message)
  end
end

return pod_control
