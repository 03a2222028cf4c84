---@meta k8s.history
-- luacheck: ignore 241
-- Last versions of objects: docs/lua-api.md, "History".

---@class k8s
local k8s = {}

---@class k8s.Change
---@field path string
---@field old any nil if it was absent
---@field new any nil if it is absent

---@class k8s.Version
---@field event "created"|"updated"|"deleted"
---@field time number time of arrival, in seconds since the epoch
---@field resource_version string
---@field manager? string who wrote it, by managedFields
---@field script? string the script of this engine that wrote it
---@field changes k8s.Change[]
---@field object? table the complete object, with options.objects

---@class k8s.Versions
---@field deleted boolean
---@field kind? string
---@field [integer] k8s.Version

---Returns the last versions of an object that the engine keeps (kubelua run --history), the newest first.
---@param obj k8s.Object|table an object, or { kind =, namespace =, name = }
---@param options? { objects?: boolean }
---@return k8s.Versions?
---@return k8s.Error err nil without an error
function k8s.history(obj, options) end

return k8s
