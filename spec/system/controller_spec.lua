-- k8s.controller: which keys it is told of, and by whom.
local cluster = require "spec.support.cluster"

local configmaps = "/api/v1/namespaces/default/configmaps"
local pods = "/api/v1/namespaces/default/pods"
local deployments = "/apis/apps/v1/namespaces/default/deployments"

local function configmap(name, data)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = { text = data },
  }
end

local function pod(name, owners)
  return {
    apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", ownerReferences = owners },
    spec = { containers = { { name = "main", image = "web" } } },
  }
end

local function owner(api_version, kind, name, controls)
  return { apiVersion = api_version, kind = kind, name = name, uid = "u-" .. name, controller = controls }
end

local function deployment(name)
  return {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = name, namespace = "default" },
    spec = {
      selector = { matchLabels = { app = name } },
      template = {
        metadata = { labels = { app = name } }, spec = { containers = { { name = "main", image = "web" } } },
      },
    },
  }
end

describe("k8s.controller", function()
  after_each(cluster.stop_all)

  it("is told of its objects, of the owners of what they own, and of what a mapping names", function()
    local sim = cluster.sim()
    sim.api:create(deployments, deployment "web")
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local controller = k8s.controller {
        of = "deployments.apps", owns = { "pods" }, qps = 0, base = "1ms", workers = 2,
        watches = { configmaps = function(cm) return cm.data and { "default/" .. cm.data.text, "default/all" } end },
        reconcile = function(key, job)
          print("look at " .. key .. (job.retries > 0 and " again" or ""))
          if key == "default/poor" and job.retries < 2 then return nil, { message = "not yet" } end
        end,
      }
      assert(tostring(controller.queue) == "queue deployments.apps")
      k8s.main(function() print(controller.informer:lister():count()) end)
    ]])
    engine:wait_line "^look at default/web$"
    local function told(...)
      for _, name in ipairs { ... } do engine:wait_line("^look at default/" .. name .. "$") end
    end
    sim.api:create(pods, pod("a", { owner("v1", "Service", "no"), owner("apps/v1", "Deployment", "big", true) }))
    told "big"
    -- None of these is an owner of that kind which controls the pod.
    sim.api:create(pods, pod("b", {
      owner("apps/v1", "Deployment", "no"), owner("extensions/v1", "Deployment", "no", true),
      owner("v1", "Deployment", "no", true), owner("apps/v1", "ReplicaSet", "no", true),
    }))
    sim.api:create(configmaps, configmap("c", "first"))
    told("first", "all")
    sim.api:patch(configmaps .. "/c", { data = { text = "second" } })
    told("first", "all", "second")
    sim.api:request("DELETE", configmaps .. "/c")
    told("second", "all")
    sim.api:create(deployments, deployment "poor")
    told("poor", "poor again", "poor again")
    sim.api:request("DELETE", pods .. "/a?gracePeriodSeconds=0")
    told "big"
    assert.is_nil(engine:out():find("/no", 1, true))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("begins when all its caches are whole", function()
    local sim = cluster.sim { "--pods", "300" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods, nodes = k8s.informer "pods", k8s.informer "nodes"
      local least
      k8s.controller {
        of = nodes, watches = { [pods] = function(pod) return pod.spec.nodeName end }, name = "nodes",
        reconcile = function()
          if not least then print("begins with " .. pods:lister():count()) end
          least = true
        end,
      }
    ]])
    engine:wait_line "^begins with 300$"
  end)

  it("says what is missing or wrong", function()
    local sim = cluster.sim()
    local wrong = {
      ["{}"] = "k8s.controller: of is missing",
      ["{ of = 'pods' }"] = "k8s.controller: reconcile is missing",
      ["{ of = 5, reconcile = print }"] = "k8s.controller: of must be a kind or informer, not number",
      ["{ of = 'pods', reconcil = print }"] = 'did you mean "reconcile"',
      ["{ of = 'pods', reconcile = print, owns = { 5 } }"] = "owns must be a list of kinds or informers",
      ["{ of = 'pods', reconcile = print, watches = { 'pods' } }"] = "watches must have kinds or informers as keys",
      ["{ of = k8s.quantity '1', reconcile = print }"] = "k8s.controller: expected an informer, not quantity",
    }
    for text, message in pairs(wrong) do
      local p = cluster.run(sim.server, cluster.script("local k8s = require 'k8s'\nk8s.controller " .. text))
      assert.are.equal(2, p:wait())
      assert.has_match(":2: ", p:err(), 1, true)
      assert.has_match(message, p:err(), 1, true)
    end
  end)
end)
