---@meta k8s.state
-- luacheck: ignore 241
-- State tables, which survive a reload of the script, and with `keep` a restart.

---@class k8s
local k8s = {}

---Values of a state table: booleans, numbers, strings and tables, which are read as states.
---@alias k8s.Kept any

---Userdata that behaves like a table: #, pairs, ipairs, next, unpack and the functions of `table` accept it. Assigned
---tables are copied.
---@class k8s.State
---@field [string] k8s.Kept
---@field [number] k8s.Kept
---@field [boolean] k8s.Kept
local state = {}

---Waits until what the state has now is stored outside the process, so that it survives whatever happens to it. Of a
---state with `keep` only. Reasons of errors: `NotLeader`, `Conflict` if another process has changed what is stored,
---`LimitExceeded`, `InternalError` for a full disk and the like, or that of the server.
---@return true? stored
---@return k8s.Error? err
function state:sync() end

---@class k8s.StateOptions
---@field version? integer 1 by default
---@field init? table content if there is none to hand over
---@field migrate? fun(old: table, old_version: integer): table converts the content of another version
---@field keep? "file"|"configmap" where it is kept outside the process: in a file of --state-dir, or in the cluster

---Returns a table that is handed over to the script's next generation. Only while the script loads.
---@param name string
---@param options? k8s.StateOptions without them: the table of an earlier call
---@return k8s.State
function k8s.state(name, options) end

return k8s
