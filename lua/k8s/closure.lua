-- A function with all that it reaches: its code, the values of what it has from outside, and of the script's
-- globals that it names. Two functions with the same text do the same, as far as anybody can tell; a text that begins
-- with "?" says what of it cannot be compared. For transforms, whose results a cache keeps.
local raw = ...

local frozen = require "k8s.frozen"
local found = frozen.found
local of = raw.plan
local next, rawget, type = next, rawget, type

local VALUES_MAX = 20000
local TEXT_MAX = 4 * 1024 * 1024 -- bytes, each text as often as it stands somewhere

-- --- the API: values that are the same in every generation, by their names. A script reaches none of those that it has
-- not asked for, so that they need no name.

local function is_nameable(value)
  local kind = type(value)
  return kind == "function" or kind == "userdata" or kind == "table" and found(value) ~= nil
end

-- A value of several names has the least one, whatever the order of a walk.
local function name_all(names, prefix, values, depth)
  for key, value in next, values do
    local name = prefix .. tostring(key)
    if is_nameable(value) and (not names[value] or name < names[value]) then
      names[value] = name
    end
    if type(value) == "table" and depth > 0 then
      name_all(names, name .. ".", found(value) or value, depth - 1)
    end
  end
end

local inside = of.environment(name_all) -- the globals of these files

local function names_of_api()
  local names = {}
  name_all(names, "", inside, 1)
  name_all(names, "", require "k8s.prelude", 1)
  name_all(names, "", { k8s = require "k8s", http = require "k8s.http" }, 2)
  for value, name in next, frozen.forgotten do
    names[value] = name
  end
  return names
end

-- --- a walk

local function refuse(walk, what)
  walk.refused = string.format("%s is %s, which cannot be compared", walk.at, what)
  error(walk, 0)
end

local function put_text(walk, value)
  walk.bytes = walk.bytes + #value
  if walk.bytes > TEXT_MAX then
    refuse(walk, "more than 4 MiB of text")
  end
  walk.out[#walk.out + 1] = #value .. ":"
  walk.out[#walk.out + 1] = value
end

local put

local ORDER = { boolean = 1, number = 2, string = 3 }

local function sorted_keys(walk, value)
  local keys = {}
  for key in next, value do
    if not ORDER[type(key)] then
      refuse(walk, "a table with a " .. type(key) .. " as a key")
    end
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    local ta, tb = type(a), type(b)
    if ta ~= tb then
      return ORDER[ta] < ORDER[tb]
    end
    if ta == "boolean" then
      return not a and b
    end
    return a < b
  end)
  return keys
end

local function put_table(walk, value)
  walk.out[#walk.out + 1] = "{"
  for _, key in ipairs(sorted_keys(walk, value)) do
    put(walk, key)
    put(walk, rawget(value, key))
  end
  walk.out[#walk.out + 1] = "}"
  put(walk, of.metatable(value))
end

-- Where the walk is, as the function at its beginning sees it.
local function note_place(walk, place)
  if walk.depth == 1 then
    walk.at = place
  end
end

-- Globals of the script whose names stand in the code; a string that is not the name of one means none.
local function put_globals(walk, fn)
  if of.metatable(walk.globals) then
    refuse(walk, "code whose globals have a metatable")
  end
  for _, name in ipairs(of.strings(fn)) do
    local value = rawget(walk.globals, name)
    if value ~= nil then
      note_place(walk, "the global " .. name)
      put(walk, name)
      put(walk, value)
    end
  end
end

-- Functions that share a variable see what the others write: which one it is counts, once another has shown it.
local function put_variable(walk, variable, value)
  if walk.variables[variable] then
    walk.out[#walk.out + 1] = "^" .. walk.variables[variable]
    return
  end
  walk.variable_count = walk.variable_count + 1
  walk.variables[variable] = walk.variable_count
  put(walk, value)
end

local function put_upvalues(walk, fn)
  for i = 1, math.huge do
    local name, value, variable = of.upvalue(fn, i)
    if not name then
      return
    end
    note_place(walk, "`" .. name .. "`")
    put(walk, name)
    put_variable(walk, variable, value)
  end
end

local function put_function(walk, fn)
  local code = of.code(fn)
  if not code then
    refuse(walk, "a function of the engine made for this script")
  end
  local environment = of.environment(fn)
  walk.depth = walk.depth + 1
  walk.out[#walk.out + 1] = code
  put_upvalues(walk, fn)
  if rawequal(environment, walk.globals) then
    put_globals(walk, fn)
  elseif not rawequal(environment, inside) then
    put(walk, environment)
  end
  walk.depth = walk.depth - 1
end

local function put_shared(walk, value, kind)
  if walk.seen[value] then
    walk.out[#walk.out + 1] = "#" .. walk.seen[value]
    return
  end
  walk.count = walk.count + 1
  walk.seen[value] = walk.count
  if kind == "table" then
    put_table(walk, value)
  else
    put_function(walk, value)
  end
end

function put(walk, value)
  local kind = type(value)
  walk.values = walk.values + 1
  if walk.values > VALUES_MAX then
    refuse(walk, "more than " .. VALUES_MAX .. " values")
  end
  if kind == "string" then
    put_text(walk, value)
  elseif kind == "number" then
    walk.out[#walk.out + 1] = string.format("%.17g;", value)
  elseif kind == "boolean" or kind == "nil" then
    walk.out[#walk.out + 1] = tostring(value) .. ";"
  elseif walk.names[value] then
    walk.out[#walk.out + 1] = "@" .. walk.names[value] .. ";"
  elseif kind == "table" or kind == "function" then
    put_shared(walk, value, kind)
  else
    refuse(walk, "a " .. kind)
  end
end

-- text(function, globals): "function 1f2e...", or "?`cache` is a userdata, which cannot be compared".
return function(fn, globals)
  local walk = {
    out = {}, seen = {}, variables = {}, names = names_of_api(), globals = globals, count = 0, variable_count = 0,
    values = 0, bytes = 0, depth = 0, at = "the function",
  }
  local ok, err = pcall(put, walk, fn)
  if ok then -- a script may change what methods strings have
    walk.at = "the table string"
    ok, err = pcall(put, walk, of.metatable "")
  end
  if ok then
    return "function " .. string.sub(raw.sha256(table.concat(walk.out)), 1, 16)
  end
  return "?" .. (walk.refused or tostring(err))
end
