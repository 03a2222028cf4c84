-- `kubelua rbac --for publish|worker`: rights of those who write objects into a bucket, and who have them from there.
local cluster = require "spec.support.cluster"

local head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: kubelua\n"

local function rbac(...)
  local p = cluster.kubelua { "rbac", ... }
  p:wait(30)
  return p
end

describe("kubelua rbac --for", function()
  after_each(cluster.stop_all)

  it("is that of a publisher, or of an engine that has its objects from there", function()
    local sim = cluster.sim()
    local function on_sim(text, ...) return rbac("--server", sim.server, "-f", cluster.script(text), ...) end
    local script = [[
      local k8s = require "k8s"
      k8s.writes { "deployments:patch" }
      k8s.reads { "secrets:get" }
      k8s.informer("po", { namespace = "shop" })
      k8s.informer("deploy", { namespaces = { selector = "team=shop" } })
    ]]
    local whole = head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [configmaps, namespaces, pods]
    verbs: [list, watch]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [list, watch]
]=]
    local p = on_sim(script, "--for=publish", "--kind=cm", "--kind=deployments.apps")
    assert.are.equal(whole, p:out(), p:report())
    local kinds = rbac("--server", sim.server, "--for=publish", "--kind=pods", "-n", "shop")
    assert.are.equal(head:format "Role" .. [=[
  namespace: shop
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [list, watch]
]=], kinds:out(), kinds:report())
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [patch]
]=], on_sim(script, "--for=worker"):out())
    local function fails(pattern, ...)
      local refused = rbac(...)
      assert.are.equal(2, refused.exit_code, refused:report())
      assert.matches(pattern, refused:err())
    end
    fails("%-%-kind requires %-%-for publish", "--server", sim.server, "--kind=pods")
    fails("%-%-kind: .*podz", "--server", sim.server, "--for=publish", "--kind=podz")
  end)
end)
