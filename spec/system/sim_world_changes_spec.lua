-- `kubelua sim --world`: what controllers do when somebody stops, scales, labels or deletes in the middle.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"

local apps, batch = "/apis/apps/v1/namespaces/default/", "/apis/batch/v1/namespaces/default/"
local core = "/api/v1/namespaces/default/"
local slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
local REVISION, HISTORY = "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"

local function template(policy, annotations)
  return { metadata = { labels = { app = "web" }, annotations = annotations },
    spec = { restartPolicy = policy, containers = { { name = "c", image = "i:1" } } } }
end

local function deployment(replicas, strategy)
  return { kind = "Deployment", apiVersion = "apps/v1", metadata = { name = "web" }, spec = {
    replicas = replicas, strategy = strategy, selector = { matchLabels = { app = "web" } }, template = template() } }
end

local function image(name, more)
  local container = { name = "c", image = name }
  for key, value in pairs(more or {}) do container[key] = value end
  return { template = { spec = { containers = { container } } } }
end

describe("kubelua sim --world #threads", function()
  local sim
  before_each(function()
    sim = cluster.sim { "--world", "--world-seed", "3", "--world-clock", "stopped", "--world-nodes", "2" }
  end)
  after_each(function()
    local problems = sim:err()
    cluster.stop_all()
    assert.are.equal("", problems)
  end)

  local function step(duration) return sim.api:request("POST", "/sim/clock?step=" .. duration) end

  -- A value of each object of a list, sorted.
  local function each(path, fn)
    local list = {}
    for i, item in ipairs(sim.api:get(path).items) do list[i] = fn(item) end
    table.sort(list)
    return list
  end

  local function names(path) return each(path, function(object) return object.metadata.name end) end

  local function images() return each(core .. "pods", function(pod) return pod.spec.containers[1].image end) end

  local function patch(path, body) return sim.api:patch(path, cjson.encode(body)) end

  local function change(spec) return patch(apps .. "deployments/web", { spec = spec }) end

  local function condition(path, type)
    for _, c in ipairs(sim.api:get(path).status.conditions) do
      if c.type == type then return c end
    end
  end

  local function progress() return condition(apps .. "deployments/web", "Progressing").reason end

  local function sets()
    return each(apps .. "replicasets", function(set)
      return set.metadata.annotations[REVISION] .. ":" .. set.spec.replicas
    end)
  end

  it("ends a rollout that stops all pods first", function()
    sim.api:create(apps .. "deployments", deployment(2, { type = "Recreate" }))
    step "5s"
    change(image "i:2")
    step "100ms"
    assert.are.same({ "1:0" }, sets()) -- no new set while a pod is on its way out
    assert.are.same({ "i:1", "i:1" }, images())
    assert.are.equal(2, sim.api:get(apps .. "deployments/web").status.terminatingReplicas)
    step "60s"
    assert.are.same({ "1:0", "2:2" }, sets())
    assert.are.same({ "i:2", "i:2" }, images())
    assert.are.equal("NewReplicaSetAvailable", progress())
    change(image "i:1")
    step "60s"
    assert.are.same({ "2:0", "3:2" }, sets())
    assert.are.same({ "i:1", "i:1" }, images())
  end)

  it("scales a Deployment that is paused, and rolls nothing out", function()
    sim.api:create(apps .. "deployments", deployment(2))
    step "5s"
    local spec = image "i:2"
    spec.paused = true
    change(spec)
    change { replicas = 4 }
    step "10s"
    assert.are.same({ "i:1", "i:1", "i:1", "i:1" }, images())
    assert.are.same({ "1:4" }, sets())
    assert.are.equal("DeploymentPaused", progress())
    change { paused = false }
    step "60s"
    assert.are.same({ "i:2", "i:2", "i:2", "i:2" }, images())
    assert.are.equal("NewReplicaSetAvailable", progress())
  end)

  it("scales the sets of a rollout in proportion", function()
    sim.api:create(apps .. "deployments", deployment(10, { type = "RollingUpdate",
      rollingUpdate = { maxSurge = 3, maxUnavailable = 2 } }))
    step "20s"
    change(image("i:2", { readinessProbe = { initialDelaySeconds = 300, tcpSocket = { port = 80 } } }))
    step "20s"
    assert.are.same({ "1:8", "2:5" }, sets())
    change { replicas = 15 }
    step "20s"
    assert.are.same({ "1:11", "2:7" }, sets())
    change { replicas = 0 }
    step "20s"
    assert.are.same({ "1:0", "2:0" }, sets())
    assert.are.same({}, names(core .. "pods"))
  end)

  it("writes which revisions a set was before", function()
    local function history(name)
      for _, set in ipairs(sim.api:get(apps .. "replicasets").items) do
        if set.spec.template.spec.containers[1].image == name then return set.metadata.annotations[HISTORY] end
      end
    end
    sim.api:create(apps .. "deployments", deployment(1))
    step "5s"
    change(image "i:2")
    step "20s"
    assert.are.same({}, { history "i:1", history "i:2" })
    change(image "i:1")
    step "20s"
    assert.are.equal("1", history "i:1")
    assert.is_nil(history "i:2")
    assert.are.equal("3", sim.api:get(apps .. "deployments/web").metadata.annotations[REVISION])
  end)

  it("releases a pod that is labeled otherwise, and adopts it when it is labeled back", function()
    sim.api:create(apps .. "deployments", deployment(2))
    step "5s"
    local before = names(core .. "pods")
    local function label(value) patch(core .. "pods/" .. before[1], { metadata = { labels = { app = value } } }) end
    local function owners() return #(sim.api:get(core .. "pods/" .. before[1]).metadata.ownerReferences or {}) end
    label "other"
    step "5s"
    assert.are.same({ 3, 0 }, { #names(core .. "pods"), owners() })
    label "web"
    step "100ms"
    assert.are.equal(1, owners())
    step "40s"
    assert.are.same(before, names(core .. "pods")) -- the newest was one too many
  end)

  it("makes Endpoints that are deleted again, with the labels of their Service", function()
    sim.api:create(core .. "services", { kind = "Service", apiVersion = "v1", metadata = { name = "web" },
      spec = { selector = { app = "web" }, ports = { { port = 80 } } } })
    sim.api:create(apps .. "deployments", deployment(2))
    step "10s"
    sim.api:delete(core .. "endpoints/web")
    step "1s"
    assert.are.equal(2, #sim.api:get(core .. "endpoints/web").subsets[1].addresses)
    sim.api:delete(slices .. "/" .. names(slices)[1])
    step "1s"
    assert.are.equal(2, #sim.api:get(slices).items[1].endpoints)
    patch(core .. "services/web", { metadata = { labels = { tier = "front" } } })
    step "1s"
    assert.are.same({ "front", "front" }, { sim.api:get(core .. "endpoints/web").metadata.labels.tier,
      sim.api:get(slices).items[1].metadata.labels.tier })
  end)

  it("mirrors Endpoints of a Service without a selector", function()
    sim.api:create(core .. "services", { kind = "Service", apiVersion = "v1", metadata = { name = "far" },
      spec = { ports = { { port = 80 } } } })
    sim.api:create(core .. "endpoints", { kind = "Endpoints", apiVersion = "v1", metadata = { name = "far" },
      subsets = { { addresses = { { ip = "192.0.2.1" } }, notReadyAddresses = { { ip = "192.0.2.2" } },
        ports = { { port = 80 } } } } })
    step "1s"
    local slice = sim.api:get(slices).items[1]
    assert.are.equal("endpointslicemirroring-controller.k8s.io",
      slice.metadata.labels["endpointslice.kubernetes.io/managed-by"])
    assert.are.same({ "192.0.2.1", true, "192.0.2.2", false }, { slice.endpoints[1].addresses[1],
      slice.endpoints[1].conditions.ready, slice.endpoints[2].addresses[1], slice.endpoints[2].conditions.ready })
    sim.api:create(slices, { kind = "EndpointSlice", apiVersion = "discovery.k8s.io/v1", addressType = "IPv4",
      metadata = { name = "own" }, endpoints = { { addresses = { "192.0.2.3" } } } }) -- nobody's: it stays as it is
    step "1s"
    sim.api:delete(core .. "services/far")
    step "1s"
    assert.are.same({ "own" }, names(slices))
  end)

  it("starts a container again and again, whatever its name", function()
    local spec = { containers = {} }
    for i, name in ipairs { "fails", "due", "stop", "c" } do spec.containers[i] = { name = name, image = "i" } end
    sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", spec = spec, metadata = { name = "p",
      annotations = { ["sim.kubelua.dev/run-for"] = "1s", ["sim.kubelua.dev/exit-code"] = "1" } } })
    step "10m"
    local restarts = {}
    for _, status in ipairs(sim.api:get(core .. "pods/p").status.containerStatuses) do
      restarts[status.name] = status.restartCount
    end
    assert.is_true(restarts.c > 3)
    assert.are.same({ fails = restarts.c, due = restarts.c, stop = restarts.c, c = restarts.c }, restarts)
  end)

  it("counts pods of a Job that somebody deletes as failed, but not those that it stops", function()
    sim.api:create(batch .. "jobs", { kind = "Job", apiVersion = "batch/v1", metadata = { name = "work" },
      spec = { parallelism = 2, completions = 2,
        template = template("Never", { ["sim.kubelua.dev/run-for"] = "10m" }) } })
    step "5s"
    local function count(field) return sim.api:get(batch .. "jobs/work").status[field] end
    local function set(spec)
      patch(batch .. "jobs/work", { spec = spec })
      step "40s"
    end
    assert.are.equal(2, count "active")
    sim.api:delete(core .. "pods/" .. names(core .. "pods")[1])
    step "60s"
    assert.are.same({ 1, 2 }, { count "failed", count "active" })
    set { parallelism = 1 }
    assert.are.same({ 1, 1 }, { count "failed", count "active" })
    set { suspend = true }
    assert.are.same({ 1, 0 }, { count "failed", #names(core .. "pods") })
  end)

  it("says what is left in a namespace on its way out", function()
    sim.api:create("/api/v1/namespaces", { kind = "Namespace", apiVersion = "v1", metadata = { name = "team" } })
    sim.api:create("/api/v1/namespaces/team/configmaps", { kind = "ConfigMap", apiVersion = "v1",
      metadata = { name = "held", finalizers = { "example.com/hold" } } })
    step "1s"
    sim.api:delete "/api/v1/namespaces/team"
    step "1s"
    local function message(type) return condition("/api/v1/namespaces/team", type).message end
    assert.are.equal("Some resources are remaining: configmaps. has 1 resource instances",
      message "NamespaceContentRemaining")
    assert.are.equal("Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      message "NamespaceFinalizersRemaining")
    patch("/api/v1/namespaces/team/configmaps/held", { metadata = { finalizers = cjson.null } })
    step "1s"
    assert.are.equal(404, (sim.api:curl("GET", "/api/v1/namespaces/team")))
  end)

  it("says why a pod fits on no node", function()
    sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", metadata = { name = "big" }, spec = {
      containers = { { name = "c", image = "i", resources = { requests = { cpu = "9000" } } } } } })
    step "1s"
    assert.are.equal("0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
      .. "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      condition(core .. "pods/big", "PodScheduled").message)
  end)
end)
