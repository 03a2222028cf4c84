-- Objects of --load may be parts of objects, which no API server would have: controllers leave those alone that lack
-- what they need.
local cache = require "world.cache"
local raw = require "world.raw"

local complete = {}

-- By the name of a controller: the resource, unless that is its name, and the fields that it needs.
local SELECTS = { "spec.selector", "spec.template" }
local needs = {
  ["deployments.apps"] = SELECTS, ["replicasets.apps"] = SELECTS, ["statefulsets.apps"] = SELECTS,
  ["daemonsets.apps"] = SELECTS, replicationcontrollers = { "spec.template" }, ["jobs.batch"] = { "spec.template" },
  ["cronjobs.batch"] = { "spec.jobTemplate", "spec.schedule" },
  ["horizontalpodautoscalers.autoscaling"] = { "spec.scaleTargetRef" },
  volumes = { of = "persistentvolumeclaims", "spec.resources.requests" },
}

local told = {}

-- Whether the controller can look at the object of the key, which may be gone; if not, a line says so once.
function complete.is_ready(name, key)
  local fields = needs[name]
  local object = fields and cache.resources[fields.of or name] and cache.get(fields.of or name, key)
  if not object then return true end
  for _, path in ipairs(fields) do
    local value = object
    for part in path:gmatch "[^.]+" do value = type(value) == "table" and value[part] or nil end
    if value == nil then
      local place = name .. " " .. key
      if not told[place] then raw.warn(("%s: it has no %s, so it is left alone"):format(place, path)) end
      told[place] = true
      return false
    end
  end
  return true
end

return complete
