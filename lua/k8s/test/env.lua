-- The environment of a test: what test.load gives. Whoever looks at what the script did (env.writes, env.prints, ...)
-- sees it after all that is due has happened.
local raw = ...

local answers = require "k8s.test.answers"
local respond = require "k8s.test.http"
local faults = require "k8s.test.faults"
local objects = require "k8s.test.objects"
local metric = require "k8s.test.metric"
local options = require "k8s.options"
local place = require "k8s.test.place"
local records = require "k8s.test.records"
local sinks = require "k8s.test.sinks"
local states = require "k8s.test.states"
local webhook = require "k8s.test.webhook"

local test = raw.test

local env = {}
local methods = {}

-- Made anew by `reset`; read through `settle`.
local LISTS = {
  requests = true,
  writes = true,
  events = true,
  logs = true,
  prints = true,
  failures = true,
  main = true,
}

-- Members of an environment that may be nil.
local OWN = { path = true, recording = true, touched = true, selected = true }

local function refuse(name)
  local known = {}
  for _, names in ipairs { methods, LISTS } do
    for one in pairs(names) do
      known[one] = true
    end
  end
  require "k8s.unknown"("env", name, known, "method or list")
end

local metatable
metatable = {
  __index = function(self, name)
    local method = methods[name]
    if method then
      return method
    elseif LISTS[name] then
      self:settle()
      return self.seen[name]
    elseif type(name) == "string" and not OWN[name] and name:sub(1, 1) ~= "_" then -- luassert asks for __index
      refuse(name)
    end
  end,
  __tostring = function(self)
    return "test environment of " .. (self.path or "no script")
  end,
}

-- All that are there, for what failing specs show.
local open = setmetatable({}, { __mode = "k" })
env.all = open

local function raise_failures(self, before)
  local failures = self.seen.failures
  if self.failures_mode == "collect" or #failures == before then
    return
  end
  for i = before + 1, #failures do
    if failures[i].call ~= "worker" then
      raw.raise(records.describe_failure(failures[i]))
    end
  end
end

-- Takes in what happened; a problem of the engine is raised, and a failure of the script.
local function take_in(self, ok, problem)
  local before = #self.seen.failures
  records.take(self, test.records(self.engine))
  if not ok then
    raw.raise(problem)
  end
  raise_failures(self, before)
  return self
end

local function note(self, text, ...)
  self.touched = true
  records.note(self, text:format(...))
end

-- --- the clock

-- Does what is due now, and all that comes of it.
function methods:settle()
  self.touched = true
  return take_in(self, test.settle(self.engine))
end

-- Moves the clock on: "90s", "5m", or seconds. What is due on the way happens at its time.
function methods:advance(duration)
  self:settle()
  note(self, "advance  %s", tostring(duration))
  return take_in(self, test.advance(self.engine, duration))
end

-- Seconds since the epoch, as k8s.now() gives them.
function methods:now()
  return test.now(self.engine)
end

-- --- the script

function methods:load(path)
  local found = place.find("test.load", self.folder, path)
  self.path = found
  note(self, "load     %s", found)
  states.store(self, self.given_states)
  return take_in(self, test.load(self.engine, found, (found:gsub("%.lua$", ""))))
end

-- The script's next generation takes over, as at a reload: from a text, from what a function makes of the text that
-- runs, or from what the file says now. A table of what became of handlers, events, keys and timers; nil and why it was
-- refused.
function methods:reload(source)
  local name = self.path and self.path:gsub("%.lua$", "") or raw.raise "env:reload: no script was loaded"
  if type(source) == "function" then
    source = source(test.source(self.engine, name))
  end
  if source ~= nil and type(source) ~= "string" then
    raw.raise("env:reload: expected a text, or a function that returns one, not " .. type(source))
  end
  self:settle()
  note(self, "reload   %s", name)
  local done, problem = test.reload(self.engine, name, source)
  take_in(self, true)
  return done, problem
end

-- Whether the script leads; for scripts with k8s.leader, or with leader_elect = true.
function methods:lead(leads)
  note(self, "lead     %s", tostring(leads))
  if not test.lead(self.engine, leads) then
    raw.raise "env:lead: the script is not part of an election; call k8s.leader or set leader_elect = true"
  end
end

-- The end of the engine, as far as the script is concerned: functions of k8s.on_stop are called, calls that wait end.
function methods:stop()
  self:settle()
  note(self, "stop")
  self.has_ended = true
  return take_in(self, test.stop(self.engine))
