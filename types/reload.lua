---@meta k8s.reload
-- luacheck: ignore 241
-- What becomes of a script when its file changes.

---@class k8s
local k8s = {}

---@class k8s.ReloadOptions
---@field replay? "changed"|"none"|"all" which handlers see the cache again, as OnAdd with ev.initial; else "changed"

---What a changed file of this script does when it takes over. While the script loads only.
---@param options? k8s.ReloadOptions
function k8s.on_reload(options) end

return k8s
