-- A subject at work: started on a source, asked by markers, listened to; and the source, `kubelua sim --replay`, a
-- process of its own that is steered by HTTP. What fails is raised.
local figures = require "tool.bench.figures"

local session = {}
session.__index = session

local SELF = "/proc/self/exe"
local RETRY_MS, START_MS_PER_POD, START_MS = 5, 1, 60000
-- The slowest that is waited for: for an object or an event.
local SLOWEST_MS = 2
local SHOWN = 80 -- of a line, in an error

local function fail(text, ...) error(text:format(...), 0) end

-- Calls the function; what it raises gets a context.
function session.within(context, fn, ...)
  local ok, why = pcall(fn, ...)
  if not ok then error(context .. ": " .. why, 0) end
  return why
end

-- --- the source

local source = {}
source.__index = source
session.source = source

local function start_source(host, argv, timeout_ms)
  local self = setmetatable({ host = host, child = host.start("the source", argv), markers = 0 }, source)
  repeat
    self.url = self.child:line(timeout_ms):match "^Serving on (.*)$"
  until self.url
  return self
end

function source.new(host, data)
  local argv = { SELF, "sim", "--replay", "--pods", tostring(data.pods), "--replicas", tostring(data.replicas) }
  if data.encodings then
    argv[#argv + 1] = "--encodings"
    argv[#argv + 1] = data.encodings
  end
  return start_source(host, argv, START_MS + data.pods * START_MS_PER_POD)
end

-- The simulator itself, with nothing in it: for what needs many different informers.
function source.empty(host) return start_source(host, { SELF, "sim" }, START_MS) end

-- When one is not alive, that is the reason for whatever went wrong.
local function check_alive(self)
  self.child:alive()
  if self.watcher then self.watcher:alive() end
end

-- POST of a path, answered by 200 within the time: returns the response. While there is no open watch (409) it is tried
-- again, as long as the watcher lives.
function source:post(timeout_ms, path)
  local deadline = self.host.now() + timeout_ms / 1e3
  local status, response = self.host.post(self.url .. path, timeout_ms)
  while status == 409 and self.host.now() < deadline do
    check_alive(self)
    self.host.sleep(RETRY_MS)
    status, response = self.host.post(self.url .. path, timeout_ms)
  end
  if status == 200 then return response end
  check_alive(self)
  if not status then fail("POST %s: %s", path, response) end
  fail("POST %s: the source responded with %d: %s", path, status, response)
end

function source:stop() self.child:stop() end

-- --- what a subject says: a line of JSON each; docs/performance.md has the protocol

local function read_latency(list)
  if type(list) ~= "table" then return nil end
  for i = 1, math.max(#list, 4) do
    if i > 4 or type(list[i]) ~= "number" or list[i] < 0 then fail "latency_us takes null or four numbers" end
  end
  return list
end

local function read_marker(line)
  local known = type(line.name) == "string" and line.name ~= "" and type(line.updates) == "number" and line.updates >= 0
  if not known then fail "a marker needs a name and updates" end
  return {
    kind = "marker", name = line.name, objects = line.objects, updates = line.updates,
    latency = read_latency(line.latency_us),
  }
end

local function read_synced(line)
  local event = { kind = "synced", objects = line.objects, figures = {}, measurements = {} }
  event.version = type(line.version) == "string" and line.version ~= "" and line.version or nil
  for _, figure in ipairs(figures.list) do
    local value = line[figure.name]
    if type(value) == "number" and value >= 0 then event.figures[figure.name] = value end
  end
  local known = {}
  for _, name in ipairs(figures.measurements) do known[name] = true end
  -- All, when it does not say.
  for _, name in ipairs(type(line.measurements) == "table" and line.measurements or figures.measurements) do
    if not known[name] then fail('unknown measurement "%s"', type(name) == "string" and name or "") end
    event.measurements[name] = true
  end
  return event
end

local function read_event(parse, text)
  local line, why = parse(text)
  if line == nil then fail("%s", why) end
  if type(line) ~= "table" or line[1] ~= nil then fail "not a JSON object" end
  if type(line.objects) ~= "number" or line.objects < 0 then fail 'missing field "objects"' end
  if line.event == "synced" then return read_synced(line) end
  if line.event == "marker" then return read_marker(line) end
  fail('unknown event "%s"', type(line.event) == "string" and line.event or "")
end

-- `parse` reads JSON. Raises what is wrong with the line.
function session.read_event(parse, text)
  local shown = #text > SHOWN and text:sub(1, SHOWN) .. "..." or text
  return session.within(('it printed "%s"'):format(shown), read_event, parse, text)
end

-- --- the session

-- "NAME=value command": `exec` alone takes no variables.
local function peer_words(subject, url, select)
  local env = subject.command:find "^[%w_]+=" and "env " or ""
  local command = ("exec %s%s \"$@\""):format(env, subject.command)
  return { "/bin/sh", "-c", command, "sh", "--server", url, select and "--select" or nil }
end

-- `exec`, so that the process that is measured is the peer's and no shell's. `script`, if given, is run in place of the
-- subject's; `select` asks a peer for its lister.
function session.start_subject(plan, subject, url, script, select)
  if not subject.script then return plan.host.start(subject.name, peer_words(subject, url, select)) end
  return plan.host.start(subject.name, {
    SELF, "run", "--server", url, "-f", (script or subject.script) .. ".lua", "--metrics-bind-address=127.0.0.1:0",
    "--allow-core-dumps", -- its memory is read from /proc
    "--health-probe-bind-address=127.0.0.1:0", "--admin-socket=0",
  }, plan.scripts)
end

-- A subject that is started on the source and synced with all of the pods.
function session.new(plan, subject, source_, pods, script, select)
  local self = setmetatable({ plan = plan, subject = subject, source = source_, pods = pods }, session)
  self.child = session.start_subject(plan, subject, source_.url, script, select)
  self.child:needs(source_.child)
  source_.watcher = self.child
  local ok, why = pcall(self.sync, self)
  if not ok then
    self:stop()
    error(why, 0)
  end
  return self
end

-- How long the subject may take for so many objects or events.
function session:timeout_ms(work) return self.plan.silence_ms + work * SLOWEST_MS end

function session:next_event(work)
  local line = self.child:line(self:timeout_ms(work))
  self.event = session.within(self.subject.name, session.read_event, self.plan.host.json, line)
  return self.event
end

-- Waits for "synced". What a process has others do for it would be nowhere in its figures.
function session:sync()
  local event, name = self:next_event(self.pods), self.subject.name
  if event.kind ~= "synced" then fail("%s responded to a marker before it was synced", name) end
  if event.objects < self.pods then
    fail("%s was synced with %d objects of %d", name, event.objects, self.pods)
  end
  if self.subject.command and self.child:has_children() then
    fail("%s started other processes that would not be measured; end the script with: exec PROGRAM", name)
  end
end

-- Makes a marker and waits for its response. With `trim` the subject gives back memory before. `work` is how many
-- objects or events it may have to handle first.
function session:mark(trim, work)
  self.source.markers = self.source.markers + 1
  local name = ("marker-%s%d"):format(trim and "trim-" or "", self.source.markers)
  session.within(self.subject.name, self.source.post, self.source, self:timeout_ms(work),
    "/sim/replay/marker?name=" .. name)
  local event = self:next_event(work)
  if event.kind ~= "marker" or event.name ~= name then fail("%s did not respond to %s", self.subject.name, name) end
  return event
end

function session:stop()
  self.source.watcher = nil
  self.child:stop()
end

return session
