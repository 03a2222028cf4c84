---@meta k8s.params
-- luacheck: ignore 241
-- Settings of a script: docs/lua-api.md#settings.

---@class k8s
local k8s = {}

---@class k8s.ParamOptions
---@field type? "boolean"|"duration"|"integer"|"list"|"number"|"secret"|"string"|"url" default: that of `default`
---@field default? boolean|number|string|boolean[]|number[]|string[]
---@field required? boolean the script does not load without a value
---@field help? string one line
---@field min? number|string of numbers and durations
---@field max? number|string
---@field values? (number|string)[] the values that are allowed
---@field from? string "secret:NAMESPACE/NAME/KEY", for secrets: followed as long as the script runs

---Declares the settings of this script, only while it loads. Operators set them by --param, --params and
---KUBELUA_PARAM_NAME. A duration is a number of seconds.
---@param declared table<string, boolean|number|string|boolean[]|number[]|string[]|k8s.ParamOptions>
---@return table<string, any> settings read-only
function k8s.params(declared) end
