---@meta k8s.leader
-- luacheck: ignore 241
-- Leader elections among several processes.

---@class k8s
local k8s = {}

---@class k8s.LeaderOptions
---@field lease? string a name in the namespace of the flags; "namespace/name" elsewhere needs k8s.writes
---@field duration? k8s.Duration time that others wait before they take a lease that is not renewed; whole seconds
---@field renew? k8s.Duration time that the leader tries to renew the lease
---@field retry? k8s.Duration time between attempts
---@field labels? table<string, string> labels to add to the lease

---Makes the script a candidate in an election; the flags --leader-elect-... are the defaults. Call it once, only while
---the script loads.
---@param options? k8s.LeaderOptions
function k8s.leader(options) end

---Returns whether the script leads now; always true without an election, and under --dry-run.
---@return boolean
function k8s.is_leader() end

---@class k8s.OnLeaderOptions
---@field wait? boolean false: `start` does not wait until the informers of the script are synced

---Registers functions for the start and the end of leadership. Only while the script loads.
---@param start fun(): any?, any? called when leadership begins and the informers of the script are synced; cancelled if
---leadership ends while it waits. A function that returns nil, err has failed
---@param stop? fun(): any?, any? called when leadership ends
---@param options? k8s.OnLeaderOptions
function k8s.on_leader(start, stop, options) end

---Registers a function for the end of the script, at most 100. Only while the script loads.
---@param stop fun(reason: "shutdown"|"removed"|"reload"): any?, any? at a reload it may not wait. A function that
---returns nil, err has failed
function k8s.on_stop(stop) end

return k8s
