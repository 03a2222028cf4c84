-- `kubelua sim --world`: what controllers, a scheduler and kubelets do, on a clock that is moved by the spec.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"

local apps, core = "/apis/apps/v1/namespaces/default/", "/api/v1/namespaces/default/"

local function deployment(replicas)
  return { kind = "Deployment", apiVersion = "apps/v1", metadata = { name = "web" }, spec = {
    replicas = replicas, selector = { matchLabels = { app = "web" } },
    template = { metadata = { labels = { app = "web" } },
      spec = { containers = { { name = "c", image = "i:1" } } } } } }
end

local image_2 = '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}'

describe("kubelua sim --world #threads", function()
  local sim
  before_each(function()
    sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-nodes", "2" }
  end)
  after_each(function() cluster.stop_all() end)

  local function step(duration) return sim.api:request("POST", "/sim/clock?step=" .. duration) end

  -- A value of each object of a list, sorted.
  local function each(path, fn)
    local list = {}
    for i, item in ipairs(sim.api:get(path).items) do list[i] = fn(item) end
    table.sort(list)
    return list
  end

  local function names(path) return each(path, function(object) return object.metadata.name end) end

  it("does nothing while its clock stands still", function()
    sim.api:create(apps .. "deployments", deployment(3))
    assert.are.same({}, names(core .. "pods"))
    assert.are.same({}, names "/api/v1/nodes")
    assert.are.same({ time = "2026-01-01T00:00:00.000000Z", stopped = true, speed = 1 }, sim.api:get "/sim/clock")
    assert.are.equal("2026-01-01T00:00:01.500000Z", step("1500ms").time)
    assert.are.same({ "node-1", "node-2" }, names "/api/v1/nodes")
  end)

  it("has no namespaces of its future", function()
    local function created_at(object) return object.metadata.creationTimestamp end
    for _, created in ipairs(each("/api/v1/namespaces", created_at)) do
      assert.is_true(created < sim.api:get "/sim/clock".time, created)
    end
  end)

  it("has a clock that starts, stops, and runs at any speed", function()
    local function refused(query)
      local code, text = sim.api:curl("POST", "/sim/clock?" .. query)
      assert.are.equal(400, code)
      return cjson.decode(text).message
    end
    assert.is_false(sim.api:request("POST", "/sim/clock?start").stopped)
    assert.are.equal("step needs a clock that is stopped", refused "step=1s")
    assert.are.equal(3600, sim.api:request("POST", "/sim/clock?speed=3600").speed)
    sim.api:create(apps .. "deployments", deployment(1))
    local function has(replicas)
      await(function() return sim.api:get(apps .. "deployments/web").status.availableReplicas == replicas end,
        replicas .. " pods to run", 20)
    end
    has(1)
    sim.api:request("POST", "/sim/clock?speed=1") -- now only a change wakes it
    sim.api:get(core .. "pods/" .. names(core .. "pods")[1] .. "/log")
    sim.api:patch(apps .. "deployments/web", '{"spec":{"replicas":2}}')
    has(2)
    assert.is_true(sim.api:request("POST", "/sim/clock", "stop", "application/x-www-form-urlencoded").stopped)
    local now = sim.api:get("/sim/clock").time
    assert.are.equal(now, sim.api:get("/sim/clock").time)
    assert.are.equal('step is not a duration such as "10s"', refused "step=soon")
    assert.are.equal("speed is not a number from above 0 to 1000000", refused "speed=0")
    assert.are.equal("stop and start are mutually exclusive", refused "stop&start")
    assert.are.equal("one of stop, start, step=DURATION and speed=N is missing", refused "faster")
  end)

  it("answers others while its clock steps, and ends in the middle of a step", function()
    sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-rate", "crashes=1/m" }
    sim.api:create(apps .. "deployments", deployment(20))
    local last = step("10s").time
    local pod = names(core .. "pods")[1]
    local stepping = cluster.start { "curl", "--silent", "--request", "POST", sim.server .. "/sim/clock?step=100000h" }
    local seen = 0
    await(function()
      local now = sim.api:get("/sim/clock").time
      assert.is_truthy(sim.api:get(core .. "pods/" .. pod .. "/log"):find "started as")
      assert.are.equal(20, #names(core .. "pods"))
      if now > last then seen, last = seen + 1, now end
      return seen == 10
    end, "10 times on the way", 30)
    assert.is_true(last < "2037")
    assert.are.equal("", stepping:out())
    assert.are.equal(0, cluster.terminate(sim))
  end)

  it("goes on while somebody follows a log", function()
    sim.api:request("POST", "/sim/clock?start")
    local function run(name)
      sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", metadata = { name = name },
        spec = { containers = { { name = "c", image = "i:1" } } } })
      await(function() return sim.api:get(core .. "pods/" .. name).status.phase == "Running" end, name .. " to run", 10)
    end
    run "first"
    local follower = cluster.start { "curl", "--silent", "--no-buffer",
      sim.server .. core .. "pods/first/log?follow=true" }
    follower:wait_line "^i:1: started as first/c$"
    run "second"
    run "third"
    follower:kill "TERM"
    follower:wait(10)
  end)

  it("has the pods of a Deployment run", function()
    sim.api:create(apps .. "deployments", deployment(3))
    step "0s"
    assert.are.same({ "Pending", "Pending", "Pending" }, each(core .. "pods", function(p) return p.status.phase end))
    step "5s"
    local seen = {}
    for _, pod in ipairs(sim.api:get(core .. "pods").items) do
      assert.is_nil(seen[pod.status.podIP])
      seen[pod.status.podIP] = true
      assert.has_match("^node%-[12]$", pod.spec.nodeName)
      assert.are.same({ "Running", true }, { pod.status.phase, pod.status.containerStatuses[1].ready })
      assert.are.equal("kube-controller-manager", pod.metadata.managedFields[1].manager)
    end
    local status = sim.api:get(apps .. "deployments/web").status
    assert.are.same({ 3, 3, 3, 1 },
      { status.replicas, status.availableReplicas, status.updatedReplicas, status.observedGeneration })
    assert.are.same({ "Available True", "Progressing True" }, { status.conditions[1].type .. " "
      .. status.conditions[1].status, status.conditions[2].type .. " " .. status.conditions[2].status })
  end)

  it("rolls a Deployment out, back, and scales it", function()
    local function sets()
      return each(apps .. "replicasets", function(set)
        return set.metadata.annotations["deployment.kubernetes.io/revision"] .. ":" .. set.spec.replicas
      end)
    end
    sim.api:create(apps .. "deployments", deployment(3))
    step "5s"
    sim.api:patch(apps .. "deployments/web", image_2)
    step "1s"
    assert.are_not.same({ "1:0", "2:3" }, sets()) -- one after the other
    step "30s"
    assert.are.same({ "1:0", "2:3" }, sets())
    assert.are.same({ "i:2", "i:2", "i:2" }, each(core .. "pods", function(p) return p.spec.containers[1].image end))
    sim.api:patch(apps .. "deployments/web", (image_2:gsub("i:2", "i:1")))
    sim.api:patch(apps .. "deployments/web", '{"spec":{"replicas":2}}')
    step "30s"
    assert.are.same({ "2:0", "3:2" }, sets())
    assert.are.same({ "i:1", "i:1" }, each(core .. "pods", function(p) return p.spec.containers[1].image end))
  end)

  it("deletes what is owned behind, before, or without its owner", function()
    local function left()
      return { #names(apps .. "deployments"), #names(apps .. "replicasets"), #names(core .. "pods") }
    end
    local function delete(policy)
      sim.api:request("DELETE", apps .. "deployments/web", { kind = "DeleteOptions", apiVersion = "v1",
        propagationPolicy = policy })
    end
    for _, policy in ipairs { "Background", "Foreground" } do
      sim.api:create(apps .. "deployments", deployment(2))
      step "5s"
      delete(policy)
      step "0s"
      assert.are.same({ policy == "Foreground" and 1 or 0, policy == "Foreground" and 1 or 0, 2 }, left())
      step "5s"
      assert.are.same({ 0, 0, 0 }, left())
    end
    sim.api:create(apps .. "deployments", deployment(2))
    step "5s"
    delete "Orphan"
    step "5s"
    assert.are.same({ 0, 1, 2 }, left())
    sim.api:create(apps .. "deployments", deployment(2)) -- adopts the set
    step "5s"
    assert.are.same({ 1, 1, 2 }, left())
    assert.are.equal("web", sim.api:get(apps .. "replicasets").items[1].metadata.ownerReferences[1].name)
  end)
end)

