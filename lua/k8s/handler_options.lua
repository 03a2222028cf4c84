-- Options of a handler beside its functions, made into the form that is evaluated without entering Lua.
local raw = ...

local verbs = raw.handler_options

local handler_options = {}

handler_options.KNOWN = {
  id = "string",
  selector = "string",
  namespaces = "table",
  where = "table",
  filter = "function",
  changed = "table",
  resync = "duration",
  unchanged = "boolean",
  split_recreated = "boolean",
  initial = "string",
  leader = "boolean",
  wait = "boolean",
  concurrency = "number",
  debounce = "duration",
}

handler_options.WITH_FUNCTIONS = {
  OnAdd = "function",
  OnUpdate = "function",
  OnDelete = "function",
  OnLost = "function",
}
for name, kind in pairs(handler_options.KNOWN) do
  handler_options.WITH_FUNCTIONS[name] = kind
end

local default_resync = require "k8s.resync"

function handler_options.set_default_resync(where, claimed, period)
  if period ~= nil then
    verbs.resync(verbs.new(), period, where .. ": resync") -- raises when it is none
    default_resync[claimed] = period
  end
end

-- Calls `verb` for each text of an array that must not be empty.
local function each_text(made, where, list, verb)
  local function check(good)
    if not good then
      raw.raise(where .. " must be a non-empty list of strings")
    end
  end
  check(#list > 0)
  for _, text in ipairs(list) do
    check(type(text) == "string")
    verb(made, text, where)
  end
end

local function add_where(made, where, clauses)
  for path, values in pairs(clauses) do
    if type(path) ~= "string" then
      raw.raise(where .. " must have paths as keys, not " .. type(path))
    end
    verbs.path(made, path, where)
    if type(values) ~= "table" then
      values = { values }
    elseif #values == 0 then
      raw.raise(where .. ': "' .. path .. '" must have a value, or a list of them')
    end
    for _, value in ipairs(values) do
      verbs.value(made, value, where .. ': "' .. path .. '"')
    end
  end
end

local ID_MAX = 253

-- The id stands in logs, in metrics and in C.
local function check_id(where, id)
  if id and (#id < 1 or #id > ID_MAX or string.find(id, "%c")) then
    raw.raise(where .. "id must be a string of 1 to " .. ID_MAX .. " printable characters")
  end
end

-- A new leader does not know which changes the last one handled.
local function check_initial(where, given)
  if given.initial ~= "all" and given.initial ~= "changed" then
    raw.raise(where .. 'initial must be "all" or "changed", not "' .. given.initial .. '"')
  elseif given.initial == "changed" and given.leader then
    raw.raise(where .. 'initial = "changed" cannot be combined with leader = true')
  end
  return given.initial == "changed"
end

-- `given` is checked for names and types. What it does not say of resync is the informer's, then --resync.
function handler_options.make(where, claimed, given)
  local made = verbs.new()
  where = where .. ": "
  check_id(where, given.id)
  if given.selector then
    verbs.selector(made, given.selector, where .. "selector")
  end
  if given.namespaces then
    each_text(made, where .. "namespaces", given.namespaces, verbs.namespace)
  end
  if given.where then
    add_where(made, where .. "where", given.where)
  end
  if given.changed then
    each_text(made, where .. "changed", given.changed, verbs.changed)
  end
  local resync = given.resync
  if resync == nil then
    resync = default_resync[claimed]
  end
  if resync ~= nil then
    verbs.resync(made, resync, where .. "resync")
  end
  verbs.unchanged(made, given.unchanged, where .. "unchanged")
  verbs.split_recreated(made, given.split_recreated, where .. "split_recreated")
  if given.initial then
    verbs.initial_changed(made, check_initial(where, given), where .. "initial")
  end
  if given.concurrency then
    verbs.concurrency(made, given.concurrency, where .. "concurrency")
  end
  if given.debounce ~= nil then
    verbs.debounce(made, given.debounce, where .. "debounce")
  end
  return made
end

return handler_options
