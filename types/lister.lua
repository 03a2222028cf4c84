---@meta k8s.lister
-- luacheck: ignore 241
-- What informer:lister() gives.

---Reads the cache. A result does not change when the cache does.
---@class k8s.Lister
local Lister = {}

---@param selector? string
---@return fun(): k8s.Object? iterator
function Lister:list(selector) end

---@param selector? string
---@return k8s.Object[]
function Lister:list_all(selector) end

---By "namespace/name", or by the name alone in a lister of one namespace.
---@param key string
---@return k8s.Object?
---@return k8s.Error?
function Lister:get(key) end

---The same cache, one namespace of it.
---@param namespace string
---@return k8s.Lister
function Lister:namespace(namespace) end

---@param selector? string
---@return integer
function Lister:count(selector) end

---The objects under a value of an index, in the order in which they became known. "namespace" is always one.
---@param name string
---@param value string|number|boolean|k8s.Object of a whole object: what shares a value with it
---@return k8s.Object[]
function Lister:by_index(name, value) end

---@param name string
---@param value string|number|boolean
---@return string[] keys sorted
function Lister:index_keys(name, value) end

---The values of an index, sorted, each once.
---@param name string
---@return string[]
function Lister:index_values(name) end
