-- `kubelua rbac`: resourceNames of what a script names. spec/real/rbac_spec.lua shows that they are enough.
local cluster = require "spec.support.cluster"

local head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: kubelua\n"

describe("names in the roles of kubelua rbac", function()
  after_each(cluster.stop_all)

  local function on_sim(text, ...)
    local p = cluster.kubelua { "rbac", "--server", cluster.sim().server, "-f", cluster.script(text), ... }
    p:wait(30)
    return p
  end

  it("are of leases of elections, whose events have none", function()
    local function lease(namespace, name)
      return (head:format "Role" .. [=[
  namespace: %s
rules:
  - apiGroups: [""]
    resources: [events]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [%s]
    verbs: [get, update]
]=]):format(namespace, name)
    end
    assert.are.equal(lease("ops", "rules"),
      on_sim("require('k8s').leader { lease = 'ops/rules' }", "--leader-elect-resource-namespace=ops"):out())
    assert.are.equal(lease("here", "rules"), on_sim("require('k8s').leader { lease = 'rules' }", "-n", "here"):out())
    assert.are.equal(lease("own", "kubelua"),
      on_sim("local k8s = require 'k8s'", "--leader-elect", "--leader-elect-resource-namespace=own"):out())
  end)

  it("are of Secrets of parameters, ConfigMaps of states, single objects and paths", function()
    local p = on_sim([[
      local k8s = require "k8s"
      k8s.params {
        a = { type = "secret", from = "secret:shop/slack/token" },
        b = { type = "secret", from = "secret:shop/git/key" },
      }
      k8s.state("seen", { keep = "configmap" })
      k8s.informer("nodes", { field_selector = "metadata.name=one" })
      k8s.reads { "/api/v1/namespaces/shop/services/web" }
    ]], "--leader-elect-resource-namespace=shop")
    local map = p:out():match "%[(kubelua%-state%-[^%]]+)%]"
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [nodes]
    resourceNames: [one]
    verbs: [list, watch]
---
]=] .. head:format "Role" .. [=[
  namespace: shop
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [create]
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: []=] .. tostring(map) .. [=[]
    verbs: [get, patch]
  - apiGroups: [""]
    resources: [secrets]
    resourceNames: [git, slack]
    verbs: [list, watch]
  - apiGroups: [""]
    resources: [services]
    resourceNames: [web]
    verbs: [get]
]=], p:out())
  end)
end)
