-- `kubelua sim`: faults of requests and of open watches.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local watching = require "spec.support.watching"

local configmaps = "/api/v1/namespaces/default/configmaps"
local initial = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
local ended, refused_code, broken_off, reset = 0, 7, 18, 56 -- exit codes of curl

local function configmap(name)
  return { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name }, data = { a = "b" } }
end

describe("faults of the simulated server #threads", function()
  local sim
  before_each(function()
    sim = cluster.sim()
    for _, name in ipairs { "a", "b", "c" } do sim.api:create(configmaps, configmap(name)) end
  end)
  after_each(function()
    watching.close_all()
    cluster.stop_all()
  end)

  local function play(...) sim.api:create("/sim/scenario", { ... }) end
  local function fault(step)
    step["do"] = "fault"
    play(step)
  end

  -- Exit code and output of a GET.
  local function get(path, ...)
    local p = proc.spawn { "curl", "--silent", "--max-time", "20", sim.server .. (path or configmaps), ... }
    local code = p:wait(30)
    return code, p:out()
  end

  -- An open watch, past its first events.
  local function watch(query)
    local w = watching.open(sim.server, configmaps .. initial .. (query or ""))
    w:short(4)
    return w
  end

  it("respond with any error, as often as they are set to, for the requests that they match", function()
    fault { what = "status", verb = "list", resource = "cm", code = 429, retry_after = 1, skip = 1, times = 2 }
    sim.api:get(configmaps)
    sim.api:get(configmaps .. "/a")
    sim.api:get "/api/v1/namespaces/default/secrets"
    for _ = 1, 2 do
      local code, text = get(nil, "--include")
      assert.are.equal(0, code)
      assert.has_match("^HTTP/1.1 429", text)
      assert.has_match("Retry%-After: 1\r", text)
      assert.has_match("X%-Kubernetes%-PF%-FlowSchema%-UID: [%x-]+\r", text) -- A-6
      assert.has_match('"reason":"TooManyRequests"', text)
    end
    sim.api:get(configmaps)
  end)

  it("stay until they are cleared with times 0", function()
    fault { what = "status", code = 503, path = "/api", times = 0 }
    for _ = 1, 3 do sim.api:request("GET", "/api/v1", nil, nil, 503) end
    sim.api:request("POST", configmaps, configmap "d", nil, 503)
    sim.api:get "/version"
    play { ["do"] = "clear" }
    sim.api:get "/api/v1"
  end)

  it("respond with text that is no Status", function()
    fault { what = "status", code = 502, text = "bad gateway" }
    local _, text = get(nil, "--include")
    assert.has_match("^HTTP/1.1 502", text)
    assert.has_match("\r\n\r\nbad gateway$", text)
  end)

  it("delay a response", function()
    fault { what = "delay", ["for"] = "300ms", verb = "list" }
    local begin = proc.now()
    sim.api:get(configmaps)
    assert.is_true(proc.now() - begin >= 0.3)
  end)

  it("close, reset and silence a connection instead of a response", function()
    fault { what = "close", verb = "list" }
    assert.are.equal(52, (get())) -- an empty reply
    fault { what = "reset", verb = "list" }
    assert.are.equal(reset, (get()))
    fault { what = "silence", verb = "list", times = 0 }
    assert.are.equal(28, (get(nil, "--max-time", "0.3"))) -- the time is over
    play { ["do"] = "clear" }
    sim.api:get(configmaps)
  end)

  it("refuse connections for a while, and keep those that are open", function()
    local w = watch()
    play({ ["do"] = "refuse", ["for"] = "200ms" })
    assert.are.equal(refused_code, (get()))
    await(function() return get() == 0 end, "the server back")
    sim.api:create(configmaps, configmap "d")
    assert.are.same({ "ADDED d" }, w:short(1))
  end)

  it("break a list off in the middle of an object", function()
    fault { what = "cut", verb = "list", after = 2 }
    local code, text = get()
    assert.are.equal(broken_off, code)
    assert.has_match('"name":"b"', text)
    assert.has_no_match('"name":"c"', text)
    fault { what = "half-line", verb = "list", after = 2 }
    assert.are.equal(ended, (get()))
    fault { what = "reset", verb = "list", after = 1 }
    assert.are.equal(reset, (get()))
  end)

  it("put strange items into a list", function()
    fault { what = "no-metadata", verb = "list", after = 1 }
    local list = sim.api:get(configmaps)
    assert.are.equal(4, #list.items)
    assert.is_nil(list.items[2].metadata)
    fault { what = "oversize", verb = "list", size = "1Mi" }
    local _, text = get()
    assert.is_true(#text > 1048576)
    fault { what = "invalid-json", verb = "list" }
    _, text = get()
    assert.has_match('{"metadata":},{"metadata":{"name":"a"', text, 1, true)
  end)

  it("happen in a watch after so many events", function()
    fault { what = "cut", verb = "watch", after = 2 }
    local w = watching.open(sim.server, configmaps .. initial)
    assert.are.same({ "ADDED a", "ADDED b" }, w:short(2))
    local code, text = w:finish()
    assert.are.equal(broken_off, code)
    assert.has_match('\n{"type":"MODIFIED","object":{"kind":"ConfigMap"[^\n]*$', text)
  end)

  it("break open watches off, end them or reset them", function()
    for what, expected in pairs {
      cut = broken_off,
      close = broken_off,
      reset = reset,
      ["half-line"] = ended,
      ["end"] = ended,
      ["error-event"] = ended,
    } do
      local w = watch()
      play { ["do"] = "inject", resource = "configmaps", what = what, code = 500, message = "etcd is gone" }
      local code, text = w:finish()
      assert.are.equal(expected, code, what)
      if what == "error-event" then
        assert.has_match('{"type":"ERROR","object":{"kind":"Status".*"message":"etcd is gone".*"code":500', text)
      end
    end
  end)

  it("put strange lines into open watches, which go on", function()
    local w = watch()
    local function inject(step)
      step["do"], step.resource = "inject", "configmaps"
      play(step)
    end
    inject { what = "invalid-json" }
    assert.are.equal('{"type":"MODIFIED","object":{]}', w:line())
    inject { what = "unknown-type" }
    assert.are.same({ "RENAMED a" }, w:short(1))
    inject { what = "no-metadata" }
    assert.is_nil(w:next().object.metadata)
    inject { what = "oversize", size = "2Mi" }
    assert.is_true(#w:line() > 2 * 1048576)
    inject { what = "line", text = "hello" }
    assert.are.equal("hello", w:line())
    sim.api:create(configmaps, configmap "d")
    assert.are.same({ "ADDED d" }, w:short(1))
  end)

  it("pause an open watch for a while, or for good", function()
    local held, dead = watch(), watching.open(sim.server, "/api/v1/namespaces/default/secrets" .. initial)
    dead:short(1)
    play({ ["do"] = "inject", resource = "configmaps", what = "silence", ["for"] = "300ms" },
      { ["do"] = "inject", resource = "secrets", what = "silence" })
    local begin = proc.now()
    sim.api:create(configmaps, configmap "d")
    sim.api:create("/api/v1/namespaces/default/secrets",
      { kind = "Secret", apiVersion = "v1", metadata = { name = "s" } })
    assert.are.same({ "ADDED d" }, held:short(1))
    assert.is_true(proc.now() - begin >= 0.2)
    assert.has_no_match("ADDED", dead.proc:out())
    assert.are.equal(2, sim.api:get("/sim/stats").open_watches)
    assert.are.equal(0, cluster.terminate(sim))
  end)

  it("end open watches in good order", function()
    local w = watch()
    play { ["do"] = "end-watches", resource = "configmaps" }
    assert.are.equal(ended, (w:finish()))
  end)

  it("leave the end mark of a watch-list out, or do not know watch-lists", function()
    fault { what = "no-end-bookmark", verb = "watch" }
    local w = watching.open(sim.server, configmaps .. initial)
    w:short(3)
    sim.api:create(configmaps, configmap "d")
    assert.are.same({ "ADDED d" }, w:short(1))
    fault { what = "ignore-initial-events", verb = "watch" }
    w = watching.open(sim.server, configmaps .. initial)
    w:short(4)
    sim.api:create(configmaps, configmap "e")
    assert.are.same({ "ADDED e" }, w:short(1))
  end)
end)
