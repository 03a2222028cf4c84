---@meta k8s.object
-- luacheck: ignore 241
-- Functions for any view: docs/lua-api.md, "Objects".

---@class k8s
---@field object k8s.object
local k8s = {}

---The methods of objects, as functions for any view.
---@class k8s.object
local object = {}

---@param value any
---@return boolean
function object.is_view(value) end

---@param view k8s.View
---@param path string
---@return any
function object.get(view, path) end

---@param view k8s.View
---@return string
function object.key(view) end

---@param view k8s.View
---@return string
function object.name(view) end

---@param view k8s.View
---@return string
function object.namespace(view) end

---@param view k8s.View
---@return string?
function object.uid(view) end

---@param view k8s.View
---@return string?
function object.resource_version(view) end

---@param view k8s.View
---@param key string
---@return string?
function object.label(view, key) end

---@param view k8s.View
---@param key string
---@return string?
function object.annotation(view, key) end

---@param view k8s.View
---@return table
function object.copy(view) end

---@param view k8s.View
---@return string
function object.json(view) end

---@param view k8s.View
---@param other k8s.View
---@return k8s.Difference[]
function object.diff(view, other) end

---@param view k8s.View
---@param type string
---@return k8s.View?
function object.condition(view, type) end

---@param view k8s.View
---@return number? seconds
function object.age(view) end

return k8s
