-- `kubelua sim --world`: the Events that its components tell, and how long they stay.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"

local apps, batch = "/apis/apps/v1/namespaces/default/", "/apis/batch/v1/namespaces/default/"
local core = "/api/v1/namespaces/default/"

local function template(name, policy, annotations)
  return { metadata = { labels = { app = name }, annotations = annotations },
    spec = { restartPolicy = policy, containers = { { name = "c", image = "i:1" } } } }
end

local function deployment(replicas, node_selector)
  local pod = template "web"
  pod.spec.nodeSelector = node_selector
  return { kind = "Deployment", apiVersion = "apps/v1", metadata = { name = "web" },
    spec = { replicas = replicas, selector = { matchLabels = { app = "web" } }, template = pod } }
end

describe("kubelua sim --world tells Events #threads", function()
  local sim
  before_each(function()
    sim = cluster.sim { "--world", "--world-seed", "5", "--world-clock", "stopped", "--world-nodes", "1" }
  end)
  after_each(function() cluster.stop_all() end)

  local function step(duration) sim.api:request("POST", "/sim/clock?step=" .. duration) end

  -- Lines "REASON COUNT COMPONENT: MESSAGE" of the Events of objects of a kind, or of one of them, sorted, without
  -- generated names.
  local function told(kind, name)
    local lines = {}
    for _, event in ipairs(sim.api:get(core .. "events").items) do
      local about = event.involvedObject
      if about.kind == kind and (not name or about.name == name) then
        local count = event.series and event.series.count or event.count or 1
        local line = ("%s %d %s: %s"):format(event.reason, count, event.reportingComponent, event.message)
        lines[#lines + 1] = line:gsub("web%-%w+%-%w%w%w%w%w%f[^%w]", "POD"):gsub("web%-%w+", "SET")
      end
    end
    table.sort(lines)
    return lines
  end

  it("of a Deployment, its ReplicaSet and its pods", function()
    sim.api:create(apps .. "deployments", deployment(1))
    step "10s"
    assert.are.same({ "ScalingReplicaSet 1 deployment-controller: Scaled up replica set SET from 0 to 1" },
      told "Deployment")
    assert.are.same({ "SuccessfulCreate 1 replicaset-controller: Created pod: POD" }, told "ReplicaSet")
    local image = 'Container image "i:1" already present on machine and can be accessed by the pod'
    assert.are.same({ "Created 1 kubelet: Container created", "Pulled 1 kubelet: " .. image,
      "Scheduled 1 default-scheduler: Successfully assigned default/POD to node-1",
      "Started 1 kubelet: Container started" }, told "Pod")
    sim.api:patch(apps .. "deployments/web", '{"spec":{"replicas":0}}')
    step "1s"
    assert.are.equal("ScalingReplicaSet 1 deployment-controller: Scaled down replica set SET from 1 to 0",
      told("Deployment")[1])
    assert.are.same({ "SuccessfulCreate 1 replicaset-controller: Created pod: POD",
      "SuccessfulDelete 1 replicaset-controller: Deleted pod: POD" }, told "ReplicaSet")
    assert.is_truthy(table.concat(told "Pod", "\n"):find("Killing 1 kubelet: Stopping container c", 1, true))
  end)

  it("as objects that a client finds by what they are about, in both versions", function()
    sim.api:create(apps .. "deployments", deployment(1))
    step "10s"
    local pod = sim.api:get(core .. "pods").items[1].metadata
    local of_pod = "?fieldSelector=involvedObject.uid%3D" .. pod.uid
    assert.are.equal(4, #sim.api:get(core .. "events" .. of_pod).items)
    for _, event in ipairs(sim.api:get("/apis/events.k8s.io/v1/namespaces/default/events").items) do
      if event.reason == "Scheduled" then
        assert.are.same({ "Binding", "Normal", pod.uid, "default-scheduler" }, { event.action, event.type,
          event.regarding.uid, event.reportingController })
        assert.has_match("^2026%-01%-01T00:00:00%.%d%d%d%d%d%dZ$", event.eventTime)
      elseif event.reason == "Started" then
        assert.are.same({ component = "kubelet", host = "node-1" }, event.deprecatedSource)
        assert.are.equal("spec.containers{c}", event.regarding.fieldPath)
        assert.has_match("^" .. pod.name:gsub("%-", "%%-") .. "%.%x+$", event.metadata.name)
      end
    end
  end)

  it("of objects whose name leaves no room for a time, under a name of its own", function()
    local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    sim.api:create(budgets, { kind = "PodDisruptionBudget", apiVersion = "policy/v1",
      metadata = { name = ("b"):rep(250) },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "none" } } } })
    step "1s"
    assert.are.equal("NoPods", told("PodDisruptionBudget")[1]:match "^%w+")
  end)

  it("counted when they are the same, and combined when they are many", function()
    sim.api:create(apps .. "deployments", deployment(12))
    step "1s"
    local lines = told "ReplicaSet"
    assert.are.equal("SuccessfulCreate 1 replicaset-controller: Created pod: POD", lines[1])
    assert.are.equal("SuccessfulCreate 3 replicaset-controller: (combined from similar events): Created pod: POD",
      lines[10])
    assert.are.equal(10, #lines)
    sim.api:patch(apps .. "deployments/web", '{"spec":{"replicas":60}}')
    step "1s"
    local count = 0
    for _, line in ipairs(told "ReplicaSet") do count = count + line:match "^%w+ (%d+)" end
    assert.are.equal(25, count)
  end)

  it("of pods that find no node, as a series", function()
    sim.api:create(apps .. "deployments", deployment(1, { no = "such" }))
    step "1s"
    local why = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to "
      .. "deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert.are.same({ "FailedScheduling 1 default-scheduler: " .. why }, told "Pod")
    step "70m"
    local found = told "Pod"
    assert.are.equal(1, #found)
    assert.has_match("^FailedScheduling 1%d default%-scheduler: 0/1 nodes", found[1])
  end)

  it("of containers that fail, and of Jobs", function()
    sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", metadata = { name = "bad",
      annotations = { ["sim.kubelua.dev/run-for"] = "1s", ["sim.kubelua.dev/exit-code"] = "3" } },
      spec = { containers = { { name = "c", image = "i:1" } } } })
    step "5s"
    local found = table.concat(told("Pod", "bad"), "\n")
    local uid = sim.api:get(core .. "pods/bad").metadata.uid
    assert.is_truthy(found:find("BackOff 1 kubelet: Back-off restarting failed container c in pod bad_default(" .. uid
      .. ")", 1, true))
    step "20s"
    assert.is_truthy(table.concat(told("Pod", "bad"), "\n"):find("Started 3 kubelet: Container started", 1, true))
    for name, code in pairs { good = "0", poor = "1" } do
      sim.api:create(batch .. "jobs", { kind = "Job", apiVersion = "batch/v1", metadata = { name = name },
        spec = { backoffLimit = 0, template = template(name, "Never", { ["sim.kubelua.dev/exit-code"] = code }) } })
    end
    step "20s"
    assert.are.equal("Completed 1 job-controller: Job completed", told("Job", "good")[1])
    assert.are.equal(
      "BackoffLimitExceeded 1 job-controller: Job has reached the specified backoff limit", told("Job", "poor")[1])
  end)

  it("that stay for an hour after their last write, whoever wrote them", function()
    sim.api:create(core .. "events", { kind = "Event", apiVersion = "v1", metadata = { name = "mine" }, reason = "Seen",
      involvedObject = { kind = "Pod", namespace = "default", name = "none" }, message = "once" })
    sim.api:create(apps .. "deployments", deployment(1))
    step "59m"
    assert.is_true(#told "Deployment" == 1 and #told("Pod", "none") == 1)
    sim.api:patch(core .. "events/mine", cjson.encode { message = "again" })
    step "2m"
    assert.are.same({}, told "Deployment")
    assert.are.equal(1, #told("Pod", "none"))
    step "1h"
    assert.are.same({}, sim.api:get(core .. "events").items)
  end)

  it("of pods that a node repels, at once or after as long as they bear it", function()
    local function bears(seconds)
      return { { key = "a", operator = "Exists", effect = "NoExecute", tolerationSeconds = seconds } }
    end
    local tolerations = { none = {}, brief = bears(30), calm = bears(60), ever = { { operator = "Exists" } } }
    for name, list in pairs(tolerations) do
      sim.api:create(core .. "pods", { kind = "Pod", apiVersion = "v1", metadata = { name = name },
        spec = { tolerations = #list > 0 and list or nil, containers = { { name = "c", image = "i:1" } } } })
    end
    local function names()
      local list = {}
      for i, pod in ipairs(sim.api:get(core .. "pods").items) do list[i] = pod.metadata.name end
      return table.concat(list, " ")
    end
    step "5s"
    sim.api:patch("/api/v1/nodes/node-1", '{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}')
    step "10s"
    assert.are.equal("brief calm ever", names())
    step "25s"
    assert.are.equal("calm ever", names())
    sim.api:patch("/api/v1/nodes/node-1", '{"spec":{"taints":null}}')
    step "60s"
    assert.are.equal("calm ever", names())
    local found = table.concat(told "Pod", "\n")
    for _, words in ipairs { "Marking for deletion Pod default/none", "Marking for deletion Pod default/brief",
      "Cancelling deletion of Pod default/calm" } do
      assert.is_truthy(found:find("TaintManagerEviction 1 taint-eviction-controller: " .. words, 1, true), found)
    end
    assert.is_nil(found:find("Pod default/ever", 1, true))
  end)

  it("of nodes", function()
    step "1s"
    local found = table.concat(told("Node", "node-1"), "\n")
    assert.is_truthy(found:find("RegisteredNode 1 node-controller: Node node-1 event: Registered Node node-1 in "
      .. "Controller", 1, true))
    sim.api:patch("/api/v1/nodes/node-1", '{"spec":{"unschedulable":true}}')
    step "1s"
    found = table.concat(told("Node", "node-1"), "\n")
    assert.is_truthy(found:find("NodeNotSchedulable 1 kubelet: Node node-1 status is now: NodeNotSchedulable", 1, true))
  end)
end)
