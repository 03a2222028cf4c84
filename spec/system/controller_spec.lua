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

  it("receives all owners that an index names, by uid or by key", function()
    local sim = cluster.sim()
    local maps = "/api/v1/namespaces/default/configmaps"
    local function map(name, references, owner)
      return sim.api:create(maps, {
        apiVersion = "v1", kind = "ConfigMap", data = { owner = owner },
        metadata = { name = name, namespace = "default", ownerReferences = references },
      })
    end
    local function reference(to)
      return { apiVersion = "v1", kind = "Secret", name = to.metadata.name, uid = to.metadata.uid }
    end
    local function secret(name)
      return sim.api:create("/api/v1/namespaces/default/secrets",
        { apiVersion = "v1", kind = "Secret", metadata = { name = name, namespace = "default" } })
    end
    local one, two = secret "one", secret "two"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer "configmaps"
      maps:add_index("uid", "metadata.ownerReferences[*].uid")
      maps:add_index("key", function(map, emit) if map.data then emit(map.data.owner) end end)
      k8s.controller {
        of = "secrets", reconcile = function(key) print(key) end,
        owns = { { of = maps, index = "uid" }, { of = maps, index = "key" } },
      }
      k8s.main(function() print "ready" end)
    ]])
    engine:wait_line "^default/two$"
    local function told(...)
      for _, name in ipairs { ... } do engine:wait_line("^default/" .. name .. "$") end
    end
    map("both", { reference(one), reference(two) })
    told("one", "two")
    map("named", nil, "other/far")
    engine:wait_line "^other/far$"
    sim.api:patch(maps .. "/named", { data = { owner = "near" } })
    engine:wait_line "^other/far$" -- of the old one
    told "near"
    local uid = "12345678-1234-1234-1234-123456789012"
    map("orphan", { { apiVersion = "v1", kind = "Secret", name = "gone", uid = uid } })
    map("last", nil, "last")
    told "last"
    assert.is_nil(engine:out():find("gone", 1, true))
  end)

  it("receives the keys that a path leads to", function()
    local sim = cluster.sim()
    local function pod(name, ...)
      local volumes = {}
      for i, map in ipairs { ... } do volumes[i] = { name = "v" .. i, configMap = { name = map } } end
      sim.api:create("/api/v1/namespaces/default/pods", {
        apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", labels = { key = "shop.a" } },
        spec = { containers = { { name = "a", image = "b" } }, volumes = #volumes > 0 and volumes or nil },
      })
    end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.controller {
        of = "configmaps", watches = { pods = "spec.volumes[*].configMap.name" }, name = "maps",
        reconcile = function(key) print("map " .. key) end,
      }
      k8s.controller {
        of = "nodes", watches = { pods = "metadata.labels.key" }, name = "nodes",
        reconcile = function(key) print("node " .. key) end,
      }
      k8s.main(function() print "ready" end)
    ]])
    engine:wait_line "^ready$"
    pod("web", "a", "b")
    engine:wait_line "^map default/a$"
    engine:wait_line "^map default/b$"
    pod "none"
    engine:wait_until(function() return select(2, engine:out():gsub("node shop.a\n", "")) >= 1 end, "the label")
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
      ["{ of = 'pods', reconcile = print, owns = { jobs = 'spec.x' } }"] =
        "owns must be a list of kinds or informers, found the key jobs",
      ["{ of = 'pods', reconcile = print, owns = { { of = k8s.informer 'nodes' } } }"] = "an index needs of and index",
      ["{ of = 'pods', reconcile = print, owns = { { of = k8s.informer 'nodes', index = 'x' } } }"] =
        'k8s.controller: owns: the informer has no index "x"; add it with add_index before',
      ["{ of = 'pods', reconcile = print, watches = { nodes = 'a[' } }"] = "k8s.controller: watches",
      ["{ of = 'pods', reconcile = print, watches = { nodes = 5 } }"] = "functions or paths as values",
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
