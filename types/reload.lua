---@meta k8s.reload
-- luacheck: ignore 241
-- Reloads of a script.

---@class k8s
local k8s = {}

---@class k8s.ReloadOptions
---@field replay? "changed"|"none"|"all" handlers that receive the cache again, with ev.initial; default "changed"

---Sets the behaviour of a reload to this generation. Only while the script loads.
---@param options? k8s.ReloadOptions
function k8s.on_reload(options) end

return k8s