end

states.add_methods(methods, note)
sinks.add_methods(methods, note)
-- --- the cluster

local function shown(at)
  return ("%s %s"):format(at.resource.kind, at.key)
end

function methods:add(object)
  local stored, at = objects.add(self, "env:add", object)
  note(self, "added    %s", shown(at))
  return stored
end

function methods:update(object)
  local stored, at = objects.update(self, "env:update", object)
  note(self, "updated  %s", shown(at))
  return stored
end

-- env:patch(object or kind, key), patch: a merge patch.
function methods:patch(ref, key, patch)
  if type(ref) == "table" then
    key, patch = nil, key
  end
  local at = objects.place(self, "env:patch", ref, key)
  local stored = objects.patch(self, "env:patch", at, patch)
  note(self, "patched  %s", shown(at))
  return stored
end

function methods:delete(ref, key)
  local at = objects.place(self, "env:delete", ref, key)
  objects.delete(self, "env:delete", at)
  note(self, "deleted  %s", shown(at))
end

-- The object as the cluster has it, or nil and why not.
function methods:get(ref, key)
  self:settle()
  return objects.get(self, objects.place(self, "env:get", ref, key))
end

-- All objects of a kind, or those of a namespace, of a selector.
function methods:list(kind, given)
  self:settle()
  given = options.check("env:list", given, { namespace = "string", selector = "string" })
  return objects.list(self, "env:list", kind, given)
end

-- The objects of a file, as kubectl apply has it: those that are there are put in place anew.
function methods:apply_file(path)
  for _, object in ipairs(objects.read_file(place.find("env:apply_file", self.folder, path))) do
    local at = objects.place(self, "env:apply_file", object)
    local there = objects.get(self, at)
    objects[there and "update" or "add"](self, "env:apply_file", object)
    note(self, "applied  %s", shown(at))
    if object.kind == "CustomResourceDefinition" then
      self:settle()
    end
  end
  return self
end

local KIND = { kind = "string", plural = "string", group = "string", version = "string", namespaced = "boolean" }

-- A kind that the cluster does not have: { kind =, plural =, group =, version = "v1", namespaced = true }.
function methods:kind(given)
  local kind = options.check("env:kind", given, KIND)
  if not kind.kind or not kind.group then
    raw.raise "env:kind: kind and group are required"
  end
  local ok, problem = test.add_kind(
    self.engine, kind.group, kind.version or "v1", kind.plural or kind.kind:lower() .. "s", kind.kind,
    kind.namespaced ~= false
  )
  return take_in(self, ok, problem)
end

-- Sets the response of a server other than the API server; see http.lua.
function methods:http(response)
  local given = type(response) == "table" and response or {}
  note(self, "answers  %s %s", given.method or "any", tostring(given.url))
  respond(self, response)
end

answers(methods, note)
require "k8s.test.cluster"(methods)

-- --- commands and metrics

-- env:call("pods-on", "node-1"): what the command returns, a table or a text; nil and the error's text when it
-- refuses.
function methods:call(name, ...)
  note(self, "call     %s", table.concat({ name, ... }, " "))
  local ended, text, is_json = test.call(self.engine, name, ...)
  take_in(self, ended ~= nil, "env:call: " .. tostring(text))
  if ended == "done" then
    return is_json and raw.json.decode(text) or text
  end
  return nil, text
end

-- env:call_webhook("/hooks/alerts", { body = { ... }, token = "..." }); see webhook.lua.
function methods:call_webhook(...) return webhook(note, take_in, self, ...) end

-- env:metric("pods_in_phase", { phase = "Running" }): the value of a series of k8s.metric with these labels, nil when
-- there is none; of a histogram "NAME_count" and "NAME_sum".
function methods:metric(name, labels)
  self:settle()
  local script = self.path and self.path:gsub("%.lua$", "")
  return script and metric(test.metrics(self.engine), script, name, labels or {})
end

-- --- rules

local AUDIT = { rule = "string", passes = "boolean" }

-- env:audit { rule = "id", passes = true }: what the rules of the script say of the objects that are there: an array
-- of { rule, severity, result, kind, namespace, name, message, path, value, fix }, by severity, rule and object.
function methods:audit(given)
  local own = options.check("env:audit", given, AUDIT)
  self:settle()
  note(self, "audit    %s", own.rule or "all rules")
  local text, problem = test.audit(self.engine, own.rule, own.passes)
  take_in(self, text ~= nil, "env:audit: " .. tostring(problem))
  return raw.json.decode(text)
