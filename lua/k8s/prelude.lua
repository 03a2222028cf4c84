-- The globals that know views and frozen tables. LuaJIT has no __pairs and no __len for tables, so that the
-- functions themselves must look. Plain tables go to Lua's own functions, untouched.
local raw = ...

local content = require("k8s.frozen").content
local type, next, pairs, ipairs, pcall, unpack = type, next, pairs, ipairs, pcall, unpack
local rawget, rawset = rawget, rawset
local check_stack = raw.check_stack
local view = raw.view
local kept = raw.state.content -- of a state table; nil for anything else

local prelude = { print = raw.print, table = {}, string = {}, os = {}, coroutine = require "k8s.coroutine" }
prelude.require = require "k8s.require"

local function read_only(name)
  raw.raise(name .. ": objects are read-only; use :copy()")
end

-- A frozen table and a state table are walked by a function of its own: Lua's `next` would hand their content out.
local function pairs_of_hidden(shown)
  local key, value
  return function()
    key, value = next(shown, key)
    return key, value
  end
end

local function ipairs_of_hidden(shown)
  local i = 0
  return function()
    i = i + 1
    if shown[i] ~= nil then
      return i, shown[i]
    end
  end
end

function prelude.pairs(t)
  local kind = type(t)
  if kind == "userdata" and view.is(t) then
    return view.pairs(t)
  end
  local hidden = kind == "table" and content(t) or kind == "userdata" and kept(t)
  if hidden then
    return pairs_of_hidden(hidden)
  end
  return pairs(t)
end

function prelude.ipairs(t)
  if type(t) == "userdata" and view.is(t) then
    return view.ipairs(t)
  end
  local hidden = type(t) == "userdata" and kept(t)
  if hidden then
    return ipairs_of_hidden(hidden)
  end
  return ipairs(t)
end

function prelude.next(t, key)
  if type(t) == "userdata" and view.is(t) then
    return view.next(t, key)
  end
  if type(t) == "userdata" then
    return next(kept(t) or t, key)
  end
  return next(content(t) or t, key)
end

function prelude.unpack(t, i, j)
  if type(t) == "userdata" and view.is(t) then
    local items, count = view.items(t, i, j)
    return unpack(items, 1, count)
  end
  return unpack(type(t) == "userdata" and kept(t) or t, i, j)
end

function prelude.rawget(t, key)
  if type(t) == "userdata" and view.is(t) then
    read_only("rawget")
  end
  return rawget(t, key)
end

function prelude.rawset(t, key, value)
  if type(t) == "userdata" and view.is(t) then
    read_only("rawset")
  end
  if content(t) then
    t[key] = value -- raises
  end
  return rawset(t, key, value)
end

-- The handler runs after unwinding: one that loops inside the failing call could not be stopped.
local function finish(handler, ok, ...)
  if ok then
    return true, ...
  end
  return false, handler(...)
end

function prelude.xpcall(f, handler, ...)
  if type(handler) ~= "function" then
    raw.raise("xpcall: the handler must be a function, not " .. type(handler))
  end
  return finish(handler, pcall(f, ...))
end

-- These call a script's code from C: LuaJIT does not count that, and no yield passes them.
local callbacks = raw.task.callbacks

local function guarded(stock, callback)
  callbacks[stock] = callback
  return function(...)
    check_stack()
    return stock(...)
  end
end

callbacks[raw.print] = "a __tostring that print calls"
callbacks[raw.log] = "a __tostring that k8s.log calls"

-- Lua's own functions in C have no bounds for what they make and how long it takes: they are called with what is
-- known to be within them.
local format, arguments = string.format, raw.format_arguments
callbacks[format] = "a __tostring that string.format calls"
callbacks[arguments] = callbacks[format]

function prelude.string.format(...)
  return format(arguments(...))
end

local date = os.date
local DATE_FORMAT_MAX = 1000

function prelude.os.date(how, ...)
  if type(how) == "string" and #how > DATE_FORMAT_MAX then
    raw.raise("os.date: the format is longer than the limit of " .. DATE_FORMAT_MAX .. " bytes")
  end
  return date(how, ...)
end

-- Functions of the script are called by Lua, not by C, so that the call may wait and pause there.
local loaded

local function in_lua()
  loaded = loaded or require "k8s.callbacks"
  return loaded
end

local gsub = string.gsub

function prelude.string.gsub(...)
  local _, _, replacement = ...
  if type(replacement) == "function" then
    return in_lua().gsub(...)
  end
  return gsub(...)
end

prelude.os.time = guarded(os.time, "a function that os.time calls")

-- Values put into a state table are checked; values taken out, or put in order, were.
local STATE = {}

function STATE.insert(insert, t, hidden, ...)
  local count = select("#", ...)
  if count == 1 then
    return insert(hidden, raw.state.value(t, #hidden + 1, (...)))
  end
  local position, value = ...
  if count ~= 2 or type(position) ~= "number" then
    return insert(hidden, ...) -- raises
  end
  return insert(hidden, position, raw.state.value(t, position, value))
end

function STATE.move(move, t, hidden, from, to, at, into)
  if into ~= nil then
    return move(hidden, from, to, at, into)
  end
  for i, value in ipairs(move(hidden, from, to, 1, {})) do
    t[at + i - 1] = value
  end
  return t
end

local CALLS_BACK = {
  sort = "a comparison function of table.sort",
  foreach = "a function that table.foreach calls",
  foreachi = "a function that table.foreachi calls",
}

local function calling_back(name, stock)
  callbacks[stock] = CALLS_BACK[name]
  return function(t, call)
    check_stack()
    return in_lua()[name](t, call)
  end
end

for name, stock in pairs(table) do
  local call = CALLS_BACK[name] and calling_back(name, stock) or stock
  prelude.table[name] = function(t, ...)
    if type(t) ~= "userdata" then
      return call(t, ...)
    end
    if view.is(t) then
      read_only("table." .. name)
    end
    local hidden = kept(t)
    if hidden and STATE[name] then
      return STATE[name](call, t, hidden, ...)
    end
    return call(hidden or t, ...)
  end
end

local concat = table.concat

function prelude.table.concat(t, separator, i, j)
  if type(t) == "userdata" and view.is(t) then
    local items, count = view.items(t, i, j)
    return concat(items, separator, 1, count)
  end
  return concat(type(t) == "userdata" and kept(t) or t, separator, i, j)
end

return prelude
