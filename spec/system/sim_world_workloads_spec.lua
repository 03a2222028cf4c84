-- `kubelua sim --world`: workloads beyond Deployments, and what stands around their pods.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local apps, batch = "/apis/apps/v1/namespaces/default/", "/apis/batch/v1/namespaces/default/"
local core = "/api/v1/namespaces/default/"
local slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

local function with(base, more)
  for key, value in pairs(more or {}) do base[key] = value end
  return base
end

local function template(name, policy, annotations)
  return { metadata = { labels = { app = name }, annotations = annotations }, spec = { restartPolicy = policy,
    containers = { { name = "c", image = "i:1", ports = { { containerPort = 8080, name = "http" } } } } } }
end

local function workload(kind, name, more)
  return { kind = kind, apiVersion = "apps/v1", metadata = { name = name },
    spec = with({ selector = { matchLabels = { app = name } }, template = template(name) }, more) }
end

local function job(name, more, annotations)
  return { kind = "Job", apiVersion = "batch/v1", metadata = { name = name },
    spec = with({ template = template(name, "Never", annotations) }, more) }
end

describe("kubelua sim --world #threads", function()
  local sim
  before_each(function()
    sim = cluster.sim { "--world", "--world-seed", "7", "--world-clock", "stopped" }
  end)
  after_each(function() cluster.stop_all() end)

  local function step(duration) return sim.api:request("POST", "/sim/clock?step=" .. duration) end

  local function each(path, fn)
    local list = {}
    for i, item in ipairs(sim.api:get(path).items) do list[i] = fn(item) end
    table.sort(list)
    return list
  end

  local function names(path) return each(path, function(object) return object.metadata.name end) end

  local function patch(path, body) return sim.api:patch(path, cjson.encode(body)) end

  local new_image = { spec = { template = { spec = { containers = { { name = "c", image = "i:2" } } } } } }

  local function image_of(pod) return pod.spec.containers[1].image end

  it("has the pods of a StatefulSet come in order, with their claims", function()
    sim.api:create(apps .. "statefulsets", workload("StatefulSet", "db", { replicas = 3, serviceName = "db",
      volumeClaimTemplates = { { metadata = { name = "data" }, spec = { accessModes = { "ReadWriteOnce" },
        resources = { requests = { storage = "1Gi" } } } } } }))
    step "0s"
    assert.are.same({ "db-0" }, names(core .. "pods"))
    step "20s"
    assert.are.same({ "db-0", "db-1", "db-2" }, names(core .. "pods"))
    assert.are.same({ "Bound", "Bound", "Bound" },
      each(core .. "persistentvolumeclaims", function(claim) return claim.status.phase end))
    patch(apps .. "statefulsets/db", new_image)
    step "60s"
    assert.are.same({ "i:2", "i:2", "i:2" }, each(core .. "pods", image_of))
    local status = sim.api:get(apps .. "statefulsets/db").status
    assert.are.same({ 3, 3, status.updateRevision }, { status.readyReplicas, status.updatedReplicas,
      status.currentRevision })
    patch(apps .. "statefulsets/db", { spec = { replicas = 1 } })
    step "20s"
    assert.are.same({ "db-0" }, names(core .. "pods"))
    assert.are.equal(3, #names(core .. "persistentvolumeclaims"))
  end)

  it("has a pod of a DaemonSet on each node that fits", function()
    step "0s"
    patch("/api/v1/nodes/node-2", { spec = { taints = { { key = "gpu", effect = "NoSchedule" } } } })
    sim.api:create(apps .. "daemonsets", workload("DaemonSet", "agent"))
    step "10s"
    local function nodes() return each(core .. "pods", function(pod) return pod.spec.nodeName end) end
    assert.are.same({ "node-1", "node-3" }, nodes())
    patch("/api/v1/nodes/node-2", { spec = { taints = cjson.null } })
    step "10s"
    assert.are.same({ "node-1", "node-2", "node-3" }, nodes())
    patch(apps .. "daemonsets/agent", new_image)
    step "60s"
    assert.are.same({ "i:2", "i:2", "i:2" }, each(core .. "pods", image_of))
    local status = sim.api:get(apps .. "daemonsets/agent").status
    assert.are.same({ 3, 3, 3 }, { status.desiredNumberScheduled, status.updatedNumberScheduled,
      status.numberAvailable })
    sim.api:delete "/api/v1/nodes/node-1"
    step "10s"
    assert.are.same({ "node-2", "node-3" }, nodes())
  end)

  it("finishes Jobs, or gives them up", function()
    sim.api:create(batch .. "jobs", job("once", { completions = 3, parallelism = 2, ttlSecondsAfterFinished = 120 }))
    sim.api:create(batch .. "jobs", job("index", { completions = 2, parallelism = 2, completionMode = "Indexed" }))
    sim.api:create(batch .. "jobs", job("bad", { backoffLimit = 1 },
      { ["sim.kubelua.dev/exit-code"] = "3", ["sim.kubelua.dev/run-for"] = "1s" }))
    step "1s"
    assert.are.equal(2, sim.api:get(batch .. "jobs/once").status.active)
    step "60s"
    local function last_condition(name)
      local conditions = sim.api:get(batch .. "jobs/" .. name).status.conditions
      return conditions[#conditions].type .. " " .. conditions[#conditions].reason
    end
    assert.are.equal("Complete CompletionsReached", last_condition "once")
    assert.are.equal("Failed BackoffLimitExceeded", last_condition "bad")
    local status = sim.api:get(batch .. "jobs/index").status
    assert.are.same({ 2, "0,1" }, { status.succeeded, status.completedIndexes })
    step "120s"
    assert.are.same({ "bad", "index" }, names(batch .. "jobs"))
  end)

  it("starts a Job of a CronJob at each time of its schedule", function()
    sim.api:create(batch .. "cronjobs", { kind = "CronJob", apiVersion = "batch/v1", metadata = { name = "tick" },
      spec = { schedule = "*/5 * * * *", jobTemplate = { spec = { template = template("tick", "OnFailure") } } } })
    step "4m"
    assert.are.same({}, names(batch .. "jobs"))
    step "27m"
    assert.are.equal(3, #names(batch .. "jobs")) -- of six, the history keeps three
    assert.are.equal("2026-01-01T00:30:00Z", sim.api:get(batch .. "cronjobs/tick").status.lastScheduleTime)
  end)

  it("has endpoints follow the pods of a Service", function()
    sim.api:create(core .. "services", { kind = "Service", apiVersion = "v1", metadata = { name = "web" },
      spec = { type = "NodePort", selector = { app = "web" }, ports = { { port = 80, targetPort = "http" } } } })
    sim.api:create(apps .. "deployments", workload("Deployment", "web", { replicas = 2 }))
    step "1s"
    step "9s"
    local slice = sim.api:get(slices).items[1]
    assert.are.same({ 2, true, 8080, "web" }, { #slice.endpoints, slice.endpoints[1].conditions.ready,
      slice.ports[1].port, slice.metadata.labels["kubernetes.io/service-name"] })
    assert.are.equal(2, #sim.api:get(core .. "endpoints/web").subsets[1].addresses)
    assert.is_true(sim.api:get(core .. "services/web").spec.ports[1].nodePort >= 30000)
    patch(apps .. "deployments/web", { spec = { replicas = 0 } })
    step "10s"
    assert.are.equal(cjson.null, sim.api:get(slices).items[1].endpoints)
    sim.api:delete(core .. "services/web")
    step "1s"
    assert.are.same({ {}, {} }, { names(slices), names(core .. "endpoints") })
  end)

  it("evicts the pods of a drained node as far as a budget allows", function()
    sim.api:create(apps .. "deployments", workload("Deployment", "web", { replicas = 3 }))
    sim.api:create(budgets, { kind = "PodDisruptionBudget", apiVersion = "policy/v1", metadata = { name = "web" },
      spec = { minAvailable = 2, selector = { matchLabels = { app = "web" } } } })
    step "10s"
    assert.are.equal(1, sim.api:get(budgets .. "/web").status.disruptionsAllowed)
    patch("/api/v1/nodes/node-1", { spec = { unschedulable = true } })
    local function evict(pod)
      return (sim.api:curl("POST", core .. "pods/" .. pod.metadata.name .. "/eviction", { kind = "Eviction",
        apiVersion = "policy/v1", metadata = { name = pod.metadata.name, namespace = "default" } }))
    end
    local pods = sim.api:get(core .. "pods").items
    table.sort(pods, function(a, b) return a.spec.nodeName < b.spec.nodeName end)
    assert.are.same({ 201, 429 }, { evict(pods[1]), evict(pods[2]) })
    step "10s"
    assert.are.equal(3, #names(core .. "pods"))
    for _, pod in ipairs(sim.api:get(core .. "pods").items) do assert.are_not.equal("node-1", pod.spec.nodeName) end
    assert.are.equal(1, sim.api:get(budgets .. "/web").status.disruptionsAllowed)
  end)

  it("taints a node that is not ready, and pods go when they bear it no longer", function()
    local function ready(status)
      local node = sim.api:get "/api/v1/nodes/node-1"
      for _, condition in ipairs(node.status.conditions) do
        if condition.type == "Ready" then condition.status = status end
      end
      sim.api:request("PUT", "/api/v1/nodes/node-1/status", node)
      step "1s"
      local keys = {}
      for i, taint in ipairs(sim.api:get("/api/v1/nodes/node-1").spec.taints or {}) do
        keys[i] = taint.key:match "[^/]*$" .. " " .. taint.effect
      end
      return keys
    end
    sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", metadata = { name = "app" }, spec = {
      nodeName = "node-1", containers = { { name = "c", image = "i" } } } })
    step "5s"
    assert.are.same({ "not-ready NoSchedule", "not-ready NoExecute" }, ready "False")
    assert.are.same({ "unreachable NoSchedule", "unreachable NoExecute" }, ready "Unknown")
    assert.are.same({}, ready "True")
    assert.are.same({ "not-ready NoSchedule", "not-ready NoExecute" }, ready "False")
    step "290s"
    assert.are.equal(1, #names(core .. "pods"))
    step "60s"
    assert.are.equal(0, #names(core .. "pods"))
  end)

  it("leaves objects alone that lack what their controllers need, and says so", function()
    local file = temp.name()
    local lines = {}
    for i, kind in ipairs { "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet" } do
      lines[i] = cjson.encode { kind = kind, apiVersion = "apps/v1", metadata = { name = "odd" },
        spec = kind ~= "DaemonSet" and { replicas = 1 } or cjson.decode "{}" }
    end
    temp.write(file, table.concat(lines, "\n"))
    local other = cluster.sim { "--world", "--world-clock", "stopped", "--load", file }
    os.remove(file)
    other.api:request("POST", "/sim/clock?step=10s")
    cluster.terminate(other)
    local said = other:err()
    assert.is_truthy(said:find("deployments.apps default/odd: it has no spec.selector, so it is left alone", 1, true))
    assert.are.equal(4, select(2, said:gsub("so it is left alone", "")))
    assert.is_nil(said:find("lua/world", 1, true), said)
  end)

  it("starts containers that end again, and writes their logs", function()
    local function log(query) return (select(2, sim.api:curl("GET", core .. "pods/app/log" .. (query or "")))) end
    sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", spec = template("app", "Always").spec,
      metadata = {
      name = "app", annotations = { ["sim.kubelua.dev/run-for"] = "30s", ["sim.kubelua.dev/exit-code"] = "2" } } })
    step "0s"
    assert.has_match('container \\"c\\" in pod \\"app\\" is waiting to start: ContainerCreating', log(), 1, true)
    step "25s"
    assert.are.equal("i:1: started as app/c\ni:1: running for 10 s\ni:1: running for 20 s\n", log())
    assert.are.equal("i:1: running for 20 s\n", log "?tailLines=1")
    assert.are.equal("i:1: running for 20 s\n", log "?sinceTime=2026-01-01T00:00:15Z")
    assert.are.equal("i:1: running for 10 s\ni:1: running for 20 s\n", log "?sinceSeconds=20")
    step "10s" -- the first time it is started at once
    local status = sim.api:get(core .. "pods/app").status.containerStatuses[1]
    assert.are.same({ 1, true, 2 }, { status.restartCount, status.ready, status.lastState.terminated.exitCode })
    step "30s"
    status = sim.api:get(core .. "pods/app").status.containerStatuses[1]
    assert.are.same({ "CrashLoopBackOff", 2 }, { status.state.waiting.reason, status.lastState.terminated.exitCode })
    assert.has_match("back-off 10s restarting", status.state.waiting.message, 1, true)
    step "10s"
    status = sim.api:get(core .. "pods/app").status.containerStatuses[1]
    assert.are.same({ 2, true }, { status.restartCount, status.ready })
    assert.has_match("ended with exit code 2", log "?previous=true")
    assert.are.equal(404, (sim.api:curl("GET", core .. "pods/none/log")))
  end)

  it("keeps a workload within the bounds of its autoscaler, and measures nothing", function()
    local hpas = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    sim.api:create(apps .. "deployments", workload("Deployment", "web", { replicas = 5 }))
    sim.api:create(hpas, { kind = "HorizontalPodAutoscaler", apiVersion = "autoscaling/v2", metadata = { name = "web" },
      spec = { minReplicas = 2, maxReplicas = 3,
        scaleTargetRef = { apiVersion = "apps/v1", kind = "Deployment", name = "web" } } })
    local function reasons()
      local list = {}
      for i, condition in ipairs(sim.api:get(hpas .. "/web").status.conditions) do list[i] = condition.reason end
      table.sort(list)
      return list
    end
    local function replicas() return sim.api:get(apps .. "deployments/web").spec.replicas end
    step "1s"
    assert.are.equal(3, replicas())
    assert.are.same({ "SucceededRescale" }, reasons())
    step "20s"
    assert.are.same({ "FailedGetResourceMetric", "SucceededGetScale" }, reasons())
    patch(apps .. "deployments/web", { spec = { replicas = 1 } })
    step "15s"
    assert.are.equal(2, replicas())
    patch(apps .. "deployments/web", { spec = { replicas = 0 } })
    step "15s"
    assert.are.same({ "ScalingDisabled", "SucceededGetScale" }, reasons())
    assert.are.equal(0, replicas())
  end)

  it("has a service account in each namespace, and removes its content with it", function()
    sim.api:create("/api/v1/namespaces", { kind = "Namespace", apiVersion = "v1", metadata = { name = "team" } })
    step "0s"
    assert.are.same({ "default" }, names "/api/v1/namespaces/team/serviceaccounts")
    sim.api:create("/apis/apps/v1/namespaces/team/deployments", workload("Deployment", "web", { replicas = 2 }))
    step "10s"
    sim.api:delete "/api/v1/namespaces/team"
    step "10s"
    assert.are.equal(404, (sim.api:curl("GET", "/api/v1/namespaces/team")))
  end)
end)

describe("kubelua sim --world --state #threads", function()
  after_each(function() cluster.stop_all() end)

  it("goes on with the objects of its file", function()
    local state = require "spec.support.temp".name()
    local function start()
      return cluster.sim { "--world", "--world-seed", "7", "--world-clock", "stopped", "--state", state }
    end
    local sim = start()
    sim.api:create(apps .. "deployments", workload("Deployment", "web", { replicas = 2 }))
    sim.api:request("POST", "/sim/clock?step=1s")
    assert.are.same({ 0, "" }, { cluster.terminate(sim), sim:err() })
    sim = start()
    sim.api:patch(apps .. "deployments/web", '{"spec":{"replicas":3}}')
    sim.api:request("POST", "/sim/clock?step=10s")
    assert.are.equal(3, sim.api:get(apps .. "deployments/web").status.availableReplicas)
    assert.are.equal(3, #sim.api:get("/api/v1/nodes").items)
    assert.are.same({ 0, "" }, { cluster.terminate(sim), sim:err() })
  end)
end)

describe("kubelua sim --world-rate #threads", function()
  after_each(function() cluster.stop_all() end)

  it("has things happen by themselves", function()
    local function after_5m(rates)
      local sim = cluster.sim { "--world", "--world-seed", "7", "--world-clock", "stopped", "--world-rate", rates }
      sim.api:create(apps .. "deployments", workload("Deployment", "web", { replicas = 4 }))
      sim.api:request("POST", "/sim/clock?step=5m")
      local restarts, drains = 0, 0
      for _, pod in ipairs(sim.api:get(core .. "pods").items) do
        restarts = restarts + pod.status.containerStatuses[1].restartCount
      end
      for _, node in ipairs(sim.api:get("/api/v1/nodes").items) do
        for _, entry in ipairs(node.metadata.managedFields) do
          if entry.manager == "kubelua-world" then drains = drains + 1 end
        end
      end
      return { sim.api:get(apps .. "deployments/web").metadata.generation > 1, restarts > 0, drains > 0 }
    end
    assert.are.same({ true, false, false }, after_5m "rollouts=1/m")
    assert.are.same({ false, true, false }, after_5m "crashes=2/m")
    assert.are.same({ false, false, true }, after_5m "drains=1/m")
    assert.are.same({ false, false, false }, after_5m "drains=1/d")
  end)

  it("refuses what is no rate", function()
    for rates, message in pairs {
      ["often"] = '"often" is not a rate such as rollouts=1/m',
      ["floods=1/m"] = 'unknown rate "floods"; must be one of rollouts, crashes, drains',
      ["crashes=0/m"] = '"crashes=0/m" is not a number from above 0 to 1000 per s, m, h or d',
      ["crashes=1/m,drains=1/y"] = '"drains=1/y" is not a number from above 0 to 1000 per s, m, h or d',
    } do
      local p = cluster.kubelua { "sim", "--world", "--world-rate", rates }
      assert.are.equal(2, p:wait())
      assert.are.equal("kubelua sim: --world-rate: " .. message .. "\n", p:err():match "^[^\n]*\n")
    end
  end)
end)
