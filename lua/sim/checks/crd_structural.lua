-- Structural schemas of CustomResourceDefinitions: those in which each value has a type outside of allOf, anyOf, oneOf
-- and not, which may only say more of its values.
local found = require "sim.checks.found"
local json = require "sim.json"
local patterns = require "sim.checks.patterns"
local values = require "sim.values"

local at, text, get, each, count = json.at, json.text, json.get, json.each, json.count

local structural = {}

local PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
local EITHER = "x-kubernetes-int-or-string"
local EITHER_TYPES = '[{"type":"integer"},{"type":"string"}]'

local function of(schema, name)
  local value = get(schema, name)
  return json.type(value) == "object" and value or nil
end

local function is(schema, name) return get(schema, name) == true end

local function below(path, name) return path .. "." .. name end

local function property(path, name) return string.format("%s.properties[%s]", path, name) end

local function element(path, name, i) return string.format("%s.%s[%d]", path, name, i - 1) end

-- --- what a schema says of values

local forbidden = { -- in the order of Kubernetes' code; "additionalProperties" is between
  { "type", "must be empty" }, { "additionalProperties", "must be undefined" }, { "default", "must be undefined" },
  { "title", "must be empty" }, { "description", "must be empty" }, { "nullable", "must be false" },
  { PRESERVE, "must be false" }, { EMBEDDED, "must be false" }, { EITHER, "must be false" },
  { "x-kubernetes-list-map-keys", "must be empty" }, { "x-kubernetes-list-type", "must be undefined" },
  { "x-kubernetes-map-type", "must be undefined" }, { "x-kubernetes-validations", "must be empty" },
}

local check_nested

local function check_values(problems, schema, skips_any, skips_first, path)
  for i, one in each(not skips_any and get(schema, "anyOf") or nil) do
    check_nested(problems, one, false, element(path, "anyOf", i))
  end
  for i, one in each(get(schema, "allOf")) do
    check_nested(problems, one, skips_first and i == 1, element(path, "allOf", i))
  end
  for i, one in each(get(schema, "oneOf")) do check_nested(problems, one, false, element(path, "oneOf", i)) end
  if of(schema, "not") then check_nested(problems, of(schema, "not"), false, below(path, "not")) end
  local pattern = text(schema, "pattern")
  local wrong = patterns.problem(pattern)
  if wrong then
    problems:invalid(below(path, "pattern"), pattern, "must be a valid regular expression, but isn't: " .. wrong)
  end
end

function check_nested(problems, schema, skips_any, path)
  check_values(problems, schema, skips_any, false, path)
  if of(schema, "items") then check_nested(problems, of(schema, "items"), false, below(path, "items")) end
  for _, name in ipairs(values.names(of(schema, "properties"))) do
    check_nested(problems, get(get(schema, "properties"), name), false, property(path, name))
  end
  for _, row in ipairs(forbidden) do
    local value = get(schema, row[1])
    if value ~= nil and value ~= json.null and value ~= false and value ~= ""
      and not (json.type(value) == "array" and count(value) == 0) then
      problems:forbidden(below(path, row[1]), row[2] .. " to be structural")
    end
  end
  if get(of(schema, "properties"), "metadata") then
    problems:forbidden(property(path, "metadata"), "must not be specified in a nested context")
  end
end

local function is_either(schema)
  local any = at(schema, "anyOf")
  return any ~= nil and json.dump(any) == EITHER_TYPES
end

-- --- what every level must have

local missing = { root = "must not be empty at the root", item = "must not be empty for specified array items",
  field = "must not be empty for specified object fields" }

local function check_type(problems, schema, level, path)
  local type, place = text(schema, "type"), below(path, "type")
  if is(schema, EMBEDDED) and type == "" then
    problems:required(place, "must be object if x-kubernetes-embedded-resource is true")
  elseif is(schema, EMBEDDED) and type ~= "object" then
    problems:invalid(place, type, "must be object if x-kubernetes-embedded-resource is true")
  elseif type == "" and not is(schema, EITHER) and not is(schema, PRESERVE) then
    problems:required(place, missing[level])
  end
  if is(schema, EMBEDDED) and get(schema, "additionalProperties") ~= nil then
    problems:forbidden(below(path, "additionalProperties"),
      "must not be used if x-kubernetes-embedded-resource is set")
  end
  if level == "root" and type ~= "" and type ~= "object" then
    problems:invalid(place, type, "must be object at the root")
  end
end

-- Nothing but limits of the names may be said at the root.
local function says_more(metadata)
  for name, value in json.members(metadata) do
    if name == "properties" then
      for inner in json.members(value) do
        if inner ~= "name" and inner ~= "generateName" then return true end
      end
    elseif name ~= "type" and name ~= "default" then
      return true
    end
  end
end

