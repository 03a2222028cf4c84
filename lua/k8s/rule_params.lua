-- Parameters of a rule for operators: `params = { restarts = 5, registries = { "ghcr.io" }, strict = false }`, names
-- with their defaults.
local raw = ...

local freeze = require("k8s.frozen").freeze

local params = {}

local MAX, NAME_MAX = 50, 56
local SCALARS = { boolean = true, number = true, string = true }
local EXPECTED = "must be a boolean, a number, a string, or an array of one of these, not "

local function check_name(where, name)
  if type(name) ~= "string" or #name > NAME_MAX or not string.find(name, "^[%a_][%w_]*$") then
    local expected = ": up to " .. NAME_MAX .. " letters, digits and '_'"
    raw.raise(where .. ': "' .. tostring(name) .. '" is not a parameter name' .. expected)
  end
end

local function check_array(where, array)
  local count = 0
  for _ in pairs(array) do
    count = count + 1
  end
  if count ~= #array then
    raw.raise(where .. " " .. EXPECTED .. "a table with other keys than 1 to " .. #array)
  end
  for i, value in ipairs(array) do
    if not SCALARS[type(value)] then
      raw.raise(where .. " " .. EXPECTED .. "an array with a " .. type(value))
    elseif type(value) ~= type(array[1]) then
      raw.raise(where .. " has a " .. type(array[1]) .. " and, as number " .. i .. ", a " .. type(value))
    end
  end
end

local function check_default(where, value)
  if type(value) == "table" then
    check_array(where, value)
  elseif not SCALARS[type(value)] then
    raw.raise(where .. " " .. EXPECTED .. type(value))
  end
end

local function sorted_names(where, declared)
  local names = {}
  for name in pairs(declared) do
    check_name(where, name)
    names[#names + 1] = name
  end
  if #names > MAX then
    raw.raise(where .. ": a rule has at most " .. MAX)
  end
  table.sort(names)
  return names
end

-- A copy that JSON has as an array, also when it is empty.
local function array_of(default)
  local array = raw.json.array()
  for i, value in ipairs(default) do
    array[i] = value
  end
  return array
end

-- A name that was not declared is a mistake, and would read as nil.
local function unknown(content, name)
  if next(content) == nil then
    raw.raise("params: the rule declares no parameters, found " .. tostring(name))
  end
  require "k8s.unknown"("params", name, content, "parameter")
end

-- The table `params` as the functions of the rule get it; and name, default and value of each as texts, one behind
-- the other.
function params.all(where, id, declared)
  local values, texts = {}, {}
  for _, name in ipairs(sorted_names(where, declared)) do
    local default = declared[name]
    check_default(where .. ": " .. name, default)
    local value, fallback, current = raw.rule.param(id, name, type(default) == "table" and array_of(default) or default)
    values[name] = value
    for _, text in ipairs { name, fallback, current } do
      texts[#texts + 1] = text
    end
  end
  return freeze("params", setmetatable(values, { __index = unknown })), texts
end

return params
