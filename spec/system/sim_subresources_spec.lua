-- Subresources of `kubelua sim` with objects of their own: scale, and eviction of pods.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local deployments = "/apis/apps/v1/namespaces/default/deployments"
local pods = "/api/v1/namespaces/default/pods"
local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
local shops = "/apis/example.com/v1/namespaces/default/shops"

local definition = {
  kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1", metadata = { name = "shops.example.com" },
  spec = {
    group = "example.com", scope = "Namespaced", names = { plural = "shops", singular = "shop", kind = "Shop" },
    versions = { { name = "v1", served = true, storage = true,
      schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
      subresources = { status = cjson.decode "{}", scale = { specReplicasPath = ".spec.size.n",
        statusReplicasPath = ".status.n", labelSelectorPath = ".status.selector" } } } },
  },
}

local function deployment(labels)
  return { kind = "Deployment", apiVersion = "apps/v1", metadata = { name = "web" }, spec = {
    selector = { matchLabels = labels,
      matchExpressions = { { key = "tier", operator = "In", values = { "a", "b" } } } },
    template = { metadata = { labels = { app = "web", z = "1", tier = "a" } },
      spec = { containers = { { name = "c", image = "i" } } } } } }
end

describe("subresources of kubelua sim #threads", function()
  local sim
  before_each(function() sim = cluster.sim {} end)
  after_each(function() cluster.stop_all() end)

  -- The message of a refusal.
  local function refused(code, method, path, body, content_type)
    local got, text = sim.api:curl(method, path, body, content_type)
    assert.are.equal(code, got, text)
    return cjson.decode(text).message
  end

  it("scale what has replicas", function()
    sim.api:create(deployments, deployment { z = "1", app = "web" })
    local scale = sim.api:get(deployments .. "/web/scale")
    assert.are.same({ "Scale", "autoscaling/v1", { replicas = 1 } }, { scale.kind, scale.apiVersion, scale.spec })
    assert.are.same({ replicas = 0, selector = "app=web,z=1,tier in (a,b)" }, scale.status)
    scale.spec.replicas = 4
    assert.are.equal(4, sim.api:update(deployments .. "/web/scale", scale).spec.replicas)
    local object = sim.api:get(deployments .. "/web")
    assert.are.same({ 4, 2 }, { object.spec.replicas, object.metadata.generation })
    assert.has_match("the object has been modified", refused(409, "PUT", deployments .. "/web/scale", scale))
    assert.are.equal(0, sim.api:patch(deployments .. "/web/scale", '{"spec":{"replicas":0}}').spec.replicas or 0)
    assert.are.equal(2, sim.api:patch(deployments .. "/web/scale",
      '[{"op":"add","path":"/spec/replicas","value":2}]', "json").spec.replicas)
    assert.are.equal('Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or '
      .. "equal to 0", refused(422, "PATCH", deployments .. "/web/scale", '{"spec":{"replicas":-1}}',
      "application/merge-patch+json"))
    local wrong = '{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"%s"},"spec":{"replicas":"two"}}'
    for _, name in ipairs { "web", "none" } do -- the body is read before the object
      assert.are.equal('Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go '
        .. "struct field ScaleSpec.spec.replicas of type int32",
        refused(400, "PUT", deployments .. "/" .. name .. "/scale", wrong:format(name)))
    end
    assert.has_match("json: cannot unmarshal string into Go struct field ScaleSpec%.spec%.replicas of type int32$",
      refused(422, "PATCH", deployments .. "/web/scale", '{"spec":{"replicas":"two"}}', "application/merge-patch+json"))
    assert.is_nil(sim.api:update(deployments .. "/web/scale", { kind = "Scale", apiVersion = "autoscaling/v1",
      metadata = { name = "web" }, spec = { replicas = cjson.null } }).spec.replicas)
    assert.are.equal(0, sim.api:get(deployments .. "/web").spec.replicas)
    refused(404, "GET", deployments .. "/none/scale")
    refused(404, "GET", pods .. "/none/scale")
    refused(405, "DELETE", deployments .. "/web/scale")
  end)

  it("scale custom kinds by the paths of their definition", function()
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    sim.api:create(shops, { kind = "Shop", apiVersion = "example.com/v1", metadata = { name = "mine" },
      spec = { size = { n = 3 } } })
    sim.api:request("PATCH", shops .. "/mine/status", '{"status":{"n":2,"selector":"a=b"}}',
      "application/merge-patch+json")
    local scale = sim.api:get(shops .. "/mine/scale")
    assert.are.same({ { replicas = 3 }, { replicas = 2, selector = "a=b" } }, { scale.spec, scale.status })
    sim.api:patch(shops .. "/mine/scale", '{"spec":{"replicas":7}}')
    assert.are.equal(7, sim.api:get(shops .. "/mine").spec.size.n)
    assert.are.equal('Shop.example.com "mine" is invalid: .spec.size.n: Invalid value: -1: should be a non-negative '
      .. "integer", refused(422, "PATCH", shops .. "/mine/scale", '{"spec":{"replicas":-1}}',
      "application/merge-patch+json"))
  end)

  it("evict pods, but not beyond what a budget allows", function()
    for _, name in ipairs { "a", "b" } do
      sim.api:create(pods, { kind = "Pod", apiVersion = "v1", metadata = { name = name, labels = { app = "web" } },
        spec = { containers = { { name = "c", image = "i" } } } })
      sim.api:request("PATCH", pods .. "/" .. name .. "/status", '{"status":{"phase":"Running",'
        .. '"conditions":[{"type":"Ready","status":"True"}]}}',
        "application/merge-patch+json")
    end
    sim.api:create(budgets, { kind = "PodDisruptionBudget", apiVersion = "policy/v1", metadata = { name = "least" },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } } })
    local eviction = { kind = "Eviction", apiVersion = "policy/v1", metadata = { name = "a", namespace = "default" } }
    local function evict(name, code)
      eviction.metadata.name = name
      return sim.api:request("POST", pods .. "/" .. name .. "/eviction", eviction, nil, code)
    end
    local status = evict("a", 429)
    assert.are.equal("Cannot evict pod as it would violate the pod's disruption budget.", status.message)
    assert.are.equal("The disruption budget least is still being processed by the server.",
      status.details.causes[1].message)
    assert.are.equal(10, status.details.retryAfterSeconds)
    sim.api:request("PATCH", budgets .. "/least/status", '{"status":{"observedGeneration":1,"disruptionsAllowed":1,'
      .. '"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}}', "application/merge-patch+json")
    assert.are.equal("Success", evict("a", 201).status)
    await(function() return sim.api:curl("GET", pods .. "/a") == 404 end)
    assert.are.equal(0, sim.api:get(budgets .. "/least").status.disruptionsAllowed)
    assert.are.equal("The disruption budget least does not allow evicting pods currently",
      evict("b", 429).details.causes[1].message)
    assert.are.equal("b", sim.api:get(pods .. "/b").metadata.name)
    evict("none", 404)
    refused(405, "GET", pods .. "/b/eviction")
    assert.are.equal("target.name: Required value", refused(500, "POST", pods .. "/b/binding",
      '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"b"},"target":{"kind":"Node"}}'))
  end)

  it("refuses a status that a server refuses", function()
    local merge = "application/merge-patch+json"
    local function refused_status(path, status, message)
      local found = sim.api:request("PATCH", path .. "/status", '{"status":' .. status .. "}", merge, 422)
      assert.are.equal(message, (found.message:gsub("^.- is invalid: ", "")))
    end
    sim.api:create(deployments, deployment { app = "web" })
    refused_status(deployments .. "/web", '{"replicas":1,"readyReplicas":2,"unavailableReplicas":-1}',
      "[status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0, "
        .. "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas]")
    refused_status(deployments .. "/web", '{"readyReplicas":-1}', "[status.readyReplicas: Invalid value: -1: must be "
      .. "greater than or equal to 0, status.availableReplicas: Invalid value: 0: cannot be greater than "
      .. "readyReplicas]")
    sim.api:request("PATCH", deployments .. "/web/status", '{"status":{"collisionCount":2}}', merge, 200)
    refused_status(deployments .. "/web", '{"collisionCount":1}',
      "status.collisionCount: Invalid value: 1: cannot be decremented")

    local jobs = "/apis/batch/v1/namespaces/default/jobs"
    local pod = { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    sim.api:create(jobs, { metadata = { name = "j" }, spec = { suspend = true, template = { spec = pod } } })
    local complete = '{"type":"Complete","status":"True"}'
    refused_status(jobs .. "/j", '{"active":1,"conditions":[' .. complete .. "]}",
      "[status.completionTime: Required value: completionTime is required for Complete jobs, status.conditions: "
        .. "Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition, "
        .. "status.active: Invalid value: 1: active>0 is invalid for finished job, status.startTime: Required value: "
        .. "startTime is required for finished job]")
    sim.api:request("PATCH", jobs .. "/j/status", '{"status":{"startTime":"2020-01-01T00:00:00Z",'
      .. '"completionTime":"2020-01-02T00:00:00Z","conditions":[{"type":"SuccessCriteriaMet","status":"True"},'
      .. complete .. "]}}", merge, 200)
    refused_status(jobs .. "/j", '{"conditions":[{"type":"SuccessCriteriaMet","status":"True"}]}',
      '[status.completionTime: Invalid value: "2020-01-02T00:00:00Z": cannot set completionTime when there is no '
        .. "Complete=True condition, status.conditions: Invalid value: cannot disable the terminal Complete=True "
        .. "condition]")
    refused_status(jobs .. "/j", '{"startTime":null}', "status.startTime: Required value: startTime is required for "
      .. "finished job")
  end)

  it("takes the status of a Job that resumes, and of a suspended one that has nothing to do", function()
    local jobs, merge = "/apis/batch/v1/namespaces/default/jobs", "application/merge-patch+json"
    local pod = { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    local function create(name, completions)
      sim.api:create(jobs, { metadata = { name = name }, spec = { suspend = true, completions = completions,
        template = { spec = pod } } })
    end
    local function write(name, status, code)
      return sim.api:request("PATCH", jobs .. "/" .. name .. "/status", '{"status":' .. status .. "}", merge, code)
    end
    local function suspended(status, year)
      return ('{"startTime":"%d-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"%s"}]}'):format(year,
        status)
    end
    create("a", 1)
    write("a", suspended("True", 2020), 200)
    sim.api:patch(jobs .. "/a", '{"spec":{"suspend":false}}')
    assert.has_match("field is immutable for unsuspended job once set",
      write("a", suspended("True", 2021), 422).message)
    write("a", suspended("False", 2021), 200)
    assert.has_match("field is immutable for unsuspended job once set",
      write("a", suspended("False", 2022), 422).message)

    local finished = '{"completionTime":"2020-01-02T00:00:00Z","conditions":[{"type":"SuccessCriteriaMet",'
      .. '"status":"True"},{"type":"Complete","status":"True"}]}'
    create("none", 0)
    create("some", 1)
    write("none", finished, 200)
    assert.has_match("startTime is required for finished job", write("some", finished, 422).message)
  end)
end)
