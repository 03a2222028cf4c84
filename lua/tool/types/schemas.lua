-- Classes of schemas: those of OpenAPI v3 documents, and of custom resource definitions.
local writer = require "tool.types.writer"

local schemas = {}

local function is_table(value) return type(value) == "table" end

local function identifier(name) return (name:gsub("[^%w_.]", "_")) end

-- Packages of Kubernetes' own types: their classes are called as those of the bundle.
local OWN = { "^io%.k8s%.api%.", "^io%.k8s%.apimachinery%.pkg%.apis%." }

local function kind_of(schema)
  if not is_table(schema) then return nil end
  local list = schema["x-kubernetes-group-version-kind"]
  local one = is_table(list) and #list == 1 and list[1]
  return is_table(one) and type(one.kind) == "string" and type(one.group) == "string" and one or nil
end

-- The name of the class of a schema of OpenAPI; of a custom kind as for its definition.
local function class_name(name, schema)
  for _, prefix in ipairs(OWN) do
    local rest, count = name:gsub(prefix, "")
    if count > 0 then return rest end
  end
  local kind = is_table(schema) and kind_of(schema)
  return kind and kind.group ~= "" and kind.group .. "." .. kind.version .. "." .. kind.kind or name
end

-- The names of a JSON object in their order.
local function names_of(object)
  local meta = getmetatable(object)
  return meta and meta.names or {}
end

local BASIC = { string = "string", integer = "integer", number = "number", boolean = "boolean" }

local function reference_of(schema)
  if type(schema["$ref"]) == "string" then return schema["$ref"]:match "([^/]+)$" end
  local first = is_table(schema.allOf) and schema.allOf[1]
  return is_table(first) and reference_of(first) or nil
end

local function texts_of(enum)
  local texts = {}
  for _, value in ipairs(is_table(enum) and enum or {}) do
    if type(value) == "string" and value ~= "" then texts[#texts + 1] = value end
  end
  return #texts > 0 and texts or nil
end

local add_class

local type_of

-- The class of a schema of the document, or the type of one that is no object: a time, a quantity.
local function type_of_reference(out, reference)
  local schema = out.schemas and out.schemas[reference]
  if is_table(schema) and not is_table(schema.properties) then return type_of(out, reference, schema) end
  return identifier(out.renamed and out.renamed[reference] or reference)
end

function type_of(out, name, schema)
  if not is_table(schema) then return "any" end
  local reference = reference_of(schema)
  if reference then return type_of_reference(out, reference) end
  if schema["x-kubernetes-int-or-string"] == true or schema.format == "int-or-string" then return "integer|string" end
  if schema.type == "array" then return writer.list_of(type_of(out, name, schema.items)) end
  if is_table(schema.properties) then
    add_class(out, name, schema)
    return identifier(name)
  end
  local values_of = schema.additionalProperties
  if is_table(values_of) then return writer.map_of(type_of(out, name, values_of)) end
  if schema.type == "object" then return "table<string, any>" end
  local values = schema.type == "string" and texts_of(schema.enum)
  return values and writer.values(values) or BASIC[schema.type] or "any"
end

-- A class of an object's schema, and of those inside it: "name.field".
function add_class(out, name, schema, parent)
  local class = out:class(identifier(name), parent, is_table(schema) and schema.description or nil)
  if not class or not is_table(schema) or not is_table(schema.properties) then return class end
  for _, field in ipairs(names_of(schema.properties)) do
    local inner = schema.properties[field]
    writer.add_field(class, field, type_of(out, name .. "." .. field, inner), is_table(inner) and inner.description)
  end
  return class
end

-- --- OpenAPI v3

-- Adds the kinds of a document that `is_wanted` accepts, and all schemas that they refer to.
function schemas.add_document(out, document, is_wanted)
  local all = is_table(document.components) and document.components.schemas
  if not is_table(all) then return end
  local wanted = {}
  local function want(schema)
    if not is_table(schema) then return end
    local reference = reference_of(schema)
    if reference and not wanted[reference] then
      wanted[reference] = true
      want(all[reference])
    end
    for _, one in pairs(schema) do want(one) end
  end
  for name, schema in pairs(all) do
    local kind = kind_of(schema)
    if kind and is_table(schema.properties) and schema.properties.metadata and is_wanted(kind) then
      wanted[name] = true
      want(schema)
    end
  end
  out.schemas, out.renamed = all, {}
  for name, schema in pairs(all) do out.renamed[name] = class_name(name, schema) end
  for _, name in ipairs(names_of(all)) do
    local schema = wanted[name] and all[name]
    if is_table(schema) and is_table(schema.properties) then
      add_class(out, out.renamed[name], schema, kind_of(schema) and "k8s.Object" or nil)
    end
  end
end

-- --- custom resource definitions

-- The spec of a definition with a group, names and versions; nil of another.
function schemas.spec_of(definition)
  local spec = is_table(definition) and definition.spec
  if not is_table(spec) or not is_table(spec.names) or not is_table(spec.versions) then return nil end
  for _, text in ipairs { spec.group or 0, spec.names.kind or 0, spec.names.plural or 0 } do
    if type(text) ~= "string" then return nil end
  end
  return spec
end

-- Adds the versions that are served.
function schemas.add_definition(out, definition, is_wanted)
  local spec = schemas.spec_of(definition)
  for _, version in ipairs(spec and spec.versions or {}) do
    local schema = is_table(version) and is_table(version.schema) and version.schema.openAPIV3Schema
    local kind = { group = spec.group, kind = spec.names.kind, plural = spec.names.plural }
    if is_table(schema) and version.served == true and type(version.name) == "string" and is_wanted(kind) then
      add_class(out, spec.group .. "." .. version.name .. "." .. spec.names.kind, schema, "k8s.Object")
    end
  end
end

return schemas
