---@meta k8s.state
-- luacheck: ignore 241
-- Tables that a reload of the script does not lose.

---@class k8s
local k8s = {}

---What may be in a state table.
---@alias k8s.Kept boolean|number|string|table|k8s.State

---Userdata that stands for a table: #, pairs, ipairs, next, unpack and the functions of `table` take it. Tables that
---are assigned are copied.
---@class k8s.State
---@field [string|number|boolean] k8s.Kept

---@class k8s.StateOptions
---@field version? integer 1 by default
---@field init? table what is in it when there is nothing to take over
---@field migrate? fun(old: table, old_version: integer): table when the old generation has another version

---A table that the script's next generation takes over. While the script loads only.
---@param name string
---@param options? k8s.StateOptions without them: that of an earlier call
---@return k8s.State
function k8s.state(name, options) end

return k8s
