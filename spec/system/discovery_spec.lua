-- Servers that do not tell their kinds, or not all of them: informers run all the same, as those of client-go do (F-4).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"

local crd = cjson.decode [[{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": { "name": "policies.closed.example.com" },
  "spec": {
    "group": "closed.example.com", "scope": "Cluster",
    "names": { "plural": "policies", "singular": "policy", "kind": "Policy", "listKind": "PolicyList" },
    "versions": [ { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
      "type": "object", "x-kubernetes-preserve-unknown-fields": true } } } ]
  }
}]]

describe("discovery #threads", function()
  after_each(cluster.stop_all)

  local script = [[
    local k8s = require "k8s"
    k8s.writes { "closed.example.com/v1/Policy:patch" }
    k8s.reads { "closed.example.com/v1/Policy:*" }
    local informers = {}
    for _, kind in ipairs { "pods", "deployments.apps", "closed.example.com/v1/Policy" } do
      informers[kind] = k8s.informer(kind)
    end
    informers["closed.example.com/v1/Policy"]:on_update(function(_, policy)
      if policy.spec.size == 3 then print("read", assert(k8s.get("closed.example.com/v1/Policy", "one")).spec.size) end
    end)
    k8s.main(function()
      for kind, informer in pairs(informers) do print("synced", kind, informer:lister():count()) end
      print("cached", informers["closed.example.com/v1/Policy"]:lister():get("one").spec.size)
      print("listed", #k8s.list("closed.example.com/v1/Policy"))
      assert(k8s.patch({ kind = "closed.example.com/v1/Policy", name = "one" }, { spec = { size = 2 } }))
      print("wrote")
    end)
  ]]

  for code, reason in pairs { [403] = "Forbidden", [404] = "NotFound" } do
    it("that responds with " .. code .. " leaves built-in kinds and full names", function()
      local sim = cluster.sim { "--pods", "3" }
      local path = "/apis/closed.example.com/v1/policies"
      sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
      require("spec.support.await")(function() return sim.api:curl("GET", path) == 200 end, path, 30)
      sim.api:create(path, {
        apiVersion = "closed.example.com/v1", kind = "Policy", metadata = { name = "one" }, spec = { size = 1 },
      })
      sim:play {
        ["do"] = "fault", path = "/api", verb = "get", what = "status", code = code, reason = reason,
        message = "closed", times = 0,
      }
      local engine = cluster.run(sim.server, cluster.script(script))
      engine:wait_line("^wrote$", 20)
      local out = engine:out()
      for _, line in ipairs {
        "synced\tpods\t3\n", "synced\tdeployments.apps\t0\n", "synced\tclosed.example.com/v1/Policy\t1\n",
        "cached\t1\n", "listed\t1\n",
      } do assert.has_match(line, out, 1, true) end
      assert.has_match("Discovery is incomplete.*/api: closed; /apis: closed", engine:err())
      sim:play { ["do"] = "clear" }
      local policy = sim.api:get(path .. "/one")
      assert.are.equal(2, policy.spec.size)
      policy.spec.size = 3
      sim.api:update(path .. "/one", policy)
      engine:wait_line("^read\t3$", 20)
    end)
  end

  it("that hangs for some groups delays no informer, no read of others and no handler that waits for none", function()
    local sim = cluster.sim { "--pods", "3" }
    sim:play { ["do"] = "fault", path = "/apis", verb = "get", what = "silence" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "pods:list", "deployments:list" }
      local pods, deployments = k8s.informer "pods", k8s.informer "deployments"
      local first = true
      pods:add_event_handler { wait = false, OnAdd = function()
        if not first then return end
        first = false
        print("pods", #k8s.list("pods"), deployments:status().state)
        print("deployments", #assert(k8s.list("deployments")))
      end }
    ]])
    engine:wait_line("^pods\t3\t", 20)
    assert.is_nil(engine:out():find("deployments", 1, true))
  end)

  local slow = { what = "delay", ["for"] = "2s", path = "/apis" }
  for why, faults in pairs {
    ["is slow"] = { slow },
    ["fails at first"] = { { what = "status", code = 503, path = "/apis" } },
    ["fails for the core group and is slow"] = { slow, { what = "status", code = 500, path = "/api" } },
  } do
    it("that " .. why .. " is waited for by handlers, whose caches are complete", function()
      local sim = cluster.sim { "--pods", "3" }
      local names = '"metadata":{"name":"web"}'
      sim.api:create("/apis/apps/v1/namespaces/default/deployments", cjson.decode([[{
        "apiVersion": "apps/v1", "kind": "Deployment", ]] .. names .. [[, "spec": {
          "selector": { "matchLabels": { "a": "b" } },
          "template": { "metadata": { "labels": { "a": "b" } },
            "spec": { "containers": [ { "name": "c", "image": "i" } ] } } } }]]))
      for _, fault in ipairs(faults) do
        fault["do"], fault.verb = "fault", "get"
        sim:play(fault)
      end
      local engine = cluster.run(sim.server, cluster.script [[
        local k8s = require "k8s"
        local pods, deployments = k8s.informer "pods", k8s.informer "deployments.apps"
        pods:on_add(function() print("pod", deployments:lister():count()) end)
        deployments:on_add(function() print("deployment", pods:lister():count()) end)
      ]])
      local lines = {}
      for i = 1, 4 do lines[i] = engine:wait_line("^.*$", 20) end
      table.sort(lines)
      assert.are.same({ "deployment\t3", "pod\t1", "pod\t1", "pod\t1" }, lines)
      assert.is_nil(engine:err():find("Handlers start without", 1, true))
      assert.is_nil(engine:err():find("Cache was read before", 1, true))
    end)
  end

  it("that fails for good is the reason that exec gives", function()
    local sim = cluster.sim()
    sim:play { ["do"] = "fault", verb = "get", path = "/apis", what = "status", code = 503, times = 0 }
    local exec = cluster.kubelua { "exec", "-s", sim.server, "--sync-timeout", "1s", cluster.script [[
      local k8s = require "k8s"
      k8s.informer "deployments.apps"
      k8s.main(function() end)
    ]] }
    assert.are.equal(3, exec:wait(20))
    assert.has_match("deployments.apps: the server doesn't have a resource type.*%(not all groups responded: /apis: ",
      exec:err())
  end)

  it("that is slow is waited for by commands that need all of it", function()
    local sim = cluster.sim { "--pods", "3" }
    sim:play { ["do"] = "fault", path = "/apis", verb = "get", what = "delay", ["for"] = "1500ms" }
    local path = cluster.script [[ require("k8s").informer "deployments" ]]
    local check = cluster.kubelua { "check", "-f", path, "-s", sim.server }
    assert.are.equal(0, check:wait(20), check:out() .. check:err())
    sim:play { ["do"] = "fault", path = "/apis", verb = "get", what = "delay", ["for"] = "1500ms" }
    local rbac = cluster.kubelua { "rbac", "-f", path, "-s", sim.server }
    assert.are.equal(0, rbac:wait(20), rbac:err())
    assert.has_match("deployments", rbac:out(), 1, true)
  end)
end)
