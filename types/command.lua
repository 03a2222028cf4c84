---@meta k8s.command
-- luacheck: ignore 241
-- Functions of a script that `kubelua call` calls.

---@class k8s
local k8s = {}

---@class k8s.CommandOptions
---@field help? string shown by `kubelua call` without a name

---Registers a command; only while the script loads. The function receives the words of the command line, may wait, and
---returns the result to print: a string, a table, or nil and an error.
---@param name string letters, digits, "-", "_" and "."
---@param fn fun(...: string): any, any
---@param options? k8s.CommandOptions
function k8s.command(name, fn, options) end

return k8s
