-- A group of real engines that share objects, for shards_spec.lua and `./dev prove shards`: each behind a relay of its
-- own, with a log of all its calls, which is checked afterwards (shard_history.lua).
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local history = require "spec.support.shard_history"
local http = require "spec.support.api"
local proc = require "spec.support.proc"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

local SCRIPT = [[
local k8s = require "k8s"
local objects = k8s.informer("%s", { namespace = "%s", shard = true, prune = { "metadata.managedFields" } })

local function say(what, object)
  print(("%%s %%.6f %%s %%s"):format(what, k8s.now(), object:name(), object:resource_version()))
end

local function call(object)
  say("b", object)
  k8s.sleep "5ms"
  say("e", object)
end

objects:add_event_handler {
  concurrency = 500,
  OnAdd = call,
  OnUpdate = function(_, object) call(object) end,
  OnLost = function(object, ev) say(ev.shard == "lost" and "l" or "?", object) end,
  OnDelete = function(object) say("d", object) end,
}

-- The slots that it owns, as "0-1364,2000", by a text in each.
local texts = { %s }
local function slots()
  local list, first = {}, nil
  for slot = 1, 4097 do
    local owned = slot < 4097 and k8s.shard.owns(texts[slot])
    if owned and not first then first = slot end
    if first and not owned then
      list[#list + 1] = ("%%d-%%d"):format(first - 1, slot - 2)
      first = nil
    end
  end
  return table.concat(list, ",")
end

local known
k8s.every("100ms", function()
  local status = k8s.shard.status()
  local now = status and status.lease .. status.share .. " " .. status.ranges
  if now ~= known then print(("s %%.6f %%s"):format(k8s.now(), slots())) end
  known = now
  print(("have %%d %%d %%d"):format(objects:query():count(), status and status.members or 1,
    objects:has_synced() and 1 or 0))
end)
]]

local Group, Member = {}, {}
Group.__index, Member.__index = Group, Member

local shards = {}

-- given: server (its URL), args (to connect; of a kubeconfig), kind, namespace, lease (seconds), total (objects), whole
-- (nothing is shared).
function shards.group(given)
  local group = setmetatable({ members = {}, all = {}, writes = {}, moments = {}, folder = temp.folder(), changes = 0 },
    Group)
  for name, value in pairs(given) do group[name] = value end
  local texts = history.texts()
  group.script = cluster.script(SCRIPT:format(given.kind, given.namespace,
    '"' .. table.concat(texts, '", "', 0, 4095) .. '"'))
  return group
end

function Group:start()
  local number = #self.all + 1
  local own = relay.start(self.server)
  local log = ("%s/%d.log"):format(self.folder, number)
  local words = {
    "sh", "-c", 'log=$1; shift; exec "$@" > "$log"', "sh", log, cluster.binary, "run", "-f", self.script,
    "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "0", "--admin-socket", "0",
    "--server", own.url,
  }
  if not self.whole then
    words[#words + 1] = "--shard=spec"
    words[#words + 1] = ("--shard-lease-duration=%gs"):format(self.lease)
  end
  for _, word in ipairs(self.args or {}) do words[#words + 1] = word end
  words.stderr = ("%s/%d.err"):format(self.folder, number)
  local member = setmetatable({ number = number, relay = own, log = log, at = 1, rest = "", have = 0 }, Member)
  member.err = words.stderr
  member.process = cluster.start(words)
  self.all[number] = member
  self:moment("start", member)
  self.members[#self.members + 1] = member
  return member
end

-- The last line about its cache that is in its log.
function Member:look()
  local file = io.open(self.log, "rb")
  if not file then return 0 end -- it has yet to begin
  file:seek("set", self.at - 1)
  local text = self.rest .. file:read "*a"
  self.at = file:seek() + 1
  file:close()
  self.rest = text:match "[^\n]*$"
  for have, members in text:gmatch "have (%d+) (%d+) 1\n" do
    self.have, self.sees = tonumber(have), tonumber(members)
  end
  return self.have
end

-- Its share is nobody's from now on, or soon: it is no member any more.
function Group:remove(member)
  for i, one in ipairs(self.members) do
    if one == member then table.remove(self.members, i) end
  end
end

function Member:stop_relay()
  if self.relay then self.relay:stop() end
  self.relay = nil
end

function Group:kill(member)
  self:moment("kill", member)
  member.process:kill "KILL"
  member.process:wait(20)
  self:remove(member)
  member:stop_relay()
end

function Group:terminate(member)
  self:moment("end", member)
  local code = cluster.terminate(member.process, 30)
  self:moment("exit", member)
  self:remove(member)
  member:stop_relay()
  return code
end

-- Begins a fault of a member: "freeze" its process; "cut" its connections; "hold" them, which stay open. Gives the
-- function that ends it.
function Group:fault(what, member)
  self:moment(what, member)
  if what == "freeze" then member.process:kill "STOP" else member.relay[what](member.relay) end
  return function()
    self:moment("end of a " .. what, member)
    if what == "freeze" then member.process:kill "CONT" else member.relay:mend() end
  end
end

-- Counts of the requests to the server so far, by method; of all, and how many of GET were lists and reads, by METHOD
-- and in `done`.
function Member:requests()
  local address = temp.read(self.err):match 'Serving metrics" address="([^"]+)"'
  local _, page = http.new({ server = "http://" .. address }):curl("GET", "/metrics")
  local counts, all = { GET = 0, POST = 0, PUT = 0, DELETE = 0, PATCH = 0, done = 0 }, 0
  for labels, count in page:gmatch "\nrest_client_requests_total{([^}]*)} (%d+)" do
    local method = labels:match 'method="(%u+)"'
    counts[method] = (counts[method] or 0) + tonumber(count)
    all = all + tonumber(count)
  end
  for count in page:gmatch '\nrest_client_request_duration_seconds_count{[^}]*verb="GET"[^}]*} (%d+)' do
    counts.done = counts.done + tonumber(count)
  end
  return counts, all
end

-- Until the members hold all objects, each once, and about as many as the others.
function Group:settle(seconds)
  local function is_shared()
    local sum, even = 0, true
    for _, member in ipairs(self.members) do
      sum = sum + member:look()
      even = even and member.sees == #self.members
    end
    return even and sum == self.total
  end
  await(is_shared, function()
    local list = {}
    for i, member in ipairs(self.members) do
      list[i] = ("%d: %d objects, %s members"):format(member.number, member.have, tostring(member.sees))
    end
    return "all objects with one of " .. #self.members .. " members each; " .. table.concat(list, "; ")
  end, seconds or 60)
  self:moment "settled"
end

-- --- the history

-- Something begins or ends that befalls the group, or one member.
function Group:moment(what, member)
  self.moments[#self.moments + 1] = { what = what, member = member and member.number, at = proc.wall() }
end

local function read(group)
  local all = history.new()
  for _, member in ipairs(group.all) do all:read(member.number, temp.read(member.log)) end
  all:sort()
  return all
end

-- Gives figures of the history: counts of calls, and `waits`, how long what was written waited (shard_history.lua);
-- raises for what may not be. may: seconds by kind of wait.
function Group:check(may)
  local all, missing
  await(function() -- the last ones were written just now
    all = read(self)
    missing = all:unhandled(self.writes)
    return not missing
  end, function() return ("a call for version %.0f of %s"):format(missing.version, missing.name) end, 30)
  all:check_owners(self.changes)
  all.waits = all:waits(self.writes, self.moments, may)
  local late = all.waits.late
  assert(#late == 0, ("%d of %d changes waited too long (%s), such as\n%s"):format(#late, #self.writes,
    history.describe(all.waits, may), table.concat(late, "\n", 1, math.min(3, #late))))
  return all
end

-- Changes one object. A server that is slow is waited for.
function Group:write(api, path, name)
  local at = proc.wall()
  local object = api:patch(path, { metadata = { annotations = { value = tostring(#self.writes + 1) } } })
  self.writes[#self.writes + 1] = { name = name, uid = object.metadata.uid, at = at,
    version = tonumber(object.metadata.resourceVersion) }
end

function Group:stop()
  for _, member in ipairs(self.all) do member:stop_relay() end
  temp.remove(self.folder)
end

return shards
