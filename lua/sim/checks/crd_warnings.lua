-- Warnings of a CustomResourceDefinition that is taken: formats that nobody checks, and rules in CEL, which the
-- simulator does not evaluate.
local formats = require "sim.checks.formats"
local json = require "sim.json"

local get, text, each = json.get, json.text, json.each

local warnings = {}

local function is_known(type, format)
  if type == "" or type == "string" then return formats.is_known(format) end
  if type == "integer" then return format == "int32" or format == "int64" end
  return type == "number" and (format == "float" or format == "double")
end

local inner = { "items", "allOf", "anyOf", "oneOf", "not", "properties", "additionalProperties" }

-- Calls the function with each schema of a version.
local function visit(schema, see)
  local type = json.type(schema)
  if type == "array" then
    for _, one in each(schema) do visit(one, see) end
  elseif type == "object" then
    see(schema)
    for _, name in ipairs(inner) do
      local below = get(schema, name)
      if name ~= "properties" then
        visit(below, see)
      elseif json.type(below) == "object" then
        for _, one in json.members(below) do visit(one, see) end
      end
    end
  end
end

local function unknown_formats(versions)
  local names, ruled = {}, false
  for _, version in each(versions) do
    visit(json.at(version, "schema.openAPIV3Schema"), function(schema)
      local format = text(schema, "format")
      if format ~= "" and not is_known(text(schema, "type"), format) and not names[format] then
        names[format], names[#names + 1] = true, format
      end
      ruled = ruled or json.count(get(schema, "x-kubernetes-validations")) > 0
    end)
  end
  return names, ruled
end

function warnings.all(_, versions, _, _, old)
  local list, before = {}, unknown_formats(old)
  local names, ruled = unknown_formats(versions)
  for _, name in ipairs(names) do
    if not before[name] then list[#list + 1] = string.format('unrecognized format "%s"', name) end
  end
  if ruled then
    list[#list + 1] = "kubelua sim does not evaluate x-kubernetes-validations: objects are not held to these rules"
  end
  return list
end

return warnings
