-- What a rule sees of other objects: `uses = { svc = { kind = "services", index = "namespace" } }` makes
-- use.svc("shop") the services of that namespace.
local raw = ...

local factory = require "k8s.factory"
local freeze = require("k8s.frozen").freeze
local options = require "k8s.options"

local use = {}

local KNOWN = { kind = "string", index = "path or function" }

-- The index that each of them has; its informer is its own, so that the name is.
local NAME = "use"

local function by_key(lister)
  return function(key)
    local object = lister:get(key)
    return object and { object } or {}
  end
end

local function by_index(lister, name)
  return function(value)
    return lister:by_index(name, value)
  end
end

local function all_of(lister)
  return function()
    return lister:list_all()
  end
end

local function finder(where, given)
  local own = options.check(where, given, KNOWN)
  if not own.kind then
    raw.raise(where .. ": kind is missing")
  end
  local claimed = factory.informer(own.kind)
  local lister = claimed:lister()
  if own.index == nil then
    return all_of(lister)
  elseif own.index == "key" then
    return by_key(lister)
  elseif own.index == "namespace" then
    return by_index(lister, "namespace")
  end
  claimed:add_index(NAME, own.index)
  return by_index(lister, NAME)
end

-- The table `use`: a function for each that gives an array of objects. `index` is "namespace", "key", a path or a
-- function (obj, emit); without one the function gives all.
function use.all(where, uses)
  local functions = {}
  for name, given in pairs(uses) do
    if type(name) ~= "string" or type(given) ~= "table" then
      raw.raise(where .. ': uses must be { name = { kind = "...", index = "..." } }')
    end
    functions[name] = finder(where .. ": uses: " .. name, given)
  end
  return freeze("use", functions)
end

return use
