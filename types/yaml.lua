---@meta k8s.yaml
-- luacheck: ignore 241
-- Texts of YAML: docs/lua-api.md, "The rest".

---@class k8s
---@field yaml k8s.yaml
local k8s = {}

---@class k8s.yaml
local yaml = {}

---A document, keys sorted as json.encode has them, texts without quotes where nothing takes them for something else.
---@param value any
---@return string
function yaml.encode(value) end

---The one document of a text, as kubectl reads it; k8s.null when there is none. The error's message begins with its
---line.
---@param text string
---@return any
---@return k8s.Error?
function yaml.decode(text) end

---An array of the documents, without empty ones.
---@param text string
---@return any[]?
---@return k8s.Error?
function yaml.decode_all(text) end

return k8s
