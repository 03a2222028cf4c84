---@meta k8s.events
-- luacheck: ignore 241
-- Events of `require "k8s"`.

---@class k8s
local k8s = {}

---Records an Event of an object, for `kubectl describe` and `kubectl events`. Never waits.
---@param object k8s.Object|table a view, a complete object, or { kind, namespace, name, uid }
---@param type "Normal"|"Warning"
---@param reason string one word, for programs
---@param format string a format of string.format; without arguments the message itself
---@param ... any
function k8s.event(object, type, reason, format, ...) end

return k8s