end

-- --- recordings

local REPLAY = { speed = "number" }

-- env:replay(path, { speed = 1 }) plays a recording at its times: the first lists at once. Without a path it goes on
-- with the one that test.load was given. Gives how many changes there were after the first lists, a text when a part
-- could not be read or stored, else nil, and how many objects the first lists had.
function methods:replay(path, given)
  if type(path) == "table" then
    path, given = nil, path
  end
  local speed = options.check("env:replay", given, REPLAY).speed or 1
  if not (speed >= 0.001 and speed <= 1e6) then
    raw.raise(("env:replay: speed must be between 0.001 and 1000000, not %g"):format(speed))
  end
  if path then
    local found = place.find("env:replay", self.folder, path)
    local ok, problem = test.replay_begin(self.engine, found)
    take_in(self, ok, problem)
  end
  self:settle()
  note(self, "replay   %s", path or self.recording or "")
  local listed, changes, problem = test.replay_play(self.engine, speed)
  take_in(self, true)
  return changes, problem, listed
end

-- --- what goes wrong

-- See faults.lua.
function methods:fault(given)
  local fault = faults.check(given)
  note(self, "fault    %s", raw.json.encode(fault))
  faults.add(self, fault)
end

-- All goes well again.
function methods:clear_faults()
  note(self, "faults cleared")
  faults.clear(self)
end

-- --- what the script is like

-- { synced =, handlers = {...}, queues = {...}, memory = bytes }; nil without a script.
function methods:status()
  self:settle()
  return (test.status(self.engine)) -- nil, not nothing at all, which assertions refuse
end

-- Forgets what the script did so far.
function methods:reset()
  self:settle()
  self.seen = records.new()
end

-- Ends it. Nobody has to: one that is not used any more ends by itself.
function methods:close()
  test.close(self.engine)
  open[self] = nil
end

-- Calls into a script, which are refused after env:stop.
local OF_SCRIPT = { load = true, reload = true, lead = true, call = true, call_webhook = true, stop = true }

for name, method in pairs(methods) do
  methods[name] = function(self, ...)
    if getmetatable(self) ~= metatable then
      local text = "env:%s: called on %s, not on a test environment (methods are called with ':')"
      raw.raise(text:format(name, type(self)))
    end
    if self.has_ended and OF_SCRIPT[name] then
      raw.raise(string.format("env:%s: the script has ended by env:stop; load it again by test.load", name))
    end
    return method(self, ...)
  end
end

-- --- opening

local function add_all(self, given)
  if type(given) == "string" then
    self:apply_file(given)
    given = nil
  end
  if given == nil then
    return
  end
  for _, object in ipairs(given.kind and { given } or given) do
    self:add(object)
  end
end

-- As --param has them: what is no text is JSON, which a parameter takes as well.
local function assignments(params)
  local texts = {}
  for name, value in pairs(params or {}) do
    if type(name) ~= "string" then
      raw.raise("test.load: params must be { name = value }")
    end
    texts[#texts + 1] = name .. "=" .. (type(value) == "string" and value or raw.json.encode(value))
  end
  return texts
end

-- Once the scripts are there: a name that none of their rules takes is a slip, and the rest would be tested without it.
function env.check_params(self)
  local ok, problem = test.check_params(self.engine)
  return take_in(self, ok, "test.load: params: " .. tostring(problem))
end

function env.open(given, folder)
  if given.failures and given.failures ~= "raise" and given.failures ~= "collect" then
    raw.raise('test.load: failures must be "raise" or "collect", not "' .. given.failures .. '"')
  end
  local recording = given.recording and place.find("test.load", folder, given.recording)
  local now = given.now
  if recording and not now then
    local begun, why = test.recording_begin(recording)
    now = begun or raw.raise("test.load: " .. why)
  end
  local engine, problem = test.open(
    given.namespace or "", records.begin(now), given.leader_elect or false, given.limits, assignments(given.params),
    given.clusters or {}
  )
  if not engine then
    raw.raise("test.load: " .. problem)
  end
  local self = setmetatable({
    engine = engine,
    folder = folder,
    uids = 0,
    failures_mode = given.failures or "raise",
    seen = records.new(),
    faults = {},
    timeline = {},
    given_states = given.stored or {},
    has_ended = false,
  }, metatable)
  open[self] = true
  if recording then
    self.recording = recording
    take_in(self, test.replay_begin(engine, recording))
  end
  add_all(self, given.objects)
  return self
end

return env