local function check_metadata(problems, schema, level, path)
  local properties, is_resource = of(schema, "properties"), level == "root" or is(schema, EMBEDDED)
  for _, name in ipairs { "kind", "apiVersion" } do
    local own = get(properties, name)
    if is_resource and own and text(own, "type") ~= "string" then
      problems:invalid(property(path, name) .. ".type", text(own, "type"), "must be string")
    end
  end
  local metadata = get(properties, "metadata")
  if not metadata then return end
  local place = property(path, "metadata")
  if is_resource and text(metadata, "type") ~= "object" then
    problems:invalid(below(place, "type"), text(metadata, "type"), "must be object")
  end
  if level == "root" and says_more(metadata) then
    problems:forbidden(place,
      "must not specify anything other than name and generateName, but metadata is implicitly specified")
  end
end

local function check_level(problems, schema, level, path)
  local items, others = get(schema, "items"), get(schema, "additionalProperties")
  if text(schema, "type") == "array" and items == nil then
    problems:required(below(path, "items"), "must be specified")
  end
  if items then check_level(problems, items, "item", below(path, "items")) end
  for _, name in ipairs(values.names(of(schema, "properties"))) do
    check_level(problems, get(get(schema, "properties"), name), "field", property(path, name))
  end
  if others ~= nil and level == "root" then
    problems:forbidden(below(path, "additionalProperties"), "must not be used at the root")
  end
  if json.type(others) == "object" then
    check_level(problems, others, "field", below(path, "additionalProperties"))
  end
  if is(schema, EITHER) then
    for _, name in ipairs { PRESERVE, EMBEDDED } do
      if is(schema, name) then
        problems:invalid(below(path, name), true, "must be false if x-kubernetes-int-or-string is true")
      end
    end
  end
  check_values(problems, schema, is_either(schema), is_either(json.element(at(schema, "allOf"), 0)), path)
  check_type(problems, schema, level, path)
  check_metadata(problems, schema, level, path)
  if is(schema, EMBEDDED) and not is(schema, PRESERVE) and count(of(schema, "properties")) == 0 then
    problems:required(below(path, "properties"),
      "must not be empty if x-kubernetes-embedded-resource is true without " .. PRESERVE)
  end
end

-- --- what is said of a value is said of one that has a type

local complete_values

local function complete_nested(problems, schema, typed, typed_path, path)
  if not schema then return end
  if not typed then return problems:required(typed_path, "because it is defined in " .. path) end
  complete_values(problems, schema, typed, typed_path, path)
  complete_nested(problems, of(schema, "items"), of(typed, "items"), below(typed_path, "items"), below(path, "items"))
  for _, name in ipairs(values.names(of(schema, "properties"))) do
    complete_nested(problems, get(get(schema, "properties"), name), get(of(typed, "properties"), name),
      property(typed_path, name), property(path, name))
  end
end

function complete_values(problems, schema, typed, typed_path, path)
  complete_nested(problems, of(schema, "not"), typed, typed_path, below(path, "not"))
  for _, name in ipairs { "allOf", "anyOf", "oneOf" } do
    for i, one in each(get(schema, name)) do
      complete_nested(problems, one, typed, typed_path, element(path, name, i))
    end
  end
end

-- Returns what is wrong with the schema at the path, in a server's order.
function structural.problems(schema, path)
  local problems = found.new()
  check_level(problems, schema, "root", path)
  complete_values(problems, schema, schema, path, path)
  problems:sort()
  return problems
end

local unsupported = { { "id" }, { "$schema", "schema" }, { "$ref" }, { "patternProperties" }, { "dependencies" },
  { "additionalItems" }, { "definitions" } }

-- Returns what keeps a schema from being read as a structural one; nil for most.
function structural.obstacle(schema)
  if json.type(schema) ~= "object" then return end
  for _, row in ipairs(unsupported) do
    local value = get(schema, row[1])
    local empty = value == nil or value == "" or (json.type(value) == "object" and count(value) == 0)
    if not empty then return string.format("OpenAPIV3Schema '%s' is not supported", row[2] or row[1]) end
  end
  local function any(list)
    for _, one in each(list) do
      local why = structural.obstacle(one)
      if why then return why end
    end
  end
  local why = structural.obstacle(get(schema, "not")) or any(get(schema, "allOf")) or any(get(schema, "anyOf"))
    or any(get(schema, "oneOf"))
  if why then return why end
  if get(schema, PRESERVE) == false then
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  end
  if json.type(get(schema, "items")) == "array" then
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  end
  why = structural.obstacle(get(schema, "items"))
  for _, name in ipairs(values.names(of(schema, "properties"))) do
    why = why or structural.obstacle(get(get(schema, "properties"), name))
  end
  return why or structural.obstacle(get(schema, "additionalProperties"))
end

return structural
