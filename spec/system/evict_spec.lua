-- k8s.evict on a simulated world: what a PodDisruptionBudget allows, and what it forbids.
local cluster = require "spec.support.cluster"

local core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"

local deployment = { kind = "Deployment", apiVersion = "apps/v1", metadata = { name = "web" }, spec = {
  replicas = 2, selector = { matchLabels = { app = "web" } },
  template = { metadata = { labels = { app = "web" } }, spec = { containers = { { name = "c", image = "i:1" } } } },
} }

local budget = { kind = "PodDisruptionBudget", apiVersion = "policy/v1", metadata = { name = "least" },
  spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } } }

describe("k8s.evict", function()
  after_each(cluster.stop_all)

  it("refuses what is no pod, which may have the name of one", function()
    local sim = cluster.sim { "--pods", "1" }
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "pods/eviction:create" }
      k8s.main(function()
        for _, kind in ipairs { "ConfigMap", "deployments.apps" } do
          print(select(2, pcall(k8s.evict, { kind = kind, namespace = "d", name = "p" })))
        end
        for _, kind in ipairs { "Pod", "pods", "v1/Pod" } do
          print(select(2, k8s.evict { kind = kind, namespace = "d", name = "p" }).code)
        end
      end)
    ]] }
    assert.are.equal(0, p:wait(30), p:report())
    local lines = "expected a pod, not ConfigMap\n[^\n]*expected a pod, not deployments.apps\n404\n404\n404\n$"
    assert.has_match(lines, p:out())
  end)

  it("evicts as many pods as a budget allows, and returns its refusal of the next", function()
    local sim = cluster.sim { "--world", "--world-seed", "1", "--world-clock", "stopped", "--world-nodes", "2" }
    sim.api:create(apps .. "deployments", deployment)
    sim.api:create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)
    sim.api:request("POST", "/sim/clock?step=1m")
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "pods:list" }
      k8s.writes { "pods/eviction:create" }
      k8s.main(function()
        for _, pod in ipairs(k8s.list("pods", { namespace = "default" })) do
          local done, err = k8s.evict(pod, { grace_period = "0s" })
          if done then print "evicted" else print(err.code, err.reason, err.causes[1].reason, err.causes[1].message) end
        end
      end)
    ]] }
    assert.are.equal(0, p:wait(30), p:report())
    assert.are.equal("evicted\n429\tTooManyRequests\tDisruptionBudget\tThe disruption budget least does not allow "
      .. "evicting pods currently\n", p:out())
    assert.are.equal(1, #sim.api:get(core .. "pods").items)
    sim.api:request("POST", "/sim/clock?step=1m") -- another pod runs, so that one may go again
    assert.are.equal(2, #sim.api:get(core .. "pods").items)
    assert.are.equal(0, p:wait(30))
  end)
end)
