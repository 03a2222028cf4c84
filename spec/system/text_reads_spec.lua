-- k8s.logs and k8s.raw in the whole binary: on a simulated world with kubelets, and on a server that goes wrong.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local live = require "spec.support.live"

local core = "/api/v1/namespaces/default/"

local pod = {
  kind = "Pod", apiVersion = "v1", metadata = { name = "web" },
  spec = { containers = { { name = "c", image = "i:1" } } },
}

-- `kubelua exec` of a script whose main is `body`.
local function start(sim, body)
  return cluster.kubelua { "exec", "-s", sim.server, cluster.script([[
    local k8s = require "k8s"
    k8s.reads { "pods:list", "pods/log:get", "/version", "/api/v1/namespaces/*/pods" }
    k8s.reads { "/api/v1/namespaces/*/configmaps" }
    k8s.main(function()
      ]] .. body .. "\nend)\n") }
end

local function run(sim, body)
  local engine = start(sim, body)
  assert(engine:wait(30) == 0, engine:report())
  return engine:out()
end

describe("k8s.logs and k8s.raw #threads", function()
  after_each(cluster.stop_all)

  it("read the logs of a world", function()
    local sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-nodes", "1" }
    local function step(duration) sim.api:request("POST", "/sim/clock?step=" .. duration) end
    sim.api:create(core .. "pods", pod)
    step "1m"
    assert.are.equal("Running", sim.api:get(core .. "pods/web").status.phase)
    local out = run(sim, [[
      local pods = k8s.list("pods", { namespace = "default" })
      print(select(2, string.gsub(k8s.logs(pods[1]), "\n", "")) > 3)
      print((k8s.logs("default/web", { tail = 1 }):gsub("%d+", "N")))
      print(k8s.logs("default/web", { container = "x" }))
      local none, err = k8s.logs("default/web", { previous = true })
      print(none, err.code, err.message)
    ]])
    assert.has_match("^true\ni:N: running for N s\n\n"
      .. "nil\tcontainer x is not valid for pod web\n"
      .. 'nil\t400\tprevious terminated container "c" in pod "web" not found\n$', out)
  end)

  it("follow what is written meanwhile, until the container ends", function()
    local sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-nodes", "1" }
    local function step(duration) sim.api:request("POST", "/sim/clock?step=" .. duration) end
    sim.api:create(core .. "pods", pod)
    step "30s"
    local engine = start(sim, [[
      for line in k8s.logs("default/web", { follow = true, tail = 1 }) do print(line) end
      print "end"
    ]])
    local function lines() return select(2, engine:out():gsub("\n", "")) end
    await(function() return lines() >= 1 end, "the last line")
    local before = lines()
    step "20s"
    await(function() return lines() == before + 2 end, "two more lines")
    sim.api:delete(core .. "pods/web")
    step "1m"
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.has_match("\nend\n$", engine:out())
  end)

  it("end a follow at its timeout, and while its task is cancelled", function()
    local sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-nodes", "1" }
    sim.api:create(core .. "pods", pod)
    sim.api:request("POST", "/sim/clock?step=30s")
    assert.are.equal("2\n", run(sim, [[
      local count = 0
      for _ in k8s.logs("default/web", { follow = true, tail = 2, timeout = "300ms" }) do count = count + 1 end
      print(count)
    ]]))
    local engine = start(sim, [[
      for line in k8s.logs("default/web", { follow = true, tail = 1 }) do print(line) end
    ]])
    await(function() return engine:out() ~= "" end, "a line")
    engine:kill "TERM"
    engine:wait(30)
    assert.is_nil(engine:err():find "panic")
  end)

  it("return the errors of a server without kubelets, one that is busy, and one that breaks off", function()
    local sim = live.sim()
    sim.api:create(core .. "pods", pod)
    assert.are.equal('<>\t0\nnil\tpods "none" not found\n', run(sim, [[
      local count = 0
      for _ in k8s.logs("default/web", { follow = true }) do count = count + 1 end
      print("<" .. k8s.logs "default/web" .. ">", count)
      print(k8s.logs "default/none")
    ]]))
    local out = run(sim, [[
      print(k8s.raw { path = "/version" }.major)
      print(k8s.raw { path = "/api/v1/namespaces/default/pods", query = { labelSelector = "a in (b)" } }.kind)
      print(select(2, k8s.raw { path = "/api/v1/namespaces/default/pods", query = { labelSelector = "a in" } }).code)
      local _, err = k8s.raw { path = "/api/v1/namespaces/default/pods", timeout = "1ms" }
      print(err == nil or err.message)
    ]])
    assert.has_match("^%d+\nPodList\n400\n", out)
    sim:fault { verb = "list", what = "status", code = 503, retry_after = 1 }
    local maps = 'local list, err = k8s.raw { path = "/api/v1/namespaces/default/configmaps" }\n'
      .. "print(list and list.kind, err and (err.code or err.reason))"
    assert.are.equal("ConfigMapList\tnil\n", run(sim, maps))
    sim:fault { verb = "list", what = "status", code = 403, reason = "Forbidden" }
    assert.are.equal("nil\t403\n", run(sim, maps))
    sim:fault { verb = "list", what = "cut", after = 0 }
    assert.are.equal("nil\tConnectionClosed\n", run(sim, maps))
  end)
end)
