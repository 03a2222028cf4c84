-- Custom objects: what is wrong with them beyond what their schema says of values, and what a server warns of. Problems
-- are lists of a cause's type, field, detail and value, in a server's order.
local embedded = require "sim.checks.embedded"
local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local list_types = require "sim.list_types"
local values = require "sim.values"

local get, text, each = json.get, json.text, json.each

local custom = {}

-- --- the paths of a scale

local go_types = { string = "string", boolean = "bool", integer = "int64", real = "float64", array = "[]interface {}" }

-- A value as Go prints it.
local function go_text(value)
  local type, parts = json.type(value), {}
  if type == "object" then
    for i, name in ipairs(values.names(value)) do parts[i] = name .. ":" .. go_text(get(value, name)) end
    return "map[" .. table.concat(parts, " ") .. "]"
  elseif type == "array" then
    for i, element in each(value) do parts[i] = go_text(element) end
    return "[" .. table.concat(parts, " ") .. "]"
  end
  return type == "string" and value or type == "null" and "<nil>" or json.write(value)
end

-- The number or the text at a path: a server reads it whatever the schema says of the value.
local function check_scaled(problems, object, path, wanted)
  local steps, at, place, value = {}, 1, "", object
  for step in path:gsub("^%.+", ""):gmatch "[^.]*" do steps[#steps + 1] = step ~= "" and step or nil end
  while json.type(value) == "object" and steps[at] do
    value, place, at = get(value, steps[at]), place .. "." .. steps[at], at + 1
  end
  local type, rest, zero = json.type(value), steps[at], wanted == "integer" and 0 or ""
  if value == nil or (rest and type == "null") then return end
  if rest or type ~= wanted then
    problems:invalid(path, zero, string.format("%s accessor error: %s is of the type %s, expected %s",
      rest and place .. "." .. rest or place, go_text(value), go_types[type] or "map[string]interface {}",
      rest and "map[string]interface{}" or go_types[wanted]))
    return
  end
  local number = wanted == "integer" and json.number(value) or 0
  if number < 0 then
    problems:invalid(path, value, "should be a non-negative integer")
  elseif number > 2147483647 then
    problems:invalid(path, value, "should be less than or equal to 2147483647")
  end
end

local function check_scale(problems, scale, object, of_status)
  local selector = text(scale, "labelSelectorPath")
  if not of_status then check_scaled(problems, object, text(scale, "specReplicasPath"), "integer") end
  check_scaled(problems, object, text(scale, "statusReplicasPath"), "integer")
  if selector ~= "" then check_scaled(problems, object, selector, "string") end
end

function custom.problems(schema, scale, object, old, of_status)
  local problems = found.new()
  if scale then check_scale(problems, scale, object, of_status) end
  if not of_status then problems:append(embedded.problems("", object, schema)) end
  problems:append(list_types.problems(schema, object, old))
  return problems
end

-- --- warnings

-- Finalizers that are new may be without a domain, or without a name in it.
function custom.finalizers(path, list, _, _, old)
  local warnings, known = {}, {}
  for _, name in each(old) do known[name] = true end
  for _, name in each(list) do
    local function warn(detail) warnings[#warnings + 1] = string.format('%s: "%s": %s', path, name, detail) end
    local wrong = not known[name] and forms.key(name)
    if wrong then warn(wrong) end
    local standard = name == "orphan" or name == "foregroundDeletion" or name == "kubernetes"
    if not known[name] and not standard and not name:find("/", 1, true) then
      warn("prefer a domain-qualified finalizer name " .. (name:find(".", 1, true) and "including a path (/) " or "")
        .. "to avoid accidental conflicts with other finalizer writers")
    end
  end
  return warnings
end

return custom