describe("kubelua sim --world --load", function()
  after_each(function() cluster.stop_all() end)

  it("goes on with pods of which a file has parts", function()
    local ready = { phase = "Running", conditions = { { type = "Ready", status = "True" } } }
    local function pod(name, spec, status)
      return cjson.encode { kind = "Pod", apiVersion = "v1", metadata = { name = name, namespace = "default" },
        spec = spec, status = status }
    end
    local file = os.tmpname()
    local out = assert(io.open(file, "w"))
    out:write(table.concat({
      pod("bare", nil, ready),
      pod("placed", { nodeName = "node-1" }, ready),
      pod("parts", { nodeName = "node-1", containers = { { name = "c" } } }, ready),
      pod("named", { nodeName = "node-1", containers = { { name = "c", image = "i" } } }, {
        phase = "Running", containerStatuses = { { name = "c", ready = true } } }),
      pod("timeless", { nodeName = "node-1", restartPolicy = "Never", containers = { { name = "c", image = "i" } } }, {
        phase = "Running", containerStatuses = { { name = "c", state = { running = {} } } } }),
      pod("new", { nodeName = "node-1" }, { phase = "Pending" }),
    }, "\n"))
    out:close()
    local sim = cluster.sim { "--world", "--world-clock", "stopped", "--world-nodes", "1", "--load", file }
    assert(os.remove(file))
    sim.api:create(core .. "services", { kind = "Service", apiVersion = "v1", metadata = { name = "s" },
      spec = { ports = { { port = 80, targetPort = "http" } }, selector = { app = "x" } } })
    sim.api:request("POST", "/sim/clock?step=1m")
    assert.are.equal("", sim:err())
    for _, name in ipairs { "bare", "placed", "parts", "named", "new" } do
      local status = sim.api:get(core .. "pods/" .. name).status
      assert.are.equal("Running", status.phase, name)
      assert.are.equal("node-1", sim.api:get(core .. "pods/" .. name).spec.nodeName)
      for _, container in ipairs(status.containerStatuses or {}) do
        assert.is_not_nil(container.state.running, name)
      end
    end
  end)
end)

describe("kubelua sim with flags of a world", function()
  after_each(function() cluster.stop_all() end)

  it("refuses those that do not fit", function()
    for message, args in pairs {
      ["--world-seed needs --world"] = { "--world-seed", "1" },
      ["--world-rate needs --world"] = { "--world-rate", "crashes=1/m" },
      ["--pods and --world are mutually exclusive"] = { "--world", "--pods", "1" },
      ["--replay and --world are mutually exclusive"] = { "--world", "--replay", "--pods", "1" },
      ['--world-seed must be a number from 0 to 1000000000, not "x"'] = { "--world", "--world-seed", "x" },
      ["--world-nodes must be from 1 to 1000, not 1001"] = { "--world", "--world-nodes", "1001" },
    } do
      local p = cluster.kubelua { "sim", unpack(args) }
      assert.are.equal(2, p:wait())
      assert.are.equal("kubelua sim: " .. message .. "\n", p:err():match "^[^\n]*\n")
    end
  end)

  it("does not serve a clock without one", function()
    assert.are.equal(404, (cluster.sim({}).api:curl("GET", "/sim/clock")))
  end)
end)
