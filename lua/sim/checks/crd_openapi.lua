-- Schemas of CustomResourceDefinitions: what of OpenAPI they may use, and what Kubernetes' extensions need.
local field_paths = require "sim.checks.field_paths"
local found = require "sim.checks.found"
local json = require "sim.json"
local structural = require "sim.checks.crd_structural"
local values = require "sim.values"

local text, get, each, count = json.text, json.get, json.each, json.count

local openapi = {}

local LIST_TYPE, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-map-type"
local KEYS, PRESERVE = "x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields"

local TYPES = { "array", "boolean", "integer", "number", "object", "string" }

local function below(path, ...) return table.concat({ path, ... }, ".") end

local function property(path, name) return string.format("%s.properties[%s]", path, name) end

local function map_of(schema, name)
  local value = get(schema, name)
  return json.type(value) == "object" and value or nil
end

-- --- OpenAPI

local function check_openapi(problems, schema, path, inside)
  local type = text(schema, "type")
  if type ~= "" then problems:enum(below(path, "type"), type, TYPES) end
  local default = get(schema, "default")
  if inside.no_default and default ~= nil and default ~= json.null then
    problems:forbidden(below(path, "default"), "must not be set " .. inside.no_default)
  end
  local function refuse(name, empty)
    local value = get(schema, name)
    if value == nil or value == empty or (empty == 0 and count(value) == 0) then return end
    problems:forbidden(below(path, name), name .. " is not supported")
  end
  refuse("id", "")
  refuse "additionalItems"
  refuse("patternProperties", 0)
  refuse("definitions", 0)
  refuse("dependencies", 0)
  refuse "$ref"
  if type == "null" then
    problems:forbidden(below(path, "type"), "type cannot be set to null, use nullable as an alternative")
  end
  if count(get(schema, "items")) > 0 and json.type(get(schema, "items")) == "array" then
    problems:forbidden(below(path, "items"), "items must be a schema object and not an array")
  end
  if inside.metadata and get(schema, "x-kubernetes-embedded-resource") == true then
    problems:forbidden(below(path, "x-kubernetes-embedded-resource"), "must not be used inside of resource meta")
  end
  if get(schema, "uniqueItems") == true then
    problems:forbidden(below(path, "uniqueItems"),
      "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
  end
end

-- --- extensions for lists and maps

local function check_type_for(problems, schema, path, extension, wanted)
  local type, place = text(schema, "type"), below(path, "type")
  if get(schema, extension) == nil or type == wanted then return true end
  local detail = string.format("must be %s if %s is specified", wanted, extension)
  if type == "" then problems:required(place, detail) else problems:invalid(place, type, detail) end
end

local function check_set(problems, items, path)
  local type, list_type = text(items, "type"), get(items, LIST_TYPE)
  local detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
  if type == "array" and list_type and list_type ~= "atomic" then
    problems:invalid(below(path, "items", LIST_TYPE), list_type, detail)
  elseif type == "object" and get(items, MAP_TYPE) ~= "atomic" then
    problems:invalid(below(path, "items", MAP_TYPE), list_type or json.null, detail)
  end
end

local function check_keys(problems, schema, items, path)
  local place, seen = below(path, KEYS), {}
  for _, key in each(get(schema, KEYS)) do
    local own = get(get(items, "properties"), key)
    local type = text(own, "type")
    if not own then
      problems:invalid(place, get(schema, KEYS), "entries must all be names of item properties")
    elseif type == "array" or type == "object" then
      problems:invalid(property(below(path, "items"), key) .. ".type", text(items, "type"),
        "must be a scalar type if parent array's x-kubernetes-list-type is map")
    end
    if seen[key] then problems:invalid(place, get(schema, KEYS), "must not contain duplicate entries") end
    seen[key] = true
  end
end

local function check_map_list(problems, schema, path)
  local items = get(schema, "items")
  if count(get(schema, KEYS)) == 0 then
    problems:required(below(path, KEYS), "must not be empty if x-kubernetes-list-type is map")
  end
  if items == nil then
    problems:required(below(path, "items"), "must have a schema if x-kubernetes-list-type is map")
  elseif json.type(items) == "object" and text(items, "type") ~= "object" then
    problems:invalid(below(path, "items", "type"), text(items, "type"),
      "must be object if parent array's x-kubernetes-list-type is map")
  elseif json.type(items) == "object" then
    check_keys(problems, schema, items, path)
  end
end

local function check_nullable(problems, schema, path)
  local items, type = map_of(schema, "items"), get(schema, LIST_TYPE)
  if not items or (type ~= "set" and type ~= "map") then return end
  if get(items, "nullable") == true then
    problems:forbidden(below(path, "items", "nullable"), "cannot be nullable when x-kubernetes-list-type is " .. type)
  end
  local required = {}
  for _, name in each(get(items, "required")) do required[name] = true end
  for _, key in each(type == "map" and get(schema, KEYS) or nil) do
    local own, place = get(get(items, "properties"), key), property(below(path, "items"), key)
    if own and not required[key] and get(own, "default") == nil then
      problems:required(below(place, "default"), "this property is in x-kubernetes-list-map-keys, so it must have a "
        .. "default or be a required property")
    end
    if own and get(own, "nullable") == true then
      problems:forbidden(below(place, "nullable"),
        "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
    end
  end
end

local function check_extensions(problems, schema, path)
  if get(schema, PRESERVE) == false then
    problems:invalid(below(path, PRESERVE), false, "must be true or undefined")
  end
  check_type_for(problems, schema, path, MAP_TYPE, "object")
  local map_type, list_type, keys = get(schema, MAP_TYPE), get(schema, LIST_TYPE), count(get(schema, KEYS))
  if map_type then problems:enum(below(path, MAP_TYPE), map_type, { "atomic", "granular" }) end
  if check_type_for(problems, schema, path, LIST_TYPE, "array") and list_type == "set" and map_of(schema, "items") then
    check_set(problems, map_of(schema, "items"), path)
  end
  if list_type then problems:enum(below(path, LIST_TYPE), list_type, { "atomic", "set", "map" }) end
  if keys > 0 and not list_type then
    problems:required(below(path, LIST_TYPE), "must be map if x-kubernetes-list-map-keys is non-empty")
  elseif keys > 0 and list_type ~= "map" then
    problems:invalid(below(path, LIST_TYPE), list_type, "must be map if x-kubernetes-list-map-keys is non-empty")
  end
  if list_type == "map" then check_map_list(problems, schema, path) end
  check_nullable(problems, schema, path)
end

-- --- rules in CEL, as far as their words go

local REASONS = { "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired" }

local function is_blank(value) return not value:find "%S" end

local function check_rule_text(problems, rule, path)
  local message, expression = text(rule, "message"), text(rule, "rule")
  if is_blank(expression) then
    problems:required(below(path, "rule"), "rule is not specified")
  elseif message ~= "" and is_blank(message) then
    problems:invalid(below(path, "message"), message, "must be non-empty if specified")
  elseif message:gsub("^%s+", ""):gsub("%s+$", ""):find "[\r\n]" then
    problems:invalid(below(path, "message"), message, "must not contain line breaks")
  elseif is_blank(message) and expression:gsub("^%s+", ""):gsub("%s+$", ""):find "[\r\n]" then
    problems:required(below(path, "message"), "message must be specified if rule contains line breaks")
  end
end

local function check_rule(problems, schema, rule, path)
  local expression, reason, place = text(rule, "messageExpression"), get(rule, "reason"), text(rule, "fieldPath")
  check_rule_text(problems, rule, path)
  if expression ~= "" and is_blank(expression) then
    problems:required(below(path, "messageExpression"), "messageExpression must be non-empty if specified")
  end
  if reason then problems:enum(below(path, "reason"), reason, REASONS) end
  if place ~= "" and is_blank(place) then
    problems:invalid(below(path, "fieldPath"), place, "must be non-empty if specified")
  end
  if place:find "[\r\n]" then problems:invalid(below(path, "fieldPath"), place, "must not contain line breaks") end
  if place ~= "" and not structural.obstacle(schema) and not field_paths.follow(schema, place, true) then
    problems:invalid(below(path, "fieldPath"), place, "must be a valid path")
  end
end

-- --- all of it

local is_meta = { metadata = true, kind = true, apiVersion = true }

local check

local function check_inner(problems, schema, path, inside)
  if json.type(schema) == "object" then check(problems, schema, path, inside) end
end

local function with(inside, more)
  return { metadata = more.metadata or inside.metadata, no_default = more.no_default or inside.no_default }
end

local function check_members(problems, schema, path, inside)
  local others, properties = get(schema, "additionalProperties"), map_of(schema, "properties")
  if others ~= nil and others ~= true and count(properties) > 0 then
    problems:forbidden(below(path, "additionalProperties"),
      "additionalProperties and properties are mutual exclusive")
  end
  check_inner(problems, others, below(path, "additionalProperties"), inside.metadata
    and with(inside, { no_default = "inside additionalProperties applying to object metadata" }) or inside)
  local is_resource = inside.root or get(schema, "x-kubernetes-embedded-resource") == true
  local lower = with(inside, {})
  for _, name in ipairs(values.names(properties)) do
    local own = lower
    if is_resource and is_meta[name] then
      own = with(inside, { metadata = true, no_default = inside.root and "in top-level " .. name or nil })
    end
    check(problems, get(properties, name), property(path, name), own)
  end
end

function check(problems, schema, path, inside)
  check_openapi(problems, schema, path, inside)
  check_members(problems, schema, path, inside)
  local lower = with(inside, {})
  check_inner(problems, get(schema, "not"), below(path, "not"), lower)
  for _, name in ipairs { "allOf", "oneOf", "anyOf" } do
    for i, one in each(get(schema, name)) do
      check_inner(problems, one, string.format("%s.%s[%d]", path, name, i - 1), lower)
    end
  end
  check_inner(problems, get(schema, "items"), below(path, "items"), lower)
  check_extensions(problems, schema, path)
  for i, rule in each(get(schema, "x-kubernetes-validations")) do
    check_rule(problems, schema, rule, string.format("%s.x-kubernetes-validations[%d]", path, i - 1))
  end
end

function openapi.problems(schema, path)
  local problems = found.new()
  check(problems, schema, path, { root = true })
  return problems
end

return openapi
