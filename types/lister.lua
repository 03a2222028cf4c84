---@meta k8s.lister
-- luacheck: ignore 241
-- The result of informer:lister().

---Reads the cache. A result does not change when the cache does.
---@class k8s.Lister
local Lister = {}

---@param selector? string
---@return fun(): k8s.Object? iterator
function Lister:list(selector) end

---@param selector? string
---@return k8s.Object[]
function Lister:list_all(selector) end

---Returns the object of the key "namespace/name", or of the name in a lister of one namespace.
---@param key string
---@return k8s.Object?
---@return k8s.Error err nil without an error
function Lister:get(key) end

---Returns a lister of one namespace.
---@param namespace string
---@return k8s.Lister
function Lister:namespace(namespace) end

---@param selector? string
---@return integer
function Lister:count(selector) end

---Returns the objects under a value of an index, in the order in which they entered the cache. The index "namespace"
---always exists.
---@param name string
---@param value string|number|boolean|k8s.Object of an object: those that share a value with it
---@return k8s.Object[]
function Lister:by_index(name, value) end

---@param name string
---@param value string|number|boolean
---@return string[] keys sorted
function Lister:index_keys(name, value) end

---Returns the distinct values of an index, sorted.
---@param name string
---@return string[]
function Lister:index_values(name) end
