-- Elections between engines on one server, as specs that run on the simulated and on the real one. That never two lead
-- is proved twice: by the ticks of all engines, each with its time, which follow one another and never interleave; and
-- by the history of the lease, as a watch brought it: each tick lies within the lease of the engine that made it.
local assert = require "luassert"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local relay = require "spec.support.relay"

local leaders = {}

local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
local configmaps = "/api/v1/namespaces/default/configmaps"
local duration, renew, retry = 3, 2, 0.5 -- of spec/support/scripts/leader.lua
local slack = 1.5 -- for a machine that has other work too

-- An engine with a relay of its own.
local function start(w, script)
  local own = relay.start(w.sim and w.sim.server or w.server.url)
  local args = { "run", "-f", script or "spec/support/scripts/leader.lua", unpack(w.args) }
  args[#args + 1] = "--server=" .. own.url
  args[#args + 1] = "--limit=writes=1000000"
  local engine = cluster.kubelua(args)
  engine.relay = own
  w.engines[#w.engines + 1] = engine
  engine.name = engine:wait_line "^ready (%S+)"
  return engine
end

-- Until it leads for the `nth` time.
local function lead(engine, nth)
  engine:wait_until(function() return select(2, engine:out():gsub("start %d", "")) >= (nth or 1) end, "to lead")
end

-- Until it has printed that, at any time.
local function has_said(engine, text)
  engine:wait_until(function() return engine:out():find(text, 1, true) end, text)
end

-- Objects as they change: a watch by curl.
local function watch(w, path)
  local words = { "curl", "--silent", "--no-buffer" }
  for flag, value in pairs { cacert = w.api.ca, cert = w.api.cert, key = w.api.key } do
    words[#words + 1] = "--" .. flag
    words[#words + 1] = value
  end
  words[#words + 1] = w.api.server .. path .. "?watch=true&resourceVersion=0"
  return proc.spawn(words)
end

local function epoch(microtime)
  local year, month, day, hour, min, sec, fraction = microtime:match "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)(%.%d+)Z$"
  local noon = os.time { year = 2026, month = 1, day = 2, hour = 12 }
  local zone = os.difftime(noon, os.time(os.date("!*t", noon)))
  return os.time { year = year, month = month, day = day, hour = hour, min = min, sec = sec } + zone
    + tonumber(fraction)
end

local function history(watcher)
  local list = {}
  for line in watcher:out():gmatch "([^\n]+)\n" do
    local event = cjson.decode(line)
    local spec = event.object.spec
    if event.object.metadata.name == "rules" then
      list[#list + 1] = {
        holder = spec.holderIdentity, renewed = epoch(spec.renewTime), transitions = spec.leaseTransitions,
        ends = epoch(spec.renewTime) + spec.leaseDurationSeconds,
      }
    end
  end
  return list
end

local function ticks(engines)
  local list = {}
  for i, engine in ipairs(engines) do
    for time in engine:out():gmatch "tick (%d+%.%d+)" do list[#list + 1] = { engine = i, time = tonumber(time) } end
  end
  table.sort(list, function(a, b) return a.time < b.time end)
  return list
end

-- The engines in the order in which they led, by their ticks: "1 2 1".
local function sequence(list)
  local words = {}
  for i, tick in ipairs(list) do
    if i == 1 or list[i - 1].engine ~= tick.engine then words[#words + 1] = tostring(tick.engine) end
  end
  return table.concat(words, " ")
end

-- The longest time without a leader.
local function longest_gap(list)
  local gap = 0
  for i = 2, #list do
    if list[i].engine ~= list[i - 1].engine then gap = math.max(gap, list[i].time - list[i - 1].time) end
  end
  return gap
end

-- Identities are learned from the log.
local function identity(engine) return engine:err():match 'Became leader".-identity="([^"]+)"' end

-- Whether the server had given the lease to that engine then.
local function is_leased(holder, time, leased)
  for _, entry in ipairs(leased) do
    if entry.holder == holder and time >= entry.renewed and time <= entry.ends then return true end
  end
  return false
end

-- Each tick lies in a lease of its engine. The watch may be a little behind the engines.
local function assert_within_leases(w, list)
  local holders = {}
  for i, engine in ipairs(w.engines) do holders[i] = identity(engine) end
  local last = list[#list]
  w.watcher:wait_until(function() return is_leased(holders[last.engine], last.time, history(w.watcher)) end,
    "the lease of the last tick")
  local leased = history(w.watcher)
  for _, tick in ipairs(list) do
    assert.is_true(is_leased(holders[tick.engine], tick.time, leased),
      ("engine %d led at %.6f without a lease"):format(tick.engine, tick.time))
  end
end

local function prove(w, expected)
  for _, engine in ipairs(w.engines) do
    if not engine.exit_code then engine:pump(proc.now() + 0.2) end
  end
  local list = ticks(w.engines)
  assert.are.equal(expected, sequence(list))
  assert_within_leases(w, list)
  return longest_gap(list)
end

-- What the specs of a run show: the time without a leader.
local function show(w, what, gap)
  print(("    %s: %.2f s without a leader (%s, lease %d s, renew %d s, retry %.1f s)"):format(what, gap,
    w.sim and "sim" or "real", duration, renew, retry))
end

local cases = {}
local function case(title, check) cases[#cases + 1] = { title = title, check = check } end

case("hand over when the leader is killed, within the lease and a try (L-5, L-6)", function(w)
  local first = start(w)
  lead(first)
  local second = start(w)
  first:wait_line "^tick"
  first:kill "KILL"
  first:wait()
  lead(second)
  second:wait_line "^tick"
  local gap = prove(w, "1 2")
  show(w, "kill -9", gap)
  assert.is_true(gap <= duration + 2.2 * retry + slack, "it took " .. gap)
  local last = history(w.watcher)
  assert.are.equal(1, last[#last].transitions) -- L-7
end)

case("hand over when the leader ends, within a try: it gives the lease back (L-8)", function(w)
  local first = start(w)
  lead(first)
  local second = start(w)
  first:wait_line "^tick"
  assert.are.equal(0, cluster.terminate(first))
  assert.has_match("\nstop %d", first:out())
  lead(second)
  second:wait_line "^tick"
  local gap = prove(w, "1 2")
  show(w, "SIGTERM", gap)
  assert.is_true(gap <= 2.2 * retry + slack, "it took " .. gap)
  local released = false
  for _, entry in ipairs(history(w.watcher)) do released = released or entry.holder == "" end
  assert.is_true(released)
end)

case("have no second leader when the first stands still and comes back", function(w)
  local first = start(w)
  lead(first)
  local second = start(w)
  first:wait_line "^tick"
  first:kill "STOP"
  lead(second)
  second:wait_line "^tick"
  first:kill "CONT"
  first:wait_line "^stop"
  second:wait_line "^tick"
  show(w, "SIGSTOP", prove(w, "1 2"))
end)

case("have no second leader when the first loses its network, and it leads again after the second", function(w)
  local first = start(w)
  lead(first)
  local second = start(w)
  first:wait_line "^tick"
  first.relay:hold()
  first:wait_line "^stop"
  lead(second)
  second:wait_line "^tick"
  show(w, "a silent network", prove(w, "1 2"))
  first.relay:mend()
  assert.are.equal(0, cluster.terminate(second))
  lead(first, 2)
  first:wait_line "^tick"
  prove(w, "1 2 1")
end)

-- Whatever engines have open is dead, and nobody tells them: with the timeouts of these times a second try over such a
-- connection would cost the leadership.
case("go on leading when their connections die silently, over a new one (L-3)", function(w)
  local first = start(w)
  lead(first)
  local second = start(w)
  first:wait_line "^tick"
  w.watcher:wait_until(function() return #history(w.watcher) > 2 end, "renewals")
  local list = history(w.watcher)
  local before = list[#list].renewed
  first.relay:freeze()
  w.watcher:wait_until(function()
    list = history(w.watcher)
    return list[#list].renewed > before + duration + renew
  end, "renewals beyond the lease")
  assert.has_no_match("stop", first:out(), 1, true)
  assert.has_no_match("start", second:out(), 1, true)
  prove(w, "1")
end)

case("show each new leader the cache, and what comes after it, without a gap or a repetition", function(w)
  local function create(name)
    w.api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default",
        labels = { ["for"] = "leaders" } },
    })
  end
  create "one"
  local first = start(w)
  lead(first)
  has_said(first, "add one true")
  create "two"
  has_said(first, "add two false")
  local second = start(w)
  first:kill "KILL"
  create "three" -- nobody leads
  lead(second)
  second:wait_line "^tick"
  create "four"
  has_said(second, "add four false")
  local adds = {}
  for name in second:out():gmatch "add (%w+)" do adds[#adds + 1] = name end
  local told = table.concat(adds, " ")
  table.sort(adds)
  assert.are.equal("four one three two", table.concat(adds, " "), told)
  for _, name in ipairs(adds) do w.api:delete(configmaps .. "/" .. name) end
end)

-- Who wrote, in the order of the server's versions.
local function writers(watcher)
  local list = {}
  for line in watcher:out():gmatch "([^\n]+)\n" do
    local data = cjson.decode(line).object.data
    if data and data.by and list[#list] ~= data.by then list[#list + 1] = data.by end
  end
  return table.concat(list, " ")
end

for title, finish in pairs {
  ["it is killed"] = function(first) first:kill "KILL" end,
  ["it ends"] = function(first) first:kill "TERM" end,
  ["it stands still and comes back"] = function(first) first:kill "STOP" end,
} do
  case("have only the leader write, and nothing of the first comes after the second when " .. title, function(w)
    local written = configmaps .. "/written"
    w.api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "written", namespace = "default" },
    })
    local watcher = watch(w, configmaps)
    local ok, err = pcall(function()
      local first = start(w, "spec/support/scripts/leader_writes.lua")
      lead(first)
      local second = start(w, "spec/support/scripts/leader_writes.lua")
      first:wait_line "^wrote"
      finish(first)
      lead(second)
      second:wait_line "^wrote"
      first:kill "CONT"
      if title:find "comes back" then first:wait_line "^stop" end
      second:wait_line "^wrote"
      watcher:wait_until(function() return writers(watcher):find(second.name, 1, true) end, "a write of the second")
      assert.are.equal(first.name .. " " .. second.name, writers(watcher))
      assert.has_no_match("failed", second:out(), 1, true)
    end)
    watcher:kill "KILL"
    watcher:wait()
    w.api:delete(written)
    if not ok then error(err, 0) end
  end)
end

-- Adds the cases to a describe; `world` gives the world of the moment.
function leaders.specify(it, world)
  for _, one in ipairs(cases) do
    it(one.title, function()
      local w = world()
      w.engines = {}
      w.watcher = watch(w, leases)
      local ok, err = pcall(one.check, w)
      for _, engine in ipairs(w.engines) do
        if not engine.exit_code then
          engine:kill "CONT"
          engine:kill "KILL"
          engine:wait()
        end
        engine.relay:stop()
      end
      w.watcher:kill "KILL"
      w.watcher:wait()
      w.api:curl("DELETE", leases .. "/rules")
      if not ok then error(err, 0) end
    end)
  end
end

return leaders
