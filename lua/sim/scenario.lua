-- Reading scenarios: the steps, their parameters and what is wrong with them; docs/sim.md has the grammar.
local json = require "sim.json"
local wrongs = require "sim.wrongs"

local at, text = json.at, json.text

local scenario = {}

local function fail(...) error({ text = string.format(...) }, 0) end

-- --- steps and their parameters: each with its type, and with ! if it is required

local common = "do:text! at:duration every:duration count:count comment:text"
local selection = "resource:text! namespace:text name:text selector:text pick:pick patient:bool"
local wrong = "what:text! after:count for:duration size:size code:count reason:text message:text retry_after:count "
  .. "text:text "

-- In the order in which messages name them; those that select take the parameters of a selection as well.
local verbs = {
  { "create", "object:object namespace:text pods:count", one_of = { "object", "pods" } },
  { "patch", "patch:object ops:array subresource:text", selects = true, one_of = { "patch", "ops" } },
  { "label", "labels:object!", selects = true },
  { "annotate", "annotations:object!", selects = true },
  { "touch", "", selects = true },
  { "restart", "", selects = true },
  { "phase", "phase:text!", selects = true },
  { "delete", "grace:count", selects = true },
  { "fault", wrong .. "verb:text resource:text namespace:text path:text skip:count times:count", wrong = true },
  { "inject", wrong .. "resource:text!", wrong = true },
  { "clear", "" },
  { "compact", "" },
  { "expire", "resource:text" },
  { "end-watches", "resource:text" },
  { "refuse", "for:duration!" },
  { "set", "bookmarks:duration watch_cache:bool gzip:bool shards:text terminate:duration" },
}

local names = {}
for i, verb in ipairs(verbs) do
  names[i], verbs[verb[1]] = verb[1], verb
  verb.params, verb.required = {}, {}
  local function add(list, is_common)
    for name, type, mark in list:gmatch "([%w_]+):(%a+)(!?)" do
      verb.params[name] = type
      if mark == "!" and not is_common then table.insert(verb.required, name) end
    end
  end
  add(common, true)
  add(verb[2])
  if verb.selects then add(selection) end
end

local function is_count(value) return type(value) == "number" and value >= 0 end

-- Types: what an error calls them, and what they take. `helpers` are functions of C.
local types = {
  text = { "a string", function(value) return type(value) == "string" end },
  count = { "a whole number that is not negative", is_count },
  bool = { "true or false", function(value) return type(value) == "boolean" end },
  duration = { 'a duration such as "250ms" or "2s"', function(value, helpers) return helpers.duration(value) end },
  size = { 'a size such as "9Mi"', function(value, helpers) return helpers.is_size(value) end },
  object = { "an object", function(value) return json.type(value) == "object" end },
  array = { "an array", function(value) return json.type(value) == "array" end },
  pick = { 'a whole number, or "all"', function(value) return is_count(value) or value == "all" end },
}

local function check_params(params, verb, helpers)
  for name, value in json.members(params) do
    local kind = types[verb.params[name]]
    if not kind then fail('unknown parameter "%s"', name) end
    if not kind[2](value, helpers) then fail('"%s" is not %s', name, kind[1]) end
  end
  for _, name in ipairs(verb.required) do
    if json.get(params, name) == nil then fail('"%s" is missing', name) end
  end
  local pair = verb.one_of
  if pair and (json.get(params, pair[1]) == nil) == (json.get(params, pair[2]) == nil) then
    fail('exactly one of "%s" and "%s" is required', pair[1], pair[2])
  end
end

-- --- faults

local request_verbs = "get list watch create update patch delete deletecollection "
local watches_only = {
  ["no-end-bookmark"] = true, ["ignore-initial-events"] = true, ["unknown-type"] = true, ["error-event"] = true,
}

-- Whether it concerns a request with that verb. What happens in streams is for lists and watches.
local function suits(params, what, verb)
  local is_response = what == "status" or what == "delay"
    or (what == "close" or what == "reset" or what == "silence") and json.get(params, "after") == nil
  return is_response or verb == "watch" or verb == "list" and not watches_only[what]
end

local function check_wrong(params)
  local verb, what = at(params, "verb"), text(params, "what")
  if verb and not request_verbs:find(verb .. " ", 1, true) then fail('unknown "verb": "%s"', verb) end
  if not wrongs.number(what) then
    fail('"what": unknown value "%s"; must be one of %s', what, table.concat(wrongs.names, ", "))
  end
  local code = json.int(params, "code", 500)
  if code < 400 or code > 599 then fail('"code" is not an HTTP error code: %d', code) end
  if verb and not suits(params, what, verb) then fail('"what": "%s" does not apply to a %s', what, verb) end
