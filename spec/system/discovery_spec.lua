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
    k8s.reads { "closed.example.com/v1/Policy:get" }
    local informers = {}
    for _, kind in ipairs { "pods", "deployments.apps", "closed.example.com/v1/Policy" } do
      informers[kind] = k8s.informer(kind)
    end
    k8s.main(function()
      for kind, informer in pairs(informers) do print("synced", kind, informer:lister():count()) end
      print("cached", informers["closed.example.com/v1/Policy"]:lister():get("one").spec.size)
      print("read", assert(k8s.get("closed.example.com/v1/Policy", "one")).spec.size)
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
      -- The faults are for what gets no object: no list or watch has a path that ends so.
      sim:play {
        ["do"] = "fault", path = "/api", verb = "get", what = "status", code = code, reason = reason,
        message = "closed", times = 2,
      }
      local engine = cluster.run(sim.server, cluster.script(script))
      engine:wait_line("^wrote$", 20)
      local out = engine:out()
      for _, line in ipairs {
        "synced\tpods\t3\n", "synced\tdeployments.apps\t0\n", "synced\tclosed.example.com/v1/Policy\t1\n",
        "cached\t1\n", "read\t1\n",
      } do assert.has_match(line, out, 1, true) end
      assert.has_match("Discovery is incomplete.*/api: closed; /apis: closed", engine:err())
      assert.are.equal(2, sim.api:get(path .. "/one").spec.size)
    end)
  end

  it("that hangs for some groups holds up no informer and no read of others", function()
    local sim = cluster.sim { "--pods", "3" }
    sim:play { ["do"] = "fault", path = "/apis", verb = "get", what = "silence" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "pods:list", "deployments:list" }
      local pods, deployments = k8s.informer "pods", k8s.informer "deployments"
      local first = true
      pods:on_add(function()
        if not first then return end
        first = false
        print("pods", #k8s.list("pods"), deployments:status().state)
        print("deployments", #assert(k8s.list("deployments")))
      end)
    ]])
    engine:wait_line("^pods\t3\t", 20)
    assert.is_nil(engine:out():find("deployments", 1, true))
  end)
end)
