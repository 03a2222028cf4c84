---@meta k8s.events
-- luacheck: ignore 241
-- Events: more of what `require "k8s"` gives.

---@class k8s
local k8s = {}

---Says something of an object, for `kubectl describe` and `kubectl events`. Never waits.
---@param object k8s.Object|table a view, a whole object, or { kind, namespace, name, uid }
---@param type "Normal"|"Warning"
---@param reason string one word, for programs
---@param format string as string.format has it; alone it is taken as it is
---@param ... any
function k8s.event(object, type, reason, format, ...) end

return k8s
