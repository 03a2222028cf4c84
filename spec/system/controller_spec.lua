-- k8s.controller: which keys it is told of, and by whom.
local cluster = require "spec.support.cluster"
local controllers = require "spec.support.controllers"

describe("k8s.controller", function()
  after_each(cluster.stop_all)

  it("receives events of its objects, of the owners of what they own, and of what a mapping names", function()
    local sim = cluster.sim()
    controllers(sim.server, sim.api)
  end)

  it("begins when all its caches are complete", function()
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

  it("finds the owner of an object that has fields called as methods are", function()
    local sim = cluster.sim()
    sim.api:create("/api/v1/namespaces/default/pods", {
      apiVersion = "v1", kind = "Pod", namespace = { "no method" },
      spec = { containers = { { name = "a", image = "b" } } },
      metadata = {
        name = "web-1", namespace = "default",
        ownerReferences = {
          { apiVersion = "apps/v1", kind = "Deployment", name = "web", uid = "u", controller = true },
        },
      },
    })
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.controller { of = "deployments.apps", owns = { "pods" }, reconcile = function(key) print(key) end }
    ]])
    engine:wait_line "^default/web$"
  end)

  it("names itself and the function when a mapping returns what is no key", function()
    local sim = cluster.sim()
    sim.api:create("/api/v1/namespaces/default/configmaps",
      { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a" } })
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.controller {
        of = "pods", reconcile = print,
        watches = {
          configmaps = function(o) return 5 end,
          [k8s.informer("configmaps", { selector = "!x" })] = function(o) return true end,
        },
      }
    ]])
    local says = ":%d: k8s.controller: the function for configmaps in watches must return a key, a list of keys or "
      .. "nothing, not %s"
    for _, wrong in ipairs { says:format(5, "number"), says:format(6, "boolean") } do
      engine:wait_until(function() return engine:err():find(wrong, 1, true) end, wrong)
    end
  end)

  it("reports what is missing or wrong", function()
    local sim = cluster.sim()
    local wrong = {
      ["{}"] = "k8s.controller: of is missing",
      ["{ of = 'pods' }"] = "k8s.controller: reconcile is missing",
      ["{ of = 5, reconcile = print }"] = "k8s.controller: of must be a kind or informer, not number",
      ["{ of = 'pods', reconcil = print }"] = 'did you mean "reconcile"',
      ["{ of = 'pods', reconcile = print, owns = { 5 } }"] = "owns must be a list of kinds or informers",
      ["{ of = 'pods', reconcile = print, watches = { 'pods' } }"] = "watches must have kinds or informers as keys",
      ["{ of = 'pods', reconcile = print, workers = 0 }"] = "k8s.controller: workers must be between 1 and 1000, not 0",
      ["{ of = 'pods', reconcile = print } k8s.controller { of = 'pods', reconcile = print }"] =
        'k8s.controller: the name "pods" is already used; set another one with name = ...',
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
