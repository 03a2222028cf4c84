-- Probes of a running engine: /healthz, /livez, /readyz.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

-- An engine with probes on a port of its own; `engine.probe(path)` gives code and body.
local function probed(server, script, args)
  local all = { "--health-probe-bind-address", "127.0.0.1:0", unpack(args or {}) }
  local engine = cluster.run(server, cluster.script(script), all)
  local address = engine:wait_error 'Serving health probes" address="([^"]+)"'
  local http = api.new { server = "http://" .. address }
  engine.address = address
  function engine.probe(path) return http:curl("GET", path) end
  return engine
end

-- Asks until the answer has this code and text; gives the body.
local function answer(engine, path, code, text)
  local got, body
  return await(function()
    got, body = engine.probe(path)
    return got == code and body:find(text, 1, true) and body
  end, function() return ("%s: %s %s"):format(path, got, body) .. engine:report() end)
end

describe("the probes of kubelua run #threads", function()
  after_each(cluster.stop_all)

  it("are ready when every informer has its first list", function()
    local sim = cluster.sim { "--pods", "10" }
    sim:play { ["do"] = "fault", verb = "list", resource = "pods", what = "silence", times = 1, ["for"] = "1h" }
    sim:play { ["do"] = "fault", verb = "watch", resource = "pods", what = "silence", times = 1, ["for"] = "1h" }
    local engine = probed(sim.server, [[
      require("k8s").informer "pods"
      require("k8s").informer("configmaps")
    ]])
    local body = answer(engine, "/readyz", 500, "[-]informer-sync failed: pods: listing for ")
    assert.has_match("[+]ping ok\n", body, 1, true)
    assert.has_match("readyz check failed", body, 1, true)
    assert.are.equal(200, (engine.probe "/livez"))
    sim:play { ["do"] = "clear" }
    engine:kill "TERM"
    assert.are.equal(0, engine:wait())
    engine = probed(sim.server, [[ require("k8s").informer "pods" ]])
    assert.are.equal("ok", answer(engine, "/readyz", 200, "ok"))
    assert.has_match("[+]informer-sync ok\n", answer(engine, "/readyz?verbose", 200, "readyz check passed"), 1, true)
    assert.are.equal("ok", answer(engine, "/readyz/informer-sync", 200, "ok"))
    assert.are.equal(404, (engine.probe "/nothing"))
  end)

  it("report why the server cannot be reached, and still that the process is alive", function()
    local engine = probed("http://127.0.0.1:1", [[ require("k8s").informer "pods" ]])
    answer(engine, "/readyz", 500, "[-]informer-sync failed: pods: pending for ")
    assert.are.equal(200, (engine.probe "/healthz"))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("keep to the point when a server tells the same long story of every kind", function()
    local sim = cluster.sim()
    for _, verb in ipairs { "list", "watch" } do
      sim:play { ["do"] = "fault", verb = verb, what = "status", code = 500, text = ("x"):rep(100000), times = 0 }
    end
    local engine = probed(sim.server, [[
      local kinds = { "pods", "configmaps", "secrets", "services", "nodes", "endpoints", "events" }
      for _, kind in ipairs(kinds) do require("k8s").informer(kind) end
    ]])
    local body
    await(function()
      body = select(2, engine.probe "/readyz")
      return body:find "nodes: %a+ for %d+ s: [^;]*x%.%.%." and body:find "events: [^;]*x%.%.%."
    end, function() return body end)
    assert.is_true(#body < 3500, #body .. " bytes: " .. body)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("respond while a handler never returns", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = probed(sim.server, [[
      require("k8s").informer("pods"):on_add(function() print "stuck" while true do end end)
    ]], { "--shutdown-timeout", "100ms", "--limit", "handler-cpu=1h" })
    engine:wait_line "^stuck$"
    assert.are.equal(200, (engine.probe "/livez"))
    answer(engine, "/readyz", 500, "readyz check failed") -- at the latest when it has been stuck for 5 s
    engine:kill "TERM"
    engine:wait()
  end)

  it("take nothing but GET and HEAD", function()
    local engine = probed("http://127.0.0.1:1", [[ require("k8s").main(function() end) ]])
    local http = api.new { server = "http://" .. engine.address }
    assert.are.equal(405, (http:curl("POST", "/healthz", "x")))
    assert.are.equal(200, (engine.probe "/healthz"))
  end)

  it("end the start with 2 and one line when the port is taken", function()
    local first = probed("http://127.0.0.1:1", [[ require("k8s").main(function() end) ]])
    local second = cluster.run("http://127.0.0.1:1", cluster.script [[ require("k8s").main(function() end) ]],
      { "--health-probe-bind-address", first.address })
    assert.are.equal(2, second:wait())
    assert.has_match("kubelua run: --health-probe-bind-address: cannot listen on " .. first.address
      .. ": Address already in use (use 0 to disable)\n", second:err(), 1, true)
    local wrong = cluster.run("http://127.0.0.1:1", cluster.script "", { "--metrics-bind-address", "8080" })
    assert.are.equal(2, wrong:wait())
    assert.has_match('--metrics-bind-address: "8080" is not an address', wrong:err(), 1, true)
  end)

  it("name the script that delays the others, and when that is over", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = probed(sim.server, [[
      -- A handler does not run in parts.
      require("k8s").informer("pods"):on_add(function()
        print "busy"
        local till = os.time() + 8
        while os.time() < till do end
        print "free"
      end)
    ]], { "--limit", "handler-cpu=1h" })
    engine:wait_line "^busy$"
    local body = answer(engine, "/readyz", 500, "[-]engine-loop failed: the engine thread has been blocked for ")
    assert.has_match("been blocked for %d s: script [^%s]+ is executing a handler\n", body)
    assert.are.equal(200, (engine.probe "/livez"))
    engine:wait_error '"Engine thread is blocked[^"]*" reason="script [^%s]+ is executing a handler" blockedMs=%d+'
    engine:wait_line "^free$"
    answer(engine, "/readyz", 200, "ok")
    engine:wait_error '"Engine thread recovered" afterMs=%d'
    assert.are.equal(1, select(2, engine:err():gsub("Engine thread is blocked, handlers and timers are delayed", "")))
  end)
end)
