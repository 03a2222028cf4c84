---@meta k8s.rule
-- luacheck: ignore 241
-- Checks of objects that audits make.

---@class k8s
local k8s = {}

---What an operator may set, by name.
---@alias k8s.Params table<string, boolean|number|string|boolean[]|number[]|string[]>
---What `uses` finds, by name: of a value of its index, or all.
---@alias k8s.Finders table<string, fun(value?: any): k8s.Object[]>
---What an object has for an index: `emit` is called for each value.
---@alias k8s.IndexFunction fun(obj: k8s.Object, emit: fun(value: string|number|boolean))

---How a rule finds other objects.
---@class k8s.RuleUse
---@field kind string as kubectl takes it
---@field index? string|k8s.IndexFunction "namespace", "key", a path or a function; all are found without it

---What `r:fail` and its sisters say beside the message.
---@class k8s.FindingOptions
---@field path? string where it is, "spec.containers[0].image"
---@field value? any what stands there

---What a rule says of an object.
---@class k8s.Result
local Result = {}

---All is well; the same as to say nothing.
---@param message? string
function Result:pass(message) end

---@param message string
---@param options? k8s.FindingOptions
function Result:fail(message, options) end

---@param message string
---@param options? k8s.FindingOptions
function Result:warn(message, options) end

---The rule does not concern the object.
---@param reason? string
---@param options? k8s.FindingOptions
function Result:skip(reason, options) end

---@class k8s.RuleOptions
---@field id string 1 to 56 letters, digits, "-", "_" and "."
---@field kinds string[] as kubectl takes them
---@field check fun(obj: k8s.Object, r: k8s.Result, use: k8s.Finders, params: k8s.Params)
---@field title? string one line
---@field severity? "info"|"low"|"medium"|"high"|"critical" medium by default
---@field category? string
---@field why? string why it matters
---@field how? string what to do
---@field namespaces? string[] names with * and ?, and ! before those to leave out
---@field uses? table<string, k8s.RuleUse>
---@field params? k8s.Params names with their defaults, which an operator may set
---@field skip? fun(obj: k8s.Object, params: k8s.Params): boolean|string|nil true or a reason: it is not checked
---@field fix? fun(obj: k8s.Object, params: k8s.Params): table|k8s.View|nil a merge patch or a whole manifest

---A check of objects that audits make; it may be made again for the same object at any time.
---@param rule k8s.RuleOptions
function k8s.rule(rule) end

return k8s
