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

---@class k8s.EachKindOptions
---@field every? k8s.Duration how often the server is asked; 30 seconds by default

---The result of k8s.each_kind.
---@class k8s.EachKind
local EachKind = {}

---Ends it, and all that its functions made.
function EachKind:stop() end

---Calls the function for each kind that the server serves, now and later, in a task of its own. Informers, handlers and
---periodic timers that it makes end when the kind goes.
---@param filter k8s.KindsOptions
---@param fn fun(kind: k8s.Kind)
---@param options? k8s.EachKindOptions
---@return k8s.EachKind
function k8s.each_kind(filter, fn, options) end
