---@meta k8s.query
-- luacheck: ignore 241
-- Results of pods:query() and k8s.snapshot().

---@class k8s.Query
local Query = {}

---Keeps the objects that match the condition. k8s.null matches absent fields.
---@param path string
---@param op "="|"=="|"~="|"!="|"<"|"<="|">"|">="|"in"|"matches"
---@param value any
---@return k8s.Query
function Query:where(path, op, value) end

---@param selector string
---@return k8s.Query
function Query:label(selector) end

---@param namespace string
---@return k8s.Query
function Query:namespace(namespace) end

---@param path string
---@return k8s.Query
function Query:group(path) end

---@param path string of groups: "key", "count" or "sum"
---@param direction? "asc"|"desc"
---@return k8s.Query
function Query:order(path, direction) end

---@param n integer
---@return k8s.Query
function Query:limit(n) end

---@class k8s.GroupRow
---@field key string|number|boolean|k8s.Int64|nil
---@field count integer
---@field sum? number|k8s.Quantity

---@return integer|k8s.GroupRow[]
function Query:count() end

---Returns a number if all summands are numbers, else a quantity.
---@param path string
---@return number|k8s.Int64|k8s.Quantity|k8s.GroupRow[]
function Query:sum(path) end

---@return k8s.Object[]|k8s.GroupRow[]
function Query:rows() end

---@return fun(): k8s.Object|k8s.GroupRow|nil iterator
function Query:each() end

---The state of several caches at one moment.
---@class k8s.Snapshot
local Snapshot = {}

---@param informer k8s.Informer
---@return k8s.Lister
function Snapshot:lister(informer) end

---@param informer k8s.Informer
---@return k8s.Query
function Snapshot:query(informer) end

---Frees its memory; later reads raise an error. Not in an index function.
function Snapshot:close() end
