-- Copies ConfigMaps and Secrets that have the annotation `recipes/replicate-to` ("all", or namespaces with commas) into
-- those namespaces, keeps the copies up to date, and removes them with their source or when they are no longer wanted.
--   kubelua run -f scripts/replicate.lua
local k8s = require "k8s"

k8s.reads { "configmaps:get", "secrets:get" }
k8s.writes { "configmaps:create", "configmaps:patch", "configmaps:delete" }
k8s.writes { "secrets:create", "secrets:patch", "secrets:delete" }

local TO, FROM = "recipes/replicate-to", "recipes/replicated-from"

local namespaces = k8s.informer "namespaces"

-- Of a source the namespaces in which a copy belongs.
local function targets(source)
  local wanted, to = {}, source and source:annotation(TO) or ""
  for namespace in namespaces:lister():list() do
    local name = namespace:name()
    local listed = to == "all" or ("," .. to:gsub("%s", "") .. ","):find("," .. name .. ",", 1, true)
    if listed and name ~= source:namespace() and namespace.status.phase ~= "Terminating" then wanted[name] = true end
  end
  return wanted
end

-- Keys that the source has no more go from what is there.
local function copy_of(source, kind, namespace, there)
  local object = source:copy()
  for _, field in ipairs { "data", "binaryData" } do
    for key in pairs(there and there[field] or {}) do
      object[field] = object[field] or {}
      object[field][key] = object[field][key] or k8s.null
    end
  end
  object.kind = kind
  object.metadata = { namespace = namespace, name = source:name(), annotations = { [FROM] = source:key() } }
  return object
end

local function replicate(plural, kind)
  local objects = k8s.informer(plural)
  objects:add_index("copies", "metadata.annotations['" .. FROM .. "']")
  local queue = k8s.queue { name = plural }

  local function enqueue(object) queue:add(object:annotation(FROM) or object:key()) end

  objects:add_event_handler { OnAdd = enqueue, OnDelete = enqueue, OnUpdate = function(old, new)
    enqueue(old)
    enqueue(new)
  end }
  namespaces:on_add(function()
    for object in objects:lister():list() do
      if object:annotation(TO) then enqueue(object) end
    end
  end)

  queue:run(function(key)
    local source = objects:lister():get(key)
    local wanted = targets(source)
    for _, copy in ipairs(objects:lister():by_index("copies", key)) do
      if not wanted[copy:namespace()] then
        local deleted, err = k8s.delete(copy)
        if not deleted and err.reason ~= "NotFound" then return nil, err end
      end
    end
    for namespace in pairs(wanted) do
      local there = objects:lister():get(namespace .. "/" .. source:name())
      if there and there:annotation(FROM) ~= key then
        k8s.log.warn("Not replicated: an object of this name is there", { source = key, namespace = namespace })
      else
        local copy, err = k8s.ensure(copy_of(source, kind, namespace, there))
        if not copy then return nil, err end
      end
    end
  end)
end

replicate("configmaps", "ConfigMap")
replicate("secrets", "Secret")
