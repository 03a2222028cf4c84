-- Rows and columns of Tables. A column is a map as in the additionalPrinterColumns of a CRD; those of kinds.json have
-- a `cell` besides, the name of a function. `jsonPath` may be a list there, of which the first path that leads to a
-- text counts; `otherwise` is shown where there is nothing; `field`, `template` and `max` are for some functions; and
-- the type is "string" where none is given.
local cells = require "sim.cells"
local json = require "sim.json"

local at, text, object = json.at, json.text, json.object

local tables = {}

local function definition(column)
  local kind, description = text(column, "type"), text(column, "description")
  if description == "" and text(column, "cell") == "" then
    description = "Custom resource definition column (in JSONPath format): " .. text(column, "jsonPath")
  end
  return object("name", text(column, "name"), "type", kind ~= "" and kind or "string", "format", text(column, "format"),
    "description", description, "priority", json.int(column, "priority", 0))
end

function tables.definitions(columns)
  local all = {}
  for i, column in json.each(columns) do all[i] = definition(column) end
  return all
end

local endings = { Succeeded = "The pod has completed successfully.", Failed = "The pod failed." }

-- Of a pod that ran to its end; nil for one that did not.
local function conditions_of(pod)
  local phase = text(pod, "status.phase")
  local message = endings[phase]
  return message
    and { object("type", "Completed", "status", "True", "reason", phase, "message", message) }
end

-- The bookmark that ends the initial events keeps its annotation in every form.
local function ends_initial_events(value)
  return json.get(at(value, "metadata.annotations"), "k8s.io/initial-events-end") ~= nil
end

local GENERATION = "deprecated.daemonset.template.generation"

-- Without the annotation that conversion to a version adds to a DaemonSet.
local function metadata_of(value, kind)
  local metadata = at(value, "metadata") or object()
  local annotations = kind == "DaemonSet" and at(metadata, "annotations") or nil
  if not annotations or json.get(annotations, GENERATION) == nil then return metadata end
  metadata = json.copy(metadata)
  json.remove(at(metadata, "annotations"), GENERATION)
  if json.count(at(metadata, "annotations")) == 0 then json.remove(metadata, "annotations") end
  return metadata
end

-- PartialObjectMetadata, the object with kind and apiVersion first, which items of a list lack, or null.
local function included(value, include, kind, api_version)
  if include == "None" and not ends_initial_events(value) then return json.null end
  if include ~= "Object" then
    return object("kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1", "metadata",
      metadata_of(value, kind))
  end
  local whole = object("kind", kind, "apiVersion", api_version)
  for name, member in json.members(value) do json.set(whole, name, member) end
  return whole
end

-- `stored` is the object in the version that the columns are about.
function tables.row(columns, value, stored, include, kind, api_version, graceful, now)
  local shown = {}
  for i, column in json.each(columns) do shown[i] = cells.of(stored, column, now) end
  return object("cells", shown, "conditions", graceful and conditions_of(value) or nil, "object",
    included(value, include, kind, api_version))
end

return tables
