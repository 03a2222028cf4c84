---@meta k8s.shard
-- luacheck: ignore 241
-- Objects that are shared by the replicas of a group: run --shard.

---@class k8s
---@field shard k8s.shard
local k8s = {}

---@class k8s.shard
local shard = {}

---Returns whether this replica owns the object, by its uid, or the text, such as a namespace; always true without
-----shard.
---@param object k8s.Object|table|string
---@return boolean
function shard.owns(object) end

---@class k8s.ShardStatus
---@field group string name of the group
---@field lease string name of the Lease of this replica; "" before it has one
---@field members integer number of replicas
---@field ranges integer number of ranges of the hash that this replica owns
---@field share number part of all objects that it owns, from 0 to 1

---Returns the state of this replica; nil without --shard.
---@return k8s.ShardStatus?
function shard.status() end

return k8s
