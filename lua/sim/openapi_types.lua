-- Types of the schema bundle as OpenAPI v3 has them. `types.source` gives a type by its name, as a map that
-- api/openapi.c makes.
local json = require "sim.json"
local marks = require "sim.openapi_marks"

local at, text, object, each, set = json.at, json.text, json.object, json.each, json.set

local types = {}

local META = "io.k8s.apimachinery.pkg.apis.meta.v1."
local APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

local function typed(type, format) return object("type", type, "format", format) end
local function any() return object() end
local function one_of(format, type)
  return object("format", format, "oneOf", { typed(type or "string"), typed(type and "string" or "number") })
end

-- Types that are no struct of the bundle: their names, and what gives their schemas.
local scalars = {
  quantity = { "io.k8s.apimachinery.pkg.api.resource.Quantity", one_of },
  intstr = { "io.k8s.apimachinery.pkg.util.intstr.IntOrString", one_of, "int-or-string", "integer" },
  time = { META .. "Time", typed, "string", "date-time" },
  microtime = { META .. "MicroTime", typed, "string", "date-time" },
  duration = { META .. "Duration", typed, "string" },
  raw = { "io.k8s.apimachinery.pkg.runtime.RawExtension", typed, "object" },
  json = { APIEXTENSIONS .. "JSON", any },
  schemaorbool = { APIEXTENSIONS .. "JSONSchemaPropsOrBool", any },
  schemaorarray = { APIEXTENSIONS .. "JSONSchemaPropsOrArray", any },
  schemaorstrings = { APIEXTENSIONS .. "JSONSchemaPropsOrStringArray", any },
}
-- JSON of another package: who owns which fields.
local fields_v1 = { META .. "FieldsV1", typed, "object" }

-- Forms of JSON's own.
local plains = {
  string = { "string" }, bool = { "boolean" }, int32 = { "integer", "int32" }, int64 = { "integer", "int64" },
  double = { "number", "double" }, bytes = { "string", "byte" },
}

-- Packages that lie elsewhere than in io.k8s.api.
local elsewhere = {
  meta = "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration = "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}

-- "core/v1.PodSpec" is io.k8s.api.core.v1.PodSpec.
local function name_of(type)
  local package, rest = type:match "^(.-)/(.*)$"
  return string.format("%s.%s", elsewhere[package] or "io.k8s.api." .. package, rest)
end

types.name_of = name_of

-- {"$ref": "#/components/schemas/NAME"}
function types.ref(name) return object("$ref", "#/components/schemas/" .. name) end

local function named(schemas, scalar)
  local name, make, first, second = unpack(scalar, 1, 4)
  if not json.get(schemas, name) then set(schemas, name, make(first, second)) end
  return types.ref(name)
end

-- The schema of one value of a field, without what is said of the field.
local function value_of(schemas, field)
  local form = text(field, "form")
  if plains[form] then return typed(plains[form][1], plains[form][2]) end
  if scalars[form] then return named(schemas, text(field, "name") == "fieldsV1" and fields_v1 or scalars[form]) end
  local type = text(field, "type")
  return type ~= "" and types.ref(types.add(schemas, type)) or object() -- any JSON, or one of a CRD's choices
end

-- The value of a field, or an element, that is not said; nil for what has none.
local zeros = {
  string = function() return "" end,
  bool = function() return false end,
  int32 = function() return json.integer(0) end,
  int64 = function() return json.integer(0) end,
  object = function() return object() end,
}

local function list_of(value) return object("type", "array", "items", value) end
local function map_of(value) return object("type", "object", "additionalProperties", value) end

local holders = {
  one = function(value) return value end,
  list = list_of,
  namedlist = list_of,
  map = map_of,
  mapoflists = function(value) return map_of(list_of(value)) end,
}

local list_types = { atomic = "atomic", set = "set", map = "map" }
local map_types = { atomic = "atomic", granular = "granular" }

local function set_merge(property, field)
  local holder = text(field, "holder")
  -- Bytes are a list, in Go.
  local is_list = holder == "list" or holder == "namedlist" or text(field, "form") == "bytes"
  local type, keys = (is_list and list_types or map_types)[text(field, "merge")], at(field, "listKeys")
  set(property, is_list and "x-kubernetes-list-type" or "x-kubernetes-map-type", type)
  set(property, "x-kubernetes-list-map-keys", json.count(keys) > 0 and keys or nil)
  local merges, retains = at(field, "patchMerges"), at(field, "retainsKeys")
  set(property, "x-kubernetes-patch-strategy", merges and retains and "merge,retainKeys" or merges and "merge"
    or retains and "retainKeys" or at(field, "patchReplaces") and "replace" or nil)
  set(property, "x-kubernetes-patch-merge-key", at(field, "mergeKey"))
end

-- A reference stands alone: what is said beside it needs an allOf around it.
local function with(value, key, more)
  if more == nil then return value end
  if json.get(value, "$ref") then value = object("allOf", { value }) end
  set(value, key, more)
  return value
end

local function zero_of(field) return zeros[text(field, "form")] and zeros[text(field, "form")]() end

-- The value of an element is never nothing, unless it is a list itself.
local function held_of(schemas, field)
  local value, holder = value_of(schemas, field), text(field, "holder")
  if holder ~= "one" and not at(field, "optional") then value = with(value, "default", zero_of(field)) end
  return holders[holder](value)
end

-- `type` is the name of the type that has the field, without its package.
local function property_of(schemas, type, field)
  local property = held_of(schemas, field)
  local value = (marks.defaults[type] or {})[text(field, "name")]
  if value == nil and at(field, "always") and text(field, "holder") == "one" then value = zero_of(field) end
  property = with(with(property, "default", value), "description", at(field, "description"))
  local enums = at(field, "enums")
  local holder = at(property, "items") or at(property, "additionalProperties") or property
  set(holder, "enum", marks.enums[text(field, "name")] or json.count(enums) > 0 and enums or nil)
  set_merge(property, field)
  return property
end

local function add_fields(schemas, name, type, properties, required)
  for _, field in each(at(type, "fields")) do
    local key, inlined = text(field, "name"), at(field, "type")
    if key ~= "" then
      set(properties, key, property_of(schemas, name:match "[^.]+$", field))
      if at(field, "required") then required[#required + 1] = key end
    elseif inlined then
      add_fields(schemas, inlined, types.source(inlined), properties, required)
    end
  end
end

-- Subjects are of two groups, and only one of them is a union.
local function union_of(type)
  local union = marks.unions[type:match "[^.]+$"]
  if not union or type:find "^rbac" then return nil end
  local others = object()
  for name, value in pairs(union) do
    if name ~= 1 then set(others, name, value) end
  end
  return { object("discriminator", union[1] ~= "" and union[1] or nil, "fields-to-discriminateBy", others) }
end

-- Adds the schema of a type, and of all types in it, to `schemas`; returns its name, "" if there is none. A type is
-- added before its fields: some contain themselves.
function types.add(schemas, type)
  local name = name_of(type)
  if json.get(schemas, name) then return name end
  local source = types.source(type)
  if not source then return "" end
  local schema, properties, required = object("type", "object"), object(), {}
  set(schemas, name, schema)
  set(schema, "description", at(source, "description"))
  add_fields(schemas, type, source, properties, required)
  set(schema, "properties", json.count(properties) > 0 and properties or nil)
  set(schema, "required", #required > 0 and required or nil)
  set(schema, "x-kubernetes-unions", union_of(type))
  set(schema, "x-kubernetes-map-type", at(source, "atomic") and "atomic" or nil)
  return name
end

return types