end

-- --- reading

local function read_times(params, verb, helpers)
  local every, count = at(params, "every"), at(params, "count")
  local every_ms = every ~= nil and helpers.duration(every) or 0
  if every ~= nil and every_ms == 0 and not count then fail '"every" is 0, and "count" is missing' end
  if count == 0 then fail '"count" is 0' end
  local from = at(params, "at")
  return json.object("do", verb[1], "at", from ~= nil and helpers.duration(from) or 0, "every", every_ms,
    "count", count or every ~= nil and 0 or 1)
end

local function read_step(params, helpers)
  local name = text(params, "do")
  if json.type(params) ~= "object" then fail "it is not an object" end
  if name == "" then fail '"do" is missing' end
  local verb = type(name) == "string" and verbs[name]
  if not verb then fail('unknown step "%s"; must be one of %s', name, table.concat(names, ", ")) end
  check_params(params, verb, helpers)
  if verb.wrong then check_wrong(params) end
  return read_times(params, verb, helpers)
end

-- Returns a list of true and the steps, each with `do`, `at` and `every` in milliseconds, and `count` (0: without
-- end), or of false and why they are none. duration(value) gives milliseconds, is_size(value) whether it is a size.
function scenario.read(document, duration, is_size)
  local steps, list = json.type(document) == "array" and document or at(document, "steps"), {}
  if json.type(steps) ~= "array" then
    return { false, 'a scenario is an array of steps, or an object with "steps"' }
  end
  for i, params in json.each(steps) do
    local ok, result = pcall(read_step, params, { duration = duration, is_size = is_size })
    if not ok and type(result) ~= "table" then error(result, 0) end
    if not ok then
      local verb = verbs[text(params, "do")]
      return { false, string.format(verb and "step %d (%s): %s" or "step %d: %s%s", i, verb and verb[1] or "",
        result.text) }
    end
    list[i] = result
  end
  return { true, list }
end

-- --- what steps do to objects

-- A copy with "${n}" in each string replaced by the repetition's number.
function scenario.numbered(value, n)
  local kind, number = json.type(value), string.format("%d", n)
  if kind == "string" then return (value:gsub("%${n}", number)) end
  if kind == "array" then
    local list = {}
    for i, item in json.each(value) do list[i] = scenario.numbered(item, n) end
    return list
  end
  if kind ~= "object" then return value end
  local copy = json.object()
  for name, member in json.members(value) do json.set(copy, name, scenario.numbered(member, n)) end
  return copy
end

local function state_of(phase, now)
  if phase == "Running" then return json.object("running", json.object("startedAt", now)) end
  if phase == "Failed" or phase == "Succeeded" then
    return json.object("terminated", json.object("exitCode", phase == "Failed" and 1 or 0, "reason",
      phase == "Failed" and "Error" or "Completed", "finishedAt", now))
  end
  return json.object("waiting", json.object("reason", "ContainerCreating"))
end

local function set_ready(status, ready, now)
  for _, condition in json.each(at(status, "conditions")) do
    local type = text(condition, "type")
    if type == "Ready" or type == "ContainersReady" then
      json.set(condition, "status", ready and "True" or "False")
      json.set(condition, "lastTransitionTime", now)
    end
  end
end

-- A copy of a pod that does what a kubelet tells of it.
local function changed(pod, phase, now)
  pod = json.copy(pod)
  local status = at(pod, "status")
  if json.type(status) ~= "object" then
    status = json.object()
    json.set(pod, "status", status)
  end
  if phase then json.set(status, "phase", phase) end
  set_ready(status, not phase or phase == "Running", now)
  return pod, json.each(at(status, "containerStatuses"))
end

-- Each container ended with an error and was started again.
function scenario.restarted(pod, now)
  local copy, next_one, list, from = changed(pod, nil, now)
  for _, container in next_one, list, from do
    json.set(container, "lastState", json.object("terminated",
      json.object("exitCode", 137, "reason", "OOMKilled", "finishedAt", now)))
    json.set(container, "state", state_of("Running", now))
    json.set(container, "restartCount", json.int(container, "restartCount", 0) + 1)
  end
  return copy
end

function scenario.in_phase(pod, now, phase)
  local copy, next_one, list, from = changed(pod, phase, now)
  for _, container in next_one, list, from do
    json.set(container, "state", state_of(phase, now))
    json.set(container, "ready", phase == "Running")
    json.set(container, "started", phase == "Running")
  end
  return copy
end

return scenario
