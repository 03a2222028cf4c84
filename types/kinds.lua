---@meta k8s.kinds
-- luacheck: ignore 241
-- Kinds of `require "k8s"`.

---@class k8s
local k8s = {}

---@class k8s.KindsOptions
---@field group? string "apps"; "" for the core group; "*.example.com" for a group and those below it
---@field verb? "create"|"delete"|"deletecollection"|"get"|"list"|"patch"|"update"|"watch"
---@field namespaced? boolean

---@class k8s.Kind
---@field name string as functions take it: "widgets.example.com"
---@field group string
---@field version string the preferred one
---@field kind string
---@field plural string
---@field namespaced boolean
---@field verbs string[]

---Returns the kinds that the server serves, as discovery lists them. Waits.
---@param filter? k8s.KindsOptions
---@return k8s.Kind[]? kinds
---@return k8s.Error err also beside the kinds, when some groups did not respond; nil without an error
function k8s.kinds(filter) end
