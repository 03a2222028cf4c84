---@meta k8s.leader
-- luacheck: ignore 241
-- Elections: which of several processes does what only one may do.

---@class k8s
local k8s = {}

---@class k8s.LeaderOptions
---@field lease? string a name in the namespace of the flags; "namespace/name" elsewhere is declared by k8s.writes
---@field duration? k8s.Duration how long others wait for a leader that they hear nothing of; whole seconds
---@field renew? k8s.Duration how long the leader tries to renew the lease
---@field retry? k8s.Duration time between tries
---@field labels? table<string, string> put on the lease

---The script takes part in an election; what is not said is as the flags --leader-elect-... say. While the script loads
---only, once.
---@param options? k8s.LeaderOptions
function k8s.leader(options) end

---Whether the script leads at this instant; always true without an election, and under --dry-run.
---@return boolean
function k8s.is_leader() end

---Functions for the begin and the end of leadership. While the script loads only.
---@param start fun() called when the script begins to lead; cancelled when that ends while it waits
---@param stop? fun() called when it leads no more
function k8s.on_leader(start, stop) end

return k8s
