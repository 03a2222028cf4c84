---@meta k8s.reads
-- luacheck: ignore 241
-- Texts of the API server: docs/lua-api.md, "Logs and other paths".

---@class k8s
local k8s = {}

---@class k8s.RawOptions
---@field path string declared with k8s.reads
---@field query? table<string, string|number|boolean>
---@field timeout? k8s.Duration 30 seconds by default, 24 hours at most

---Reads a path of the API server: JSON as a table, other text as a string. Waits.
---@param options k8s.RawOptions
---@return any answer
---@return k8s.Error err nil without an error
function k8s.raw(options) end

---@class k8s.LogOptions
---@field container? string needed if the pod has several
---@field previous? boolean the run before the last restart
---@field tail? integer the last lines only
---@field since? k8s.Duration lines that are not older
---@field timestamps? boolean each line begins with its time
---@field follow? boolean return the lines as they come
---@field timeout? k8s.Duration 30 seconds by default; with follow, an hour, after which the loop ends

---`for line in lines do`
---@class k8s.Lines
---@operator call: string?
local Lines = {}

---Ends the loop.
function Lines:close() end

---Reads the log of a container: a string, "" if it is empty. With `follow` an iterator over its lines, which raises a
---k8s.Error. Declared as "pods/log:get". Waits.
---@param pod k8s.Object|table|string an object, a reference { namespace, name } or a key
---@param options? k8s.LogOptions
---@return any log
---@return k8s.Error err nil without an error
function k8s.logs(pod, options) end

return k8s
