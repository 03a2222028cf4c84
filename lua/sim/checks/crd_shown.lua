-- Versions and schemas of CustomResourceDefinitions as causes show them: with the names that their fields have in Go.
local json = require "sim.json"
local values = require "sim.values"

local get, each = json.get, json.each

local shown = {}

local null = json.null

-- Fields of a schema, in order: the name in Go, the name in JSON, and what a missing one is.
local SCHEMA = {
  { "ID", "id", "" }, { "Schema", "$schema", "" }, { "Ref", "$ref", null }, { "Description", "description", "" },
  { "Type", "type", "" }, { "Nullable", "nullable", false }, { "Format", "format", "" }, { "Title", "title", "" },
  { "Default", "default", null }, { "Maximum", "maximum", null }, { "ExclusiveMaximum", "exclusiveMaximum", false },
  { "Minimum", "minimum", null }, { "ExclusiveMinimum", "exclusiveMinimum", false }, { "MaxLength", "maxLength", null },
  { "MinLength", "minLength", null }, { "Pattern", "pattern", "" }, { "MaxItems", "maxItems", null },
  { "MinItems", "minItems", null }, { "UniqueItems", "uniqueItems", false }, { "MultipleOf", "multipleOf", null },
  { "Enum", "enum", null }, { "MaxProperties", "maxProperties", null }, { "MinProperties", "minProperties", null },
  { "Required", "required", null }, { "Items", "items", null }, { "AllOf", "allOf", null }, { "OneOf", "oneOf", null },
  { "AnyOf", "anyOf", null }, { "Not", "not", null }, { "Properties", "properties", null },
  { "AdditionalProperties", "additionalProperties", null }, { "PatternProperties", "patternProperties", null },
  { "Dependencies", "dependencies", null }, { "AdditionalItems", "additionalItems", null },
  { "Definitions", "definitions", null }, { "ExternalDocs", "externalDocs", null }, { "Example", "example", null },
  { "XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", null },
  { "XEmbeddedResource", "x-kubernetes-embedded-resource", false },
  { "XIntOrString", "x-kubernetes-int-or-string", false }, { "XListMapKeys", "x-kubernetes-list-map-keys", null },
  { "XListType", "x-kubernetes-list-type", null }, { "XMapType", "x-kubernetes-map-type", null },
  { "XValidations", "x-kubernetes-validations", null },
}
local RULE = { { "Rule", "rule", "" }, { "Message", "message", "" }, { "MessageExpression", "messageExpression", "" },
  { "Reason", "reason", null }, { "FieldPath", "fieldPath", "" }, { "OptionalOldSelf", "optionalOldSelf", null } }
local DOCS = { { "Description", "description", "" }, { "URL", "url", "" } }
local COLUMN = { { "Name", "name", "" }, { "Type", "type", "" }, { "Format", "format", "" },
  { "Description", "description", "" }, { "Priority", "priority", 0 }, { "JSONPath", "jsonPath", "" } }
local SCALE = { { "SpecReplicasPath", "specReplicasPath", "" }, { "StatusReplicasPath", "statusReplicasPath", "" },
  { "LabelSelectorPath", "labelSelectorPath", null } }
local SUBRESOURCES = { { "Status", "status", null }, { "Scale", "scale", null } }
local VERSION = { { "Name", "name", "" }, { "Served", "served", false }, { "Storage", "storage", false },
  { "Deprecated", "deprecated", false }, { "DeprecationWarning", "deprecationWarning", null },
  { "Schema", "schema", null }, { "Subresources", "subresources", null },
  { "AdditionalPrinterColumns", "additionalPrinterColumns", null }, { "SelectableFields", "selectableFields", null } }

local convert = {}

local function struct(fields, value)
  if json.type(value) ~= "object" then return value end
  local made = json.object()
  for _, row in ipairs(fields) do
    local own = get(value, row[2])
    if own == nil then own = row[3] elseif convert[row[1]] then own = convert[row[1]](own) end
    json.set(made, row[1], own)
  end
  return made
end

local function of(fields)
  return function(value) return struct(fields, value) end
end

local function list_of(make)
  return function(list)
    local made = {}
    for i, value in each(list) do made[i] = make(value) end
    return made
  end
end

local function map_of(make)
  return function(map)
    local made = json.object()
    for name, value in json.members(map) do json.set(made, name, make(value)) end
    return made
  end
end

function shown.schema(schema) return struct(SCHEMA, schema) end

local function either(value)
  if json.type(value) ~= "object" then return json.object("Allows", value, "Schema", null) end
  return json.object("Allows", true, "Schema", shown.schema(value))
end

convert.Items = function(value)
  if json.type(value) == "object" then return json.object("Schema", shown.schema(value), "JSONSchemas", null) end
  return json.object("Schema", null, "JSONSchemas", list_of(shown.schema)(value))
end
for _, name in ipairs { "Default", "Enum", "Example" } do convert[name] = values.sorted end
for _, name in ipairs { "AllOf", "OneOf", "AnyOf" } do convert[name] = list_of(shown.schema) end
convert.Not = shown.schema
convert.Properties, convert.PatternProperties = map_of(shown.schema), map_of(shown.schema)
convert.Definitions = map_of(shown.schema)
convert.AdditionalProperties, convert.AdditionalItems = either, either
convert.ExternalDocs, convert.XValidations = of(DOCS), list_of(of(RULE))
convert.Schema = function(value)
  if json.type(value) ~= "object" then return value end -- that of a schema is a text
  return struct({ { "OpenAPIV3Schema", "openAPIV3Schema", null } }, value)
end
convert.OpenAPIV3Schema = shown.schema
convert.Subresources, convert.Scale = of(SUBRESOURCES), of(SCALE)
convert.AdditionalPrinterColumns = list_of(of(COLUMN))
convert.SelectableFields = list_of(of { { "JSONPath", "jsonPath", "" } })

-- `hoisted`: names of members that all versions share, which stand above them.
function shown.versions(versions, hoisted)
  local bare = json.copy(versions)
  for _, version in each(bare) do
    for name in pairs(hoisted) do
      if get(version, name) ~= nil then json.remove(version, name) end
    end
  end
  return list_of(of(VERSION))(bare)
end

-- The names of the fields that are set, in order.
function shown.names(schema)
  local names = {}
  for _, row in ipairs(SCHEMA) do
    local own = get(schema, row[2])
    if own ~= nil and own ~= row[3] then names[#names + 1] = row[1] end
  end
  return names
end

return shown
