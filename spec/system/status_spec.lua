-- `kubelua status`: what a running engine tells of itself by its admin socket.
local cjson = require "cjson"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

-- A folder for sockets; every spec has its own.
local folder

local function watched(server, script, args)
  local path = folder .. "/admin.sock"
  local engine = cluster.run(server, cluster.script(script), { "--admin-socket", path, unpack(args or {}) })
  function engine.status(...)
    local p = cluster.kubelua { "status", "--admin-socket", path, ... }
    local code = p:wait()
    return p.streams.out.text, code, p.streams.err.text
  end
  -- Asks until `good` of the decoded answer gives something.
  function engine.await(good)
    local text, code, err
    return await(function()
      text, code, err = engine.status "-ojson"
      return code == 0 and good(cjson.decode(text))
    end, function() return text .. err .. engine:report() end)
  end
  return engine
end

local function informer(status, kind)
  for _, one in ipairs(status.informers) do
    if one.kind == kind then return one end
  end
end

-- What a handler is, without what it took.
local function without_times(handler)
  for _, name in ipairs { "calls", "callMicroseconds", "cpuMilliseconds", "timedCalls", "latencyMicroseconds" } do
    assert.is_number(handler[name])
    handler[name] = nil
  end
  return handler
end

describe("kubelua status #threads", function()
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("shows schedules and timers, and when they are due", function()
    local sim = cluster.sim {}
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.cron("0 3 29 2 *", function() end, { tz = "Europe/Berlin", leader = true })
      k8s.every("1h", function() end)
      k8s.every("10ms", function() k8s.sleep "1h" end)
    ]])
    local status = engine.await(function(status) return status.timers[3] and status.timers[3].calls == 1 and status end)
    local cron, hour, waits = unpack(status.timers)
    assert.are.equal("cron 0 3 29 2 * Europe/Berlin", cron.timer)
    assert.has_match("^20%d%d%-02%-29T02:00:00Z$", cron.due)
    assert.has_match("%.lua:2$", cron.place)
    assert.are.equal("every 1h", hour.timer)
    assert.has_match("^20", hour.due)
    assert.is_nil(waits.due)
    assert.has_match("\nSCHEDULE +DUE IN +RUNNING +SKIPPED\ncron 0 3 29 2 %* Europe/Berlin +%w+ +0 +0\n"
      .. " +on the leader only\n$", (engine.status()))
    assert.has_match("\nevery 1h +%w+ +0 +0 +%S+%.lua:3\nevery 10ms +%- +1 +0 +%S+%.lua:4\n$",
      (engine.status "-owide"))
  end)

  it("shows the engine, its scripts and its informers", function()
    local sim = cluster.sim { "--pods", "30" }
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.reads { "nodes:list", "secrets:get", "/readyz" }
      k8s.writes { "pods/status:patch" }
      k8s.informer("po"):on_add(function() end)
      k8s.informer("pods"):on_add(function(pod) if pod:name():find "" then error "no" end end)
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    local pods = engine.await(function(status) return status.engine.ready and informer(status, "po") end)
    assert.are.equal("synced", pods.state)
    assert.are.equal(30, pods.objects)
    assert.is_true(pods.bytes > 1000)
    assert.are.equal(2, pods.claims)
    assert.are.equal(1, #pods.scripts)
    assert.are.equal("v1", pods.apiVersion)
    assert.are.not_equal("", pods.resourceVersion)
    assert.are.not_equal("", pods.syncedBy)
    local status = engine.await(function(status) return status end)
    assert.are.equal(engine.pid, status.engine.pid)
    assert.are.equal(sim.server, status.engine.server)
    assert.is_true(status.engine.memoryBytes > 1e6)
    assert.are.equal(1, #status.informers)
    assert.are.equal(2, status.scripts[1].handlers)
    assert.are.equal(60, status.scripts[1].adds)
    assert.are.equal(30, status.scripts[1].errors)
    assert.are.same({ "nodes:list", "secrets:get", "/readyz" }, status.scripts[1].reads)
    assert.are.same({ "pods/status:patch" }, status.scripts[1].writes)
    local text, code = engine.status()
    assert.are.equal(0, code)
    assert.has_match("^kubelua [%d.]+  ready  pid %d+  up %w+  memory [%d.]+Mi", text)
    assert.has_match("\nINFORMER +STATE +AGE +OBJECTS +MEMORY +SYNCED BY +HEARD\npods +synced +%w+ +30 ", text)
    local wide = engine.status "-owide"
    assert.has_match("SCRIPTS\n", wide, 1, true)
    assert.has_match("\npods +synced [^\n]+\n$", wide) -- no line below it: it has no more to say
    assert.has_match("\n- name: pods\n  cluster: \"\"\n  kind: po\n", engine.status "-oyaml", 1, true)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("reports which informer is in which trouble, and that the others are well (B-7, I-20)", function()
    local sim = cluster.sim { "--pods", "3" }
    sim:forbid("configmaps", "configmaps is forbidden: no rights")
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("configmaps", { namespace = "default" })
      k8s.informer("gadgets.example.com")
      k8s.informer("pods")
    ]])
    engine.await(function(status)
      return informer(status, "pods").state == "synced" and informer(status, "configmaps").state == "forbidden"
    end)
    local status = engine.await(function(status) return status end)
    assert.is_false(status.engine.ready)
    assert.has_match("no rights", informer(status, "configmaps").cause, 1, true)
    assert.are.equal("unknown kind", informer(status, "gadgets.example.com").state)
    local text = engine.status()
    assert.has_match("\nconfigmaps in default +forbidden +%w+ +0 +0 +%- +%-\n    failed to [^\n]*no rights\n", text)
    assert.has_match("\ngadgets.example.com +unknown kind ", text)
    sim:play { ["do"] = "clear" }
    sim.api:create(configmaps, { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a" } })
    engine.await(function(later)
      local one = informer(later, "configmaps")
      return one.state == "synced" and one.objects == 1 and one.cause == ""
    end)
  end)

  it("counts what failed of a script, whichever of its functions it was", function()
    local sim = cluster.sim { "--pods", "3" }
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("pods", { transform = function(pod) return pod.no.such end })
      local pods = k8s.informer("pods")
      pods:add_index("bad", function(pod) return pod.no.such end)
      pods:on_add(function() end, { id = "picky", filter = function(pod) return pod.no.such end })
      pods:on_add(function(pod) return pod.no.such end, { id = "hasty" })
      k8s.after("10ms", function() error "late" end)
      local queue = k8s.queue { name = "work", max_retries = 0 }
      queue:run(function() return nil, "no" end)
      queue:add "key"
      k8s.main(function() error "main" end)
      k8s.on_leader(function() error "lead" end)
    ]], { "--metrics-bind-address", "127.0.0.1:0" })
    local status = engine.await(function(status) return status.scripts[1].errors == 16 and status end)
    local text = engine.status()
    assert.has_match(" ERRORS +MEMORY\n[^\n]+ failed [^\n]+ 16 +[%d.]+Ki\n    main: failed: [^\n]+%.lua:11: main\n",
      text)
    assert.has_match("; errors: handler 3, filter 3, worker 1, timer 1, on_leader 1, main 1, transform 3, index 3\n",
      engine.status "-owide")
    local one = status.scripts[1]
    assert.are.equal("failed", one.mainState)
    assert.has_match("^failed: [^\n]+%.lua:11: main$", one.main)
    assert.are.same({ handler = 3, filter = 3, worker = 1, timer = 1, on_leader = 1, main = 1, transform = 3,
      index = 3, command = 0, on_stop = 0, webhook = 0, sink = 0 }, one.errorsByCall)
    assert.are.same({ id = "hasty", kind = "pods", pending = 0, debounced = 0, busy = 0, concurrency = 1, errors = 3 },
      without_times(one.eventHandlers[2]))
    local _, page = api.new({ server = "http://" .. status.engine.metricsAddress }):curl("GET", "/metrics")
    local counts = { handler = 3, filter = 3, timer = 1, worker = 1, on_leader = 1, main = 1, transform = 3, index = 3 }
    for call, count in pairs(counts) do
      assert.has_match(('script_errors_total{script="[^"]+",call="%s"} %d\n'):format(call, count), page)
    end
    assert.has_match('transform_errors_total{name="pods, transformed by [^"]+",resource="pods"} 3\n', page)
    assert.has_match('index_errors_total{script="[^"]+",index="bad"} 3\n', page)
    for handler, count in pairs { picky = 3, hasty = 3, ["queue/work"] = 1 } do
      assert.has_match(('handler_errors_total{script="[^"]+",handler="%s"} %d\n'):format(handler, count), page)
    end
  end)

  it("reports what main waits for, and which handlers are behind", function()
    local sim = cluster.sim { "--pods", "3" }
    sim:forbid("configmaps", "configmaps is forbidden: no rights")
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("configmaps", { namespace = "default" })
      k8s.informer("pods"):on_add(function() k8s.sleep "1h" end, { id = "slow" })
      k8s.main(function() k8s.sleep "1h" end)
    ]])
    local status = engine.await(function(status)
      return status.scripts[1].pending == 3 and informer(status, "configmaps").state == "forbidden" and status
    end)
    local one = status.scripts[1]
    assert.are.equal("waiting", one.mainState)
    assert.has_match("^waiting for configmaps in default: forbidden for %d+ s: [^\n]+ no rights$", one.main)
    assert.are.same({ id = "slow", kind = "pods", pending = 2, debounced = 0, busy = 1, concurrency = 1, errors = 0 },
      without_times(one.eventHandlers[1]))
    local text = engine.status()
    assert.has_match("SCRIPT +MAIN +HANDLERS +PENDING [^\n]+\n[^\n]+ waiting +1 +3 ", text)
    assert.has_match("\n    main: waiting for configmaps in default: ", text)
    assert.has_match("; pending: slow 2 %(busy 1 of 1%)\n", engine.status "-owide")
    sim:play { ["do"] = "clear" }
    engine.await(function(later) return later.scripts[1].main == "running" end)
  end)

  it("reports that a transform dropped everything, and names one that forgot to return", function()
    local sim = cluster.sim { "--pods", "3" }
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("pods", { transform = function(pod) return nil end })
      k8s.informer("nodes", { transform = function(node) node.status = nil end })
    ]], { "--metrics-bind-address", "127.0.0.1:0" })
    local status = engine.await(function(status)
      return informer(status, "pods").transformDropped == 3 and informer(status, "nodes").transformErrors > 0 and status
    end)
    assert.has_match("\n    objects were dropped by the transform, 3 in all\n", (engine.status()))
    assert.are.equal(0, informer(status, "nodes").transformDropped)
    engine:wait_error "a transform must return the object, a changed copy, or nil to drop it"
    local _, page = api.new({ server = "http://" .. status.engine.metricsAddress }):curl("GET", "/metrics")
    assert.has_match('transform_dropped_total{name="pods, transformed by [^"]+",resource="pods"} %d\n', page)
  end)

  it("reports that objects were refused", function()
    local sim = cluster.sim { "--pods", "3" }
    local engine = watched(sim.server, [[require("k8s").informer("pods")]], { "--max-object-size", "1Ki" })
    engine.await(function(status) return informer(status, "pods").refused == 3 end)
    assert.has_match("\n    objects were refused, 3 in all: see the log\n", (engine.status()))
  end)

  it("reports why no kinds are known, and distinguishes the informers of one kind all the same", function()
    local engine = watched("http://127.0.0.1:1", [[
      local k8s = require "k8s"
      k8s.informer "pods"
      k8s.informer("pods", { selector = "app=web" })
      k8s.informer("pods", { metadata_only = true })
      k8s.informer("pods", { prune = { "metadata.managedFields" }, field_selector = "status.phase=Running" })
      k8s.informer("pods", { namespaces = { "a", "b" } })
      k8s.informer("pods", { namespaces = { "a", "c" }, fields = { "spec.nodeName" } })
    ]])
    engine.await(function(status) return status.engine.discoveryError ~= "" end)
    local text = engine.status()
    assert.has_match("\nserver: unreachable for %d+s: connect to 127.0.0.1:1: Connection refused\n", text)
    for _, name in ipairs {
      "pods", "pods with labels app=web", "pods, metadata only",
      "pods with field selector status.phase=Running, prune metadata.managedFields",
      "pods in 2 namespaces", "pods in 2 namespaces, fields spec.nodeName",
    } do
      assert.has_match("\n" .. name .. " +pending +", text)
    end
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("reports for how long discovery has been running, as long as it does", function()
    local sim = cluster.sim()
    sim:kill "STOP"
    local engine = watched(sim.server, [[require("k8s").informer "pods"]])
    local asking = engine.await(function(status) return status.engine.discoveryAsking and status.engine end)
    assert.are.equal("", asking.discoveryError)
    local why = "waiting for discovery for "
    assert.has_match("^pods: pending for %d+ s: " .. why .. "%d+ s$", asking.lagging)
    assert.has_match("\ndiscovery: " .. why .. "%d+s\n", (engine.status()))
    sim:kill "CONT"
    engine.await(function(status) return status.engine.ready and not status.engine.discoveryAsking end)
    assert.has_no_match("discovery", (engine.status()), 1, true)
  end)

  it("shows each namespace of a set by itself", function()
    local sim = cluster.sim()
    for _, namespace in ipairs { "a", "b" } do
      sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = namespace } })
    end
    sim:forbid("configmaps", "not in b", "b")
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("configmaps", { namespaces = { "a", "b" } })
      k8s.informer("configmaps", { namespace = "a" })
      k8s.informer("configmaps", { metadata_only = true })
    ]])
    engine.await(function(status)
      local set = informer(status, "configmaps")
      return set.state == "forbidden" and set.parts[1].state == "synced"
    end)
    local text = engine.status()
    assert.has_match("\nconfigmaps in 2 namespaces +forbidden [^\n]*\n  configmaps in a +synced [^\n]*\n"
      .. "  configmaps in b +forbidden [^\n]*\n    [^\n]*not in b", text)
    assert.has_match("\nconfigmaps in a +synced ", text)
    assert.has_match("\nconfigmaps, metadata only[^\n]* +synced ", text)
  end)

  it("reports that no engine listens, and exits with 2", function()
    local p = cluster.kubelua { "status", "--admin-socket", folder .. "/nobody.sock" }
    assert.are.equal(2, p:wait())
    assert.are.equal("kubelua status: no engine is listening on " .. folder .. "/nobody.sock\n", p:err())
  end)

  it("reports that the engine is busy when a handler never returns", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = watched(sim.server, [[
      require("k8s").informer("pods"):on_add(function() print "stuck" while true do end end)
    ]], { "--shutdown-timeout", "100ms", "--limit", "handler-cpu=1h" })
    engine:wait_line "^stuck$"
    local _, code, err = engine.status()
    assert.are.equal(2, code)
    assert.has_match("the engine is busy: script [^%s]+ is executing a handler\n", err)
    engine:wait_error '"Engine thread is blocked[^"]*" reason="script [^%s]+ is executing a handler"'
    engine:kill "TERM"
    engine:wait()
  end)

  it("takes the place of an engine that was killed, not of one that runs", function()
    local script = [[ require("k8s").main(function() print "up" end) ]]
    local engine = watched("http://127.0.0.1:1", script)
    engine:wait_line "^up$"
    local second = watched("http://127.0.0.1:1", script)
    assert.are.equal(2, second:wait())
    assert.has_match("/admin.sock: in use by another process", second:err(), 1, true)
    engine:kill "KILL"
    engine:wait()
    local third = watched("http://127.0.0.1:1", script)
    third:wait_line "^up$"
    assert.are.equal(0, select(2, third.status()))
    assert.are.equal(0, cluster.terminate(third))
    assert.is_nil(io.open(folder .. "/admin.sock"))
  end)
end)
