-- Other objects that a rule reads: `uses = { svc = { kind = "services", index = "namespace" } }` makes
-- use.svc("shop") the services of that namespace.
local raw = ...

local claims = require "k8s.rule_claims"
local freeze = require("k8s.frozen").freeze
local options = require "k8s.options"

local use = {}

local KNOWN = { kind = "string", index = "path or function" }

local MAX = 50

-- Who keeps results has to know what they depend on: each look is told before it is taken, with the number of the use.
local depends_on = raw.rule.depends_on

local function by_key(lister, name, number)
  return function(key)
    if type(key) ~= "string" then
      raw.raise("use." .. name .. ": the key must be a string, not " .. type(key))
    end
    depends_on(number, key)
    local object = lister:get(key)
    return object and { object } or {}
  end
end

local SCALARS = { string = true, number = true, boolean = true }

local function by_index(lister, name, index, number)
  return function(value)
    if not SCALARS[type(value)] then
      raw.raise("use." .. name .. ": the value must be a string, a number or a boolean, not " .. type(value))
    end
    depends_on(number, value)
    return lister:by_index(index, value)
  end
end

local function all_of(lister, number)
  return function()
    depends_on(number)
    return lister:list_all()
  end
end

local BUILT_IN = { namespace = true, key = true }

-- A path of one name is a field that few objects have: one that is near a built-in index is a slip, and finds nothing.
local function check_index(where, index)
  if type(index) ~= "string" or BUILT_IN[index] or string.find(index, "[.%[]") then
    return
  end
  local near = require("k8s.nearest").find(index, BUILT_IN)
  if near then
    raw.raise(where .. ': index: objects have no field "' .. index .. '", did you mean "' .. near .. '"?')
  end
end

-- The function, the informer and the name of the index. One by a path is shared, one by a function is the rule's.
local function finder(where, id, use_name, given, number)
  local own = options.check(where, given, KNOWN)
  if not own.kind then
    raw.raise(where .. ": kind is missing")
  end
  check_index(where, own.index)
  local claimed = claims.of("uses", own.kind)
  local lister = claimed:lister()
  if own.index == nil then
    return all_of(lister, number), claimed, ""
  elseif own.index == "key" then
    return by_key(lister, use_name, number), claimed, "key"
  elseif own.index == "namespace" then
    return by_index(lister, use_name, "namespace", number), claimed, "namespace"
  end
  local name = type(own.index) == "string" and own.index or "function " .. id .. "/" .. use_name
  claims.index(claimed, name, own.index)
  return by_index(lister, use_name, name, number), claimed, name
end

local function sorted_names(where, uses)
  local names = {}
  for name, given in pairs(uses) do
    if type(name) ~= "string" or type(given) ~= "table" then
      raw.raise(where .. ': uses must be { name = { kind = "...", index = "..." } }')
    end
    names[#names + 1] = name
  end
  if #names > MAX then
    raw.raise(where .. ": uses: a rule has at most " .. MAX)
  end
  table.sort(names)
  return names
end

-- A name that is none of `uses` is a mistake: it would be told as a nil that was called.
local function unknown(content, name)
  if next(content) == nil then
    raw.raise("use: the rule declares no uses, found " .. tostring(name))
  end
  require "k8s.unknown"("use", name, content, "name")
end

-- The table `use`: a function for each that gives an array of objects. `index` is "namespace", "key", a path or a
-- function (obj, emit); without one the function gives all. And name, informer and name of the index of each, one
-- behind the other.
function use.all(where, id, uses)
  local functions, used = {}, {}
  for number, name in ipairs(sorted_names(where, uses)) do
    local find, claimed, index = finder(where .. ": uses: " .. name, id, name, uses[name], number)
    functions[name] = find
    used[#used + 1], used[#used + 2], used[#used + 3] = name, claimed, index
  end
  return freeze("use", setmetatable(functions, { __index = unknown })), used
end

return use
