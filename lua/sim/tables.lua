-- Rows and columns of Tables. A column is a map as in the additionalPrinterColumns of a CRD; those of kinds.json have
-- a `cell` besides, the name of a function. `jsonPath` may be a list there, of which the first path that leads to a
-- text counts; `otherwise` is shown where there is nothing; `field`, `template` and `max` are for some functions; and
-- the type is "string" where none is given.
local cells = require "sim.cells"
local json = require "sim.json"

local text, object = json.text, json.object

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

-- `stored` is the object in the version that the columns are about.
function tables.row(columns, stored, graceful, now)
  local shown, known = {}, {}
  for i, column in json.each(columns) do shown[i] = cells.of(stored, column, now, known) end
  return { shown, graceful and conditions_of(stored) or json.null }
end

return tables
