-- Defaults in schemas of CustomResourceDefinitions: they fit their schema, and say nothing that it does not name. What
-- a schema says of values is C: such problems are { "default", path, schema, value } for what does not fit, and
-- { "unknown", ... } for fields that it does not name (core/sim/object/crd.c).
local embedded = require "sim.checks.embedded"
local found = require "sim.checks.found"
local json = require "sim.json"
local values = require "sim.values"

local get = json.get

local defaults = {}

local is_meta = { metadata = true, kind = true, apiVersion = true }

-- Of the type or of metadata, within the object that it would be in: names may have dots, and a number is a list.
local function check_meta(problems, path, default, place)
  local object, value = json.object("apiVersion", "validation/v1", "kind", "Validation"), json.copy(default)
  for i = #place, 2, -1 do value = place[i] == 0 and { value } or json.object(place[i], value) end
  json.set(object, place[1], value)
  local wrong = embedded.coerce("", object, json.object(), true, problems.read)
  local all = wrong and {} or embedded.of_resource("", object)
  if not wrong and #all == 0 then return end
  problems:invalid(path, default, "must result in valid metadata: " .. (wrong and found.line(wrong) or all:lines()))
  return true
end

-- Of another value, and the resources in it.
local function check_value(problems, path, default, schema, is_resource)
  local wrong = embedded.coerce(path, default, schema, is_resource, problems.read)
  local all = wrong and { wrong } or embedded.problems(path, default, schema, is_resource)
  found.append(problems, all)
  return #all > 0
end

local function check_default(problems, schema, path, place)
  local default = values.sorted(get(schema, "default"))
  local wrong
  if place then
    wrong = check_meta(problems, path, default, place)
  else
    problems[#problems + 1] = { "unknown", path, schema, json.copy(default) }
    wrong = check_value(problems, path, default, schema, false)
  end
  if not wrong then problems[#problems + 1] = { "default", path, schema, default } end
end

local function extended(place, step)
  local result = place and { unpack(place) }
  if result then result[#result + 1] = step end
  return result
end

-- `place`: the names that lead here from the resource around it, inside of its metadata or type.
local function visit(problems, schema, path, place, is_root)
  local is_resource = is_root or get(schema, "x-kubernetes-embedded-resource") == true
  local default = get(schema, "default")
  if is_resource then place = nil end
  if default ~= nil and default ~= json.null then check_default(problems, schema, path .. ".default", place) end
  local items = get(schema, "items")
  if json.type(items) == "object" then visit(problems, items, path .. ".items", extended(place, 0)) end
  local properties = get(schema, "properties")
  for _, name in ipairs(values.names(properties)) do
    local inner = place or is_resource and is_meta[name] and {} or nil
    visit(problems, get(properties, name), string.format("%s.properties[%s]", path, name), extended(inner, name))
  end
end

-- `read` reads metadata (see embedded.lua).
function defaults.problems(schema, path, read)
  local problems = found.new()
  problems.read = read
  local default = values.sorted(get(schema, "default"))
  if default ~= nil and default ~= json.null then -- the root is a resource of its own
    problems[1] = { "unknown", path .. ".default", schema, json.copy(default) }
    if not check_value(problems, path .. ".default", default, schema, true) then
      problems[#problems + 1] = { "default", path .. ".default", schema, default }
    end
    schema = json.copy(schema)
    json.remove(schema, "default")
  end
  visit(problems, schema, path, nil, true)
  return problems
end

return defaults
