---@meta k8s.rule
-- luacheck: ignore 241
-- Rules: checks of objects in audits.

---@class k8s
local k8s = {}

---Parameters by name, which an operator may set.
---@alias k8s.Params table<string, boolean|number|string|boolean[]|number[]|string[]>
---Functions of `uses` by name: they return the objects with a value in the index, or all.
---@alias k8s.Finders table<string, fun(value?: any): k8s.Object[]>
---Calls `emit` for each value of an object in the index.
---@alias k8s.IndexFunction fun(obj: k8s.Object, emit: fun(value: string|number|boolean))

---Access to other objects.
---@class k8s.RuleUse
---@field kind string any name that kubectl accepts
---@field index? string|k8s.IndexFunction "namespace", "key", a path or a function; default: all objects

---Options of `r:fail`, `r:warn` and `r:skip`.
---@class k8s.FindingOptions
---@field path? string path in the object, "spec.containers[0].image"
---@field value? any the value at the path

---Receives the findings of a rule for an object.
---@class k8s.Result
local Result = {}

---Reports a pass, the same as reporting nothing.
---@param message? string
function Result:pass(message) end

---@param message string
---@param options? k8s.FindingOptions
function Result:fail(message, options) end

---@param message string
---@param options? k8s.FindingOptions
function Result:warn(message, options) end

---Reports that the rule does not apply to the object.
---@param reason? string
---@param options? k8s.FindingOptions
function Result:skip(reason, options) end

---Limits on annotations that accept findings of a rule.
---@class k8s.RuleIgnore
---@field max_days? integer most days from now on that a finding may be accepted; then `until=` is required
---@field namespaces? string[] names with * and ?; ! before a name excludes

---@class k8s.RuleOptions
---@field id string 1 to 56 letters, digits, "-", "_" and "."
---@field kinds string[] any names that kubectl accepts
---@field check fun(obj: k8s.Object, r: k8s.Result, use: k8s.Finders, params: k8s.Params)
---@field title? string one line
---@field severity? "info"|"low"|"medium"|"high"|"critical" medium by default
---@field category? string
---@field why? string the reason for the rule
---@field how? string the remedy
---@field namespaces? string[] names with * and ?; ! before a name excludes
---@field ignore? false|k8s.RuleIgnore false: owners of objects cannot accept findings; a table: within limits
---@field uses? table<string, k8s.RuleUse>
---@field params? k8s.Params names with their defaults, which an operator may set
---@field skip? fun(obj: k8s.Object, params: k8s.Params): boolean|string|nil true or a reason skips the object
---@field fix? fun(obj: k8s.Object, params: k8s.Params): table|k8s.View|nil a merge patch or a complete manifest

---Registers a check of objects for audits; it may be evaluated for the same object again at any time.
---@param rule k8s.RuleOptions
function k8s.rule(rule) end

return k8s
