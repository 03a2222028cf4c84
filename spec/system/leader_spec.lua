-- Elections between engines on the simulated server (spec/support/leaders.lua; spec/real/leader_spec.lua has the real
-- one), and what flags, metrics, probes and the status say of them (L-1, L-10, L-11).
local api = require "spec.support.api"
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local leaders = require "spec.support.leaders"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"
local world = require "spec.support.world"

describe("engines on the simulated server #threads", function()
  local w
  setup(function() w = world.simulated() end)
  teardown(function() w.stop() end)
  leaders.specify(it, function() return w end)
end)

local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/"

describe("--leader-elect", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local tells = [[
    local k8s = require "k8s"
    k8s.on_leader(function() print "start" end, function() print "stop" end)
    k8s.main(function() print(k8s.is_leader()) end)
  ]]

  it("has all scripts take part in one election (L-1, L-10, L-13)", function()
    local sim = cluster.sim()
    local socket = folder .. "/admin.sock"
    local args = { "--leader-elect", "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0",
      "--health-probe-bind-address", "127.0.0.1:0" }
    local engine = cluster.run(sim.server, cluster.script(tells), args)
    local metrics = engine:wait_error 'Serving metrics" address="([^"]+)"'
    local health = engine:wait_error 'Serving health probes" address="([^"]+)"'
    engine:wait_line "^start$"
    local lease = sim.api:get(leases .. "kubelua")
    assert.are.equal(15, lease.spec.leaseDurationSeconds)
    local code, page = api.new({ server = "http://" .. metrics }):curl("GET", "/metrics")
    assert.are.equal(200, code)
    assert.has_match('leader_election_master_status{name="default/kubelua"} 1\n', page, 1, true)
    assert.has_match('leader_election_slowpath_total{name="default/kubelua"} 0\n', page, 1, true)
    code, page = api.new({ server = "http://" .. health }):curl("GET", "/livez?verbose")
    assert.are.equal(200, code)
    assert.has_match("[+]leaderElection ok\n", page, 1, true) -- L-11
    local text = temp.run(cluster.binary .. " status -o json --admin-socket " .. socket)
    local status = cjson.decode(text).leases[1]
    assert.are.equal("default kubelua true", ("%s %s %s"):format(status.namespace, status.name, status.leader))
    assert.are.equal(lease.spec.holderIdentity, status.holder)
    assert.are.equal(status.identity, status.holder)
    assert.has_match("^%d+%-%d%d%-%d%dT", status.renewed)
    assert.has_match("default/kubelua  this process  " .. status.holder,
      (temp.run(cluster.binary .. " status --admin-socket " .. socket)), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match("\nstop\n", engine:out(), 1, true)
    assert.has_match('\n[^\n]*"Stopped" [^\n]*\n$', engine:err())
    assert.are.equal("", sim.api:get(leases .. "kubelua").spec.holderIdentity) -- L-8
    local event = sim.api:get("/api/v1/namespaces/default/events").items[1]
    assert.are.equal("LeaderElection", event.reason)
    assert.are.equal(status.holder .. " became leader", event.message)
    assert.are.equal("Lease kubelua", event.involvedObject.kind .. " " .. event.involvedObject.name)
  end)

  it("has the holder's last renewal and the identity of this process; an unknown holder is none", function()
    local sim = cluster.sim()
    local socket = folder .. "/admin.sock"
    sim.api:create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {
      apiVersion = "coordination.k8s.io/v1", kind = "Lease", metadata = { name = "kubelua" },
      spec = { holderIdentity = "other", leaseDurationSeconds = 60, renewTime = "2026-01-01T00:00:00.000000Z" },
    })
    local engine = cluster.run(sim.server, cluster.script(tells), { "--leader-elect", "--admin-socket", socket,
      "--leader-elect-lease-duration=2s", "--leader-elect-renew-deadline=1500ms",
      "--leader-elect-retry-period=100ms" })
    engine:wait_error 'New leader elected'
    local function status(form)
      return (temp.run(cluster.binary .. " status --admin-socket " .. socket .. (form or "")))
    end
    await(function()
      return status():match("\nLEASE +LEADER +HOLDER +AGE +RENEWED\ndefault/kubelua +no +other +[2-9]s +[2-9]s\n"
        .. "    this process is [^\n]+_%x+\n")
    end, status)
    sim.api:patch(leases .. "kubelua", { spec = { renewTime = "2026-01-01T00:00:01.000000Z" } })
    await(function() return status():match("\ndefault/kubelua +no +other +[2-9]s +[01]s\n") end, status)
    sim.api:patch(leases .. "kubelua", { spec = { holderIdentity = "" } })
    engine:wait_line "^start$"
    sim:play { ["do"] = "fault", resource = "leases", what = "status", code = 500, times = 0 }
    engine:wait_line "^stop$"
    local lost = cjson.decode(status(" -o json")).leases[1]
    assert.are.same({ false, "" }, { lost.leader, lost.holder })
    assert.has_match("\ndefault/kubelua +no +- ", status())
  end)

  it("takes lease, times and identity from flags and the pod", function()
    local sim = cluster.sim()
    local command = { cluster.binary, "run", "--server=" .. sim.server, "-f", cluster.script(tells), "--leader-elect",
      "--leader-elect-resource-name=mine", "--leader-elect-resource-namespace=kube-system",
      "--leader-elect-lease-duration=7s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=1s",
      "--metrics-bind-address=0", "--health-probe-bind-address=0", "--admin-socket=0",
      env = { POD_NAME = "web-0" } }
    local engine = require("spec.support.proc").spawn(command)
    engine:wait_line "^start$"
    local lease = sim.api:get "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/mine"
    assert.are.equal(7, lease.spec.leaseDurationSeconds)
    assert.has_match("^web%-0_%x+$", lease.spec.holderIdentity)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- Its own lease lets a script lead; anybody's would let it take what another leads by.
  it("sets where leases are: one elsewhere is a write that the script declares", function()
    local sim = cluster.sim()
    local elsewhere = [[
      local k8s = require "k8s"
      k8s.leader { lease = "kube-system/kube-scheduler" }
      %s
      k8s.main(function()
        while not k8s.is_leader() do k8s.sleep "10ms" end
        print "leads"
      end)
    ]]
    local scheduler = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
    local function exec(text, ...)
      local p = cluster.kubelua { "exec", "--server=" .. sim.server, cluster.script(text), ... }
      return p:wait(30), p:out(), p:err()
    end
    local message = 'lua:2: k8s.leader: the lease kube-system/kube-scheduler is not in the namespace "default" of '
      .. '--leader-elect-resource-namespace; name none, or declare k8s.writes { '
      .. '"leases.coordination.k8s.io:create", "leases.coordination.k8s.io:update" }'
    for _, flags in ipairs { {}, { "--leader-elect" }, { "--dry-run=client" } } do
      local code, out, err = exec(elsewhere:format "", unpack(flags))
      assert.are.same({ 2, "" }, { code, out }, err)
      assert.has_match(message, err, 1, true)
    end
    for _, verb in ipairs { "check", "rbac" } do
      local p = cluster.kubelua { verb, "--server=" .. sim.server, "-f", cluster.script(elsewhere:format "") }
      assert.are_not.equal(0, p:wait(30))
      assert.has_match(verb == "check" and message:gsub("k8s", "error: k8s", 1) or message, p:out() .. p:err(), 1, true)
    end
    assert.are.equal(404, (sim.api:curl("GET", scheduler)))

    local declared = elsewhere:format [[
      k8s.writes { "leases.coordination.k8s.io:create", "leases.coordination.k8s.io:update" }]]
    assert.are.equal("leads\n", select(2, exec(declared)))
    assert.are.equal("", sim.api:get(scheduler).spec.holderIdentity)
    for _, flag in ipairs { "--leader-elect-resource-namespace=kube-system", "--namespace=kube-system" } do
      assert.are.equal("leads\n", select(2, exec(elsewhere:format "", flag)))
    end
    assert.are.equal(2, (exec(elsewhere:format "", "--leader-elect-resource-namespace=ops")))
  end)

  it("refuses times that do not go together, with code 2 (L-1)", function()
    local engine = cluster.run("http://127.0.0.1:1", cluster.script(tells),
      { "--leader-elect", "--leader-elect-renew-deadline=15s" })
    assert.are.equal(2, engine:wait())
    assert.has_match("kubelua run: the lease duration must be longer than the renew deadline: "
      .. "--leader-elect-lease-duration is 15s, --leader-elect-renew-deadline 15s\n", engine:err(), 1, true)
  end)

  it("is not needed to lead: without an election is_leader() is true", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script(tells))
    engine:wait_line "^start$"
    engine:wait_line "^true$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match("\nstop\n", engine:out(), 1, true)
    assert.are.equal(404, (sim.api:curl("GET", leases .. "kubelua")))
  end)

  -- It sleeps in two calls: waits that were there at the signal, and waits that began later.
  local sleeps = [[
    local k8s = require "k8s"
    k8s.on_leader(function()
      print "start"
      k8s.sleep "1h"
    end, function()
      for i = 1, 2 do k8s.sleep "%s" end
      print "stopped"
    end)
  ]]

  for what, args in pairs { ["the lease"] = { "--leader-elect" }, ["the end without an election"] = {} } do
    it("has functions for the end of leadership wait before " .. what, function()
      local sim = cluster.sim()
      local engine = cluster.run(sim.server, cluster.script(sleeps:format "100ms"), args)
      engine:wait_line "^start$"
      assert.are.equal(0, cluster.terminate(engine))
      assert.are.equal("start\nstopped\n", engine:out())
      assert.has_no_match("Cancelled", engine:err(), 1, true)
    end)

    it("cancels them at --shutdown-timeout, with a line in the log, before " .. what, function()
      local sim = cluster.sim()
      local engine = cluster.run(sim.server, cluster.script(sleeps:format "1h"),
        { "--shutdown-timeout=1s", unpack(args) })
      engine:wait_line "^start$"
      assert.are.equal(0, cluster.terminate(engine))
      assert.are.equal("start\n", engine:out())
      local _, lines = engine:err():gsub('Cancelled k8s.on_leader function that did not finish within '
        .. '%-%-shutdown%-timeout" script="[^"]+" function="stop" given="[^"]+:2"', "")
      assert.are.equal(1, lines, engine:err())
    end)
  end

  it("reports why nobody leads while the server cannot be reached, and the end does not wait", function()
    local socket = folder .. "/admin.sock"
    local engine = cluster.run("http://127.0.0.1:1", cluster.script(tells), { "--leader-elect", "--admin-socket",
      socket })
    engine:wait_error 'Leader election failed" lease="kubelua"'
    engine:wait_line "^false$"
    local status = cjson.decode((temp.run(cluster.binary .. " status -o json --admin-socket " .. socket))).leases[1]
    assert.is_false(status.leader)
    assert.has_match("refused", status.cause)
    assert.are.equal(0, cluster.terminate(engine, 5))
    assert.has_no_match("stop", engine:out(), 1, true)
  end)

  -- Whoever tries a script out may not take the lease from the engine that does the work.
  for _, mode in ipairs { "client", "server" } do
    for what, elects in pairs { ["--leader-elect"] = "--leader-elect", ["k8s.leader"] = false } do
      it("has no election with --dry-run=" .. mode .. " and " .. what .. ": it leads, and so does another", function()
        local sim = cluster.sim()
        local path = folder .. "/x.lua"
        local text = elects and tells or tells:gsub("\n", "\nk8s.leader { lease = 'kubelua' }\n", 1)
        temp.write(path, text .. "k8s.every('50ms', function() print 'tick' end, { leader = true })\n")
        local socket = folder .. "/admin.sock"
        local dry = cluster.run(sim.server, path, { "--dry-run", mode, "--admin-socket", socket, elects or nil })
        dry:wait_line "^start$"
        dry:wait_line "^true$"
        dry:wait_line "^tick$"
        assert.has_match('Leader election is disabled by --dry-run, all scripts lead" leases=1\n', dry:err(), 1, true)
        assert.are.equal(404, (sim.api:curl("GET", leases .. "kubelua")))
        local status = cjson.decode((temp.run(cluster.binary .. " status -o json --admin-socket " .. socket)))
        assert.are.equal(0, #status.leases)
        local engine = cluster.run(sim.server, path, { elects or nil })
        engine:wait_line "^start$"
        local lease = sim.api:get(leases .. "kubelua")
        assert.are.equal(engine:err():match 'Became leader".-identity="([^"]+)"', lease.spec.holderIdentity)
        assert.are.equal(0, cluster.terminate(dry))
        assert.has_match("\nstop\n", dry:out(), 1, true)
        local after = sim.api:get(leases .. "kubelua").spec
        assert.are.equal(lease.spec.holderIdentity .. " 0", after.holderIdentity .. " " .. after.leaseTransitions)
        assert.has_no_match("stop", engine:out(), 1, true)
        local events = sim.api:get("/api/v1/namespaces/default/events").items
        assert.are.equal(1, #events)
        assert.are.equal(lease.spec.holderIdentity .. " became leader", events[1].message)
      end)
    end
  end

  it("is checked with --dry-run all the same", function()
    for _, case in ipairs {
      { "k8s.leader { duration = '15s', renew = '15s' }", "the lease duration must be longer than the renew deadline" },
      { "k8s.leader { duration = '5s' }",
        "longer than the renew deadline: duration is 5s, --leader-elect-renew-deadline 10s" },
      { "k8s.leader {} k8s.leader {}", "k8s.leader was already called" },
    } do
      local engine = cluster.run("http://127.0.0.1:1", cluster.script("local k8s = require 'k8s'\n" .. case[1]),
        { "--dry-run=client" })
      assert.are.equal(2, engine:wait())
      assert.has_match(case[2], engine:err(), 1, true)
    end
  end)

  it("has exec release its lease too", function()
    local sim = cluster.sim()
    local engine = cluster.kubelua { "exec", "--server=" .. sim.server, "--leader-elect", cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        while not k8s.is_leader() do k8s.sleep "10ms" end
        return 7
      end)
    ]] }
    assert.are.equal(7, engine:wait())
    assert.are.equal("", sim.api:get(leases .. "kubelua").spec.holderIdentity)
  end)

  -- The process would be ended by force after these five seconds.
  it("ends within --shutdown-timeout though neither lease nor Events reach the server", function()
    local sim = cluster.sim()
    local between = relay.start(sim.server)
    local engine = cluster.run(between.url, cluster.script [[
      local k8s = require "k8s"
      local n = 0
      k8s.every("20ms", function()
        n = n + 1
        k8s.event({ kind = "Namespace", name = "default" }, "Normal", "Tick", "%d", n)
        print("tick", k8s.is_leader())
      end)
    ]], { "--leader-elect", "--shutdown-timeout=5s" })
    engine:wait_line "^tick\ttrue$"
    between:hold()
    engine:wait_line "^tick\ttrue$"
    engine:wait_line "^tick\ttrue$"
    assert.are.equal(0, cluster.terminate(engine, 20))
    assert.has_match("Lease was not released within --shutdown-timeout", engine:err(), 1, true)
    between:stop()
  end)

  local map = "/api/v1/namespaces/default/configmaps/a"
  local patches = [[
    local k8s = require "k8s"
    k8s.writes { "configmaps:*" }
    local n = 0
    local function write()
      while true do
        n = n + 1
        k8s.patch({ kind = "configmaps", namespace = "default", name = "a" }, { data = { n = tostring(n) } })
      end
    end
  ]]
  local ends = {
    ["exec that a signal ends"] = { command = "exec", code = 130, signal = "INT", script = [[
      k8s.main(function()
        while not k8s.is_leader() do k8s.sleep "10ms" end
        print "writing"
        write()
      end)
    ]] },
    ["a stop function without an end"] = { command = "run", code = 0, signal = "TERM", script = [[
      k8s.on_leader(function() print "writing" end, write)
    ]] },
  }

  -- While the release waits for the server nothing more is written, but for the one request that was under way.
  for what, case in pairs(ends) do
    it("writes nothing after its lease was given back: " .. what .. " (L-8)", function()
      local sim = cluster.sim()
      sim.api:create("/api/v1/namespaces/default/configmaps", {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", namespace = "default" },
      })
      local command = { case.command, "--server=" .. sim.server, "--leader-elect", "--shutdown-timeout=6s" }
      command[#command + 1] = "--limit=writes=1000000"
      if case.command == "run" then
        local quiet = { "--metrics-bind-address=0", "--health-probe-bind-address=0", "--admin-socket=0", "-f" }
        for _, flag in ipairs(quiet) do command[#command + 1] = flag end
      end
      command[#command + 1] = cluster.script(patches .. case.script)
      local engine = cluster.kubelua(command)
      engine:wait_line "^writing$"
      sim:play { ["do"] = "fault", what = "delay", ["for"] = "100ms", verb = "get", resource = "leases" }
      engine:kill(case.signal)
      engine:wait_error 'Stopped leading".*reason="(this process ends)"'
      local before = sim.api:get(map).data.n
      assert.are.equal(case.code, engine:wait(20))
      local lease, last = sim.api:get(leases .. "kubelua"), sim.api:get(map)
      assert.are.equal("", lease.spec.holderIdentity)
      assert.is_true(tonumber(last.metadata.resourceVersion) < tonumber(lease.metadata.resourceVersion))
      assert.is_true(tonumber(last.data.n) <= before + 1, before .. " writes, and " .. last.data.n .. " at the end")
      assert.has_match('Cancelled calls because leases are being released" calls=1\n', engine:err(), 1, true)
    end)
  end
end)
