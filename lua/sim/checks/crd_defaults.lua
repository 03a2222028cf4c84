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

-- Of the type or of metadata, within the object that it would be in.
local function check_meta(problems, path, default, place)
  local object = json.object("apiVersion", "validation/v1", "kind", "Validation")
  values.set_at(object, table.concat(place, "."), json.copy(default))
  local wrong = embedded.of_resource("", object)
  if #wrong > 0 then
    problems:invalid(path, default, "must result in valid metadata: " .. wrong:lines())
    return true
  end
end

local function check_default(problems, schema, path, place)
  local default = values.sorted(get(schema, "default"))
  local wrong
  if place then
    wrong = check_meta(problems, path, default, place)
  else
    problems[#problems + 1] = { "unknown", path, schema, default }
    local own = embedded.problems(path, default, schema)
    problems:append(own)
    wrong = #own > 0
  end
  if not wrong then problems[#problems + 1] = { "default", path, schema, default } end
end

-- `place`: the names that lead here from the resource around it, inside of its metadata or type.
local function visit(problems, schema, path, place, is_root)
  local is_resource = is_root or get(schema, "x-kubernetes-embedded-resource") == true
  local default = get(schema, "default")
  if is_resource then place = nil end
  if default ~= nil and default ~= json.null then check_default(problems, schema, path .. ".default", place) end
  local items = get(schema, "items")
  if json.type(items) == "object" then visit(problems, items, path .. ".items", place) end
  local properties = get(schema, "properties")
  for _, name in ipairs(values.names(properties)) do
    local inner = place and { unpack(place) } or is_resource and is_meta[name] and {} or nil
    if inner then inner[#inner + 1] = name end
    visit(problems, get(properties, name), string.format("%s.properties[%s]", path, name), inner)
  end
end

function defaults.problems(schema, path)
  local problems = found.new()
  local default = values.sorted(get(schema, "default"))
  if default ~= nil and default ~= json.null then -- the root is a resource of its own
    problems[1] = { "unknown", path .. ".default", schema, default }
    local own = embedded.of_resource(path .. ".default", default)
    problems:append(own)
    if #own == 0 then problems[2] = { "default", path .. ".default", schema, default } end
    schema = json.copy(schema)
    json.remove(schema, "default")
  end
  visit(problems, schema, path, nil, true)
  return problems
end

return defaults
