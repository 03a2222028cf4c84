---@meta k8s.yaml
-- luacheck: ignore 241
-- YAML: docs/lua-api.md, "The rest".

---@class k8s
---@field yaml k8s.yaml
local k8s = {}

---@class k8s.yaml
local yaml = {}

---Returns a document with keys sorted as by json.encode; strings are quoted only if they look like another type.
---@param value any
---@return string
function yaml.encode(value) end

---Reads a single document as kubectl does; returns k8s.null for none. The error message begins with its line.
---@param text string
---@return any
---@return k8s.Error err nil without an error
function yaml.decode(text) end

---Returns an array of all documents that are not empty.
---@param text string
---@return any[]?
---@return k8s.Error err nil without an error
function yaml.decode_all(text) end

return k8s
