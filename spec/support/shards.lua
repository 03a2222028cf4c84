-- A group of real engines that share objects, for shards_spec.lua and `./dev prove shards`: each behind a relay of its
-- own, with a log of all its calls, which is checked afterwards. A call is "b TIME NAME VERSION" and, 5 ms later, an
-- "e" alike; one that was cancelled has no end.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
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
k8s.every("100ms", function()
  local status = k8s.shard.status()
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
  local group = setmetatable({ members = {}, all = {}, folder = temp.folder(), changes = 0 }, Group)
  for name, value in pairs(given) do group[name] = value end
  group.script = cluster.script(SCRIPT:format(given.kind, given.namespace))
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
  member.process:kill "KILL"
  member.process:wait(20)
  self:remove(member)
  member:stop_relay()
end

function Group:terminate(member)
  local code = cluster.terminate(member.process, 30)
  self:remove(member)
  member:stop_relay()
  return code
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
end

-- --- the log of all calls

local function read_calls(group)
  local by_name, count = {}, { calls = 0, lost = 0, cancelled = 0 }
  for _, member in ipairs(group.all) do
    local open = {}
    for line in temp.read(member.log):gmatch "([^\n]*)\n" do -- the last one may be half written
      local what, at, name, version = line:match "^([be]) ([%d.]+) (%S+) (%S+)$"
      if what == "b" then
        local call = { at = tonumber(at), member = member.number, version = tonumber(version) }
        by_name[name] = by_name[name] or {}
        table.insert(by_name[name], call)
        open[name .. version] = call
        count.calls = count.calls + 1
        count.cancelled = count.cancelled + 1
      elseif what == "e" then
        local call = assert(open[name .. version], "an end without a beginning: " .. line)
        if not call.over then count.cancelled = count.cancelled - 1 end
        call.over = tonumber(at)
      elseif line:find "^l " then
        count.lost = count.lost + 1
      elseif line:find "^[?d] " then
        error("an object that was lost without a mark, or deleted by nobody: " .. line)
      end
    end
  end
  return by_name, count
end

-- No call of one replica may begin while another one's of the same object is under way; who had an object may have it
-- again only after a change of the members.
local function check_owners(group, name, calls)
  table.sort(calls, function(a, b) return a.at < b.at end)
  local turns, last = 1, calls[1]
  for i = 2, #calls do
    local call = calls[i]
    if call.member ~= last.member then
      turns = turns + 1
      assert(not last.over or last.over <= call.at, ("%s: %d began at %.6f, %d ended at %.6f"):format(name, call.member,
        call.at, last.member, last.over or 0))
    end
    last = call
  end
  assert(turns <= 2 * group.changes + 1,
    ("%s had %d owners one after another, in %d changes"):format(name, turns, group.changes))
end

-- When the version was handled first; nil if it was not.
local function handled_at(calls, version)
  local first
  for _, call in ipairs(calls or {}) do
    if call.version == version and (not first or call.at < first) then first = call.at end
  end
  return first
end

-- written: by name, the last version and when it was written. Gives figures; raises for what may not be.
function Group:check(written)
  local by_name, count, missing
  await(function() -- the last ones were written just now
    by_name, count = read_calls(self)
    missing = nil
    for name, write in pairs(written) do
      if not handled_at(by_name[name], write.version) then missing = name end
    end
    return not missing
  end, function() return ("a call for version %.0f of %s"):format(written[missing].version, missing) end, 30)
  for name, calls in pairs(by_name) do check_owners(self, name, calls) end
  count.longest = 0
  for name, write in pairs(written) do
    count.longest = math.max(count.longest, handled_at(by_name[name], write.version) - write.at)
  end
  return count
end

-- The change of one object; `written` learns of it. A server that is slow is waited for.
function Group:write(api, path, name, written)
  self.value = (self.value or 0) + 1
  local at = proc.wall()
  local object = api:patch(path, { metadata = { annotations = { value = tostring(self.value) } } })
  written[name] = { version = tonumber(object.metadata.resourceVersion), at = at }
end

function Group:stop()
  for _, member in ipairs(self.all) do member:stop_relay() end
  temp.remove(self.folder)
end

return shards
