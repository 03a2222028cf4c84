-- Assertions about what a script did, for luassert: assert.wrote(env, { verb = "patch", kind = "pods" }).
local raw = ...

local objects = require "k8s.test.objects"
local records = require "k8s.test.records"

local assert = _G.require "luassert"
local say = _G.require "say"

-- Every field that is wanted is there, at any depth; a text is compared as it is.
local function contains(is, wanted)
  if type(wanted) ~= "table" then
    return is == wanted
  elseif type(is) ~= "table" then
    return false
  end
  for key, value in pairs(wanted) do
    if not contains(is[key], value) then
      return false
    end
  end
  return true
end

local function check_env(verb, env)
  if type(env) ~= "table" or type(env.engine) ~= "userdata" then
    raw.raise(verb .. ": the first argument must be the environment that test.load gave")
  end
end

local function set_of(names)
  local set = {}
  for name in names:gmatch "%S+" do
    set[name] = true
  end
  return set
end

-- Fields of records; a field that none has would be missed in each, and its opposite always hold.
local FIELDS = {
  wrote = set_of "verb kind resource namespace name key subresource type body dry_run code err at",
  sent_event = set_of "type reason message count kind key at",
  requested = set_of "method url headers body status at",
  logged = set_of "level message fields source at",
}

-- A text stands for one of the fields.
local function fields(check, wanted, field_of_text)
  local verb = "assert." .. check
  if wanted == nil then
    return {}
  elseif type(wanted) == "string" and field_of_text then
    return { [field_of_text] = wanted }
  elseif type(wanted) ~= "table" then
    raw.raise(verb .. ": expected a table of fields, not " .. type(wanted))
  end
  for name in pairs(wanted) do
    if not FIELDS[check][name] then
      require "k8s.unknown"(verb, name, FIELDS[check], "field")
    end
  end
  return wanted
end

-- A kind may be named as everywhere.
local function normal(env, verb, wanted)
  if not wanted.kind then
    return wanted
  end
  local resource = objects.resource(env, verb, wanted.kind)
  local copy = {}
  for key, value in pairs(wanted) do
    copy[key] = value
  end
  copy.kind, copy.resource = nil, objects.name_of(resource)
  return copy
end

-- Shown by luassert as they are, without quotes.
local function show(text)
  return setmetatable({}, { __tostring = function() return text end })
end

local function list(items, describe, none)
  local lines = {}
  for i, item in ipairs(items) do
    lines[i] = "  " .. describe(item)
  end
  return #lines > 0 and table.concat(lines, "\n") or "  " .. none
end

local function any(items, wanted)
  for _, item in ipairs(items) do
    if contains(item, wanted) then
      return true
    end
  end
  return false
end

local function finish(state, arguments, wanted, seen)
  local text = type(wanted) == "string" and wanted or raw.json.encode(wanted)
  arguments[1], arguments[2] = show("  " .. text), show(seen)
  arguments.nofmt = { true, true }
  arguments.n = 2
  return state
end

local checks = {}

function checks.wrote(state, arguments)
  local env, wanted = arguments[1], arguments[2]
  check_env("assert.wrote", env)
  local found = any(env.writes, normal(env, "assert.wrote", fields("wrote", wanted)))
  return finish(found, arguments, wanted or "anything", list(env.writes, records.describe_write, "nothing"))
end

function checks.sent_event(state, arguments)
  local env, wanted = arguments[1], arguments[2]
  check_env("assert.sent_event", env)
  local found = any(env.events, fields("sent_event", wanted))
  return finish(found, arguments, wanted or "any", list(env.events, raw.json.encode, "none"))
end

function checks.requested(state, arguments)
  local env, wanted = arguments[1], arguments[2]
  check_env("assert.requested", env)
  local found = any(env.requests, fields("requested", wanted, "url"))
  return finish(found, arguments, wanted or "anything", list(env.requests, records.describe_request, "nothing"))
end

-- A text is one line, as it is; or, with `pattern`, what matches a Lua pattern.
function checks.printed(state, arguments)
  local env, text, pattern = arguments[1], arguments[2], arguments[3]
  check_env("assert.printed", env)
  local found = false
  for _, line in ipairs(env.prints) do
    if text == nil or line == text or pattern and line:find(text) then
      found = true
    end
  end
  return finish(found, arguments, text or "anything", list(env.prints, tostring, "nothing"))
end

function checks.logged(state, arguments)
  local env, wanted = arguments[1], arguments[2]
  check_env("assert.logged", env)
  local found = any(env.logs, fields("logged", wanted, "message"))
  return finish(found, arguments, wanted or "anything", list(env.logs, raw.json.encode, "nothing"))
end

-- An error of a check, misuse or a failure of the script, is raised where the spec is, not in luassert, which calls it.
local function placed(check)
  return function(state, arguments, level)
    local ok, result = pcall(check, state, arguments)
    if ok then
      return result
    elseif type(result) ~= "string" then
      error(result, 0)
    end
    error((result:gsub("^[^\n]-luassert/assert%.lua:%d+: ", "")), level + 1)
  end
end

local MESSAGES = {
  wrote = {
    "Expected the script to write:\n%s\nIt wrote:\n%s",
    "Expected the script not to write:\n%s\nIt wrote:\n%s",
  },
  requested = {
    "Expected the script to request:\n%s\nIt requested:\n%s",
    "Expected the script not to request:\n%s\nIt requested:\n%s",
  },
  sent_event = { "Expected an Event:\n%s\nIt sent:\n%s", "Expected no Event:\n%s\nIt sent:\n%s" },
  printed = { "Expected a line:\n%s\nIt printed:\n%s", "Expected no line:\n%s\nIt printed:\n%s" },
  logged = { "Expected in the log:\n%s\nIt logged:\n%s", "Expected not in the log:\n%s\nIt logged:\n%s" },
}

for name, check in pairs(checks) do
  say:set("assertion." .. name .. ".positive", MESSAGES[name][1])
  say:set("assertion." .. name .. ".negative", MESSAGES[name][2])
  local positive, negative = "assertion." .. name .. ".positive", "assertion." .. name .. ".negative"
  assert:register("assertion", name, placed(check), positive, negative)
end
