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

---Makes rows of groups of the objects; the value at the path is their key.
---@param path string
---@return k8s.GroupQuery
function Query:group(path) end

---@param path string
---@param direction? "asc"|"desc"
---@return k8s.Query
function Query:order(path, direction) end

---@param n integer
---@return k8s.Query
function Query:limit(n) end

---@return integer
function Query:count() end

---Returns a number if all summands are numbers, else a quantity.
---@param path string
---@return number|k8s.Int64|k8s.Quantity
function Query:sum(path) end

---@return k8s.Object[]
function Query:rows() end

---@return fun(): k8s.Object iterator
function Query:each() end

---@class k8s.GroupRow
---@field key string|number|boolean|k8s.Int64|nil
---@field count integer
---@field sum? number|k8s.Quantity

---A query after `group`: its results are rows.
---@class k8s.GroupQuery
local GroupQuery = {}

---Keeps the objects that match the condition, before they are grouped.
---@param path string
---@param op "="|"=="|"~="|"!="|"<"|"<="|">"|">="|"in"|"matches"
---@param value any
---@return k8s.GroupQuery
function GroupQuery:where(path, op, value) end

---@param selector string
---@return k8s.GroupQuery
function GroupQuery:label(selector) end

---@param namespace string
---@return k8s.GroupQuery
function GroupQuery:namespace(namespace) end

---@param field "key"|"count"|"sum"
---@param direction? "asc"|"desc"
---@return k8s.GroupQuery
function GroupQuery:order(field, direction) end

---@param n integer
---@return k8s.GroupQuery
function GroupQuery:limit(n) end

---@return k8s.GroupRow[]
function GroupQuery:count() end

---Returns rows with a sum: a number if all summands are numbers, else a quantity.
---@param path string
---@return k8s.GroupRow[]
function GroupQuery:sum(path) end

---@return k8s.GroupRow[]
function GroupQuery:rows() end

---@return fun(): k8s.GroupRow iterator
function GroupQuery:each() end

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
