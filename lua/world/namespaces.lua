-- Namespaces on their way out say what is left in them. (The server removes their content, with and without a world.)
local api = require "world.api"
local cache = require "world.cache"
local pods = require "world.pods"
local queue = require "world.queue"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "namespaces"

local controller = { name = ID }
local ending = {} -- names of namespaces that were deleted

-- How many objects of each resource there are, and how many with each finalizer; texts, sorted.
local function rest_of(name)
  local resources, finalizers = {}, {}
  for _, resource in values.sorted(cache.resources) do
    local objects = resource.namespaced and resource.id ~= "events" and cache.list(resource.id, name) or {}
    if #objects > 0 then
      resources[#resources + 1] = ("%s.%s has %d resource instances"):format(resource.plural, resource.group, #objects)
    end
    for _, object in ipairs(objects) do
      for _, finalizer in ipairs(object.metadata.finalizers or {}) do
        finalizers[finalizer] = (finalizers[finalizer] or 0) + 1
      end
    end
  end
  local texts = {}
  for finalizer, count in values.sorted(finalizers) do
    texts[#texts + 1] = ("%s in %d resource instances"):format(finalizer, count)
  end
  table.sort(resources)
  return resources, texts
end

-- Type, the words when all is well, and those when something is left.
local types = {
  { "DeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered" },
  { "DeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed" },
  { "DeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization" },
  { "ContentRemaining", "ContentRemoved", "All content successfully removed", "SomeResourcesRemain",
    "Some resources are remaining: " },
  { "FinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
    "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: " },
}

function controller.sync(name)
  local namespace = cache.get(ID, name)
  if not namespace then return end
  local resources, finalizers = rest_of(name)
  if #resources == 0 then return end
  local left = { ContentRemaining = resources, FinalizersRemaining = finalizers }
  local conditions = (namespace.status or {}).conditions
  for _, type in ipairs(types) do
    local texts = left[type[1]] or {}
    local some = #texts > 0
    conditions = pods.set_condition(conditions, {
      type = "Namespace" .. type[1], status = some and "True" or "False", reason = some and type[4] or type[2],
      message = some and type[5] .. table.concat(texts, ", ") or type[3],
    })
  end
  api.status(AGENT, ID, namespace, values.merged(namespace.status, { conditions = conditions }))
end

cache.on(ID, function(new, _, key)
  ending[key] = new and new.metadata.deletionTimestamp and true or nil
  if ending[key] then queue.add_soon(controller, key) end
end)

cache.also("*", function(new, old)
  local object = new or old
  local namespace = object and object.metadata.namespace
  if namespace and ending[namespace] then queue.add_soon(controller, namespace) end
end)

return { controller }
