---@meta k8s
-- luacheck: ignore 241
-- The limits of a script: docs/limits.md.

---@class k8s
local k8s = {}

---Limits of a script. Durations are seconds or strings such as "50ms", sizes bytes or strings such as "16Mi".
---@class k8s.Limits
---@field load_cpu? number|string
---@field handler_cpu? number|string of a handler, worker or timer between two waits
---@field main_cpu? number|string
---@field piece_cpu? number|string of what cannot give way within k8s.main, migrate or the load phase of a reload
---@field filter_cpu? number|string of one call of a filter, transform or index function
---@field script_memory? number|string
---@field value_size? number|string
---@field tasks? integer
---@field timers? integer
---@field handlers? integer
---@field informers? integer
---@field queue_keys? integer
---@field series? integer
---@field metric_bytes? number|string
---@field log_lines? integer per second
---@field print_buffer? number|string
---@field writes? integer per minute; further ones wait
---@field http_requests? integer per minute; further ones wait

---Lowers limits of this script, only while it loads. The operator's limits cannot be raised.
---@param limits k8s.Limits
function k8s.limits(limits) end
