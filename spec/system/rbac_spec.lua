-- `kubelua rbac`: which rights scripts need, from what they register. spec/real/rbac_spec.lua shows that these are the
-- least and enough.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: kubelua\n"

-- Runs without any cluster around, unless flags name one.
local function rbac(...)
  local p = cluster.kubelua { "rbac", "--kubeconfig=/dev/null", ... }
  p:wait(30)
  return p
end

describe("kubelua rbac", function()
  after_each(cluster.stop_all)

  local sim
  local function on_sim(text, ...)
    sim = sim and sim.exit_code == nil and sim or cluster.sim()
    local p = cluster.kubelua { "rbac", "--server", sim.server, "-f", cluster.script(text), ... }
    p:wait(30)
    return p
  end

  -- Nothing in the environment leads to a cluster. Returns stdout with the exit code, stderr and the script.
  local function alone(text)
    local script, errors = cluster.script(text), temp.name()
    local pipe = io.popen(("env -i HOME=/nowhere '%s' rbac -f '%s' 2>'%s'; echo \"exit $?\""):format(
      cluster.binary, script, errors))
    local out = pipe:read "*a"
    pipe:close()
    return out, temp.read(errors), script
  end

  it("has list and watch of informers, in the namespaces that they name", function()
    local p = on_sim [[
      local k8s = require "k8s"
      k8s.informer("po")
      k8s.informer("deploy", { metadata_only = true, namespace = "shop" })
      k8s.informer("svc", { namespaces = { "a", "b" } })
      k8s.informer("nodes", { namespace = "shop" })
    ]]
    assert.are.equal(0, p.exit_code, p:report())
    local function role(namespace, group, resource)
      return "---\n" .. head:format "Role" .. "  namespace: " .. namespace .. "\nrules:\n  - apiGroups: [" .. group ..
        "]\n    resources: [" .. resource .. "]\n    verbs: [list, watch]\n"
    end
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [nodes, pods]
    verbs: [list, watch]
]=] .. role("a", '""', "services") .. role("b", '""', "services") .. role("shop", "apps", "deployments"), p:out())
  end)

  it("has list and watch of namespaces, where an informer follows their labels", function()
    local p = on_sim [[
      local k8s = require "k8s"
      k8s.informer("po", { namespaces = { selector = "team=shop" } })
      k8s.informer("nodes", { namespaces = { selector = "team=pay" } })
    ]]
    assert.are.equal(0, p.exit_code, p:report())
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [namespaces, nodes, pods]
    verbs: [list, watch]
]=], p:out())
  end)

  it("has a role for each namespace whose labels an informer follows, if asked for", function()
    local text = [[
      local k8s = require "k8s"
      k8s.informer("po", { namespaces = { selector = "team=shop" } })
      k8s.informer("svc", { namespace = "pay" })
    ]]
    local function role(kind, name, resource)
      return (head:format(kind) .. [=[
rules:
  - apiGroups: [""]
    resources: [%s]
    verbs: [list, watch]
]=]):gsub("name: kubelua\n", "name: " .. name .. "\n"):format(resource)
    end
    local comment = "# To be bound by a RoleBinding in each namespace that has the labels.\n"
    assert.are.equal(table.concat({
      role("ClusterRole", "kubelua", "namespaces"), comment .. role("ClusterRole", "kubelua-in-namespaces", "pods"),
      role("Role", "kubelua\n  namespace: pay", "services"),
    }, "---\n"), on_sim(text, "--namespaced"):out())
    local p = on_sim(text, "--namespaced", "-o", "kustomize")
    assert.has_match("verbs: %[list, watch%]\n%-%-%-\n" .. "apiVersion: rbac", p:out())
    assert.is_nil(p:out():find("kind: ClusterRole\n  name: kubelua-in-namespaces", 1, true)) -- no binding
    p = on_sim(text, "--namespaced", "-o", "helm")
    assert.are.equal(2, p.exit_code)
    assert.has_match("kubelua rbac: the values of the chart have no place for the rights of --namespaced", p:err(), 1,
      true)
  end)

  it("has list and watch of what rules check and use", function()
    local p = on_sim [[
      require("k8s").rule {
        id = "a", kinds = { "services" }, uses = { pods = { kind = "pods", index = "namespace" } }, check = print,
      }
    ]]
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [pods, services]
    verbs: [list, watch]
]=], p:out())
  end)

  it("has patch for fixes of rules, where that is requested", function()
    local script = [[
      local k8s = require "k8s"
      k8s.rule { id = "a", kinds = { "services" }, uses = { pods = { kind = "pods" } }, check = print, fix = print }
      k8s.rule { id = "b", kinds = { "configmaps" }, check = print }
    ]]
    local function rules(services)
      return head:format "ClusterRole" .. "rules:\n" .. services
    end
    assert.are.equal(rules [=[
  - apiGroups: [""]
    resources: [configmaps, pods]
    verbs: [list, watch]
  - apiGroups: [""]
    resources: [services]
    verbs: [list, watch, patch]
]=], on_sim(script, "--audit-apply"):out())
    assert.are.equal(rules [=[
  - apiGroups: [""]
    resources: [configmaps, pods, services]
    verbs: [list, watch]
]=], on_sim(script):out())
  end)

  it("has the declarations of k8s.reads, and events where a script creates them", function()
    local p = on_sim([[
      local k8s = require "k8s"
      k8s.reads { "secrets:get", "cm:*", "Pod:list" }
      k8s.informer("pods"):on_add(function(pod) k8s.event(pod, "Normal", "Seen", "hello") end)
    ]], "--name", "on")
    assert.are.equal([=[
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "on"
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [get, list, watch]
  - apiGroups: [""]
    resources: [events]
    verbs: [create, patch]
  - apiGroups: [""]
    resources: [pods]
    verbs: [list, watch]
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get]
]=], p:out())
  end)

  it("has logs, and the resources or the URLs of paths", function()
    local p = on_sim([[
      local k8s = require "k8s"
      k8s.reads { "pods/log:get", "/apis/metrics.k8s.io/v1beta1/nodes", "/apis/metrics.k8s.io/v1beta1/nodes/*" }
      k8s.reads { "/api/v1/namespaces/shop/pods/web/status", "/api/v1/namespaces/*/secrets/*", "/api/v1/namespaces/*" }
      k8s.reads { "/apis/metrics.k8s.io/*/namespaces/shop/pods", "/readyz", "/openapi/v3/*", "/a/*/b", "/apis/x.io/v1" }
    ]])
    assert.are.equal(0, p.exit_code, p:report())
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [namespaces, pods/log, secrets]
    verbs: [get]
  - apiGroups: [metrics.k8s.io]
    resources: [nodes]
    verbs: [get, list]
  - nonResourceURLs: ["/a/*", /apis/x.io/v1, "/openapi/v3/*", /readyz]
    verbs: [get]
---
]=] .. head:format "Role" .. [=[
  namespace: shop
rules:
  - apiGroups: [""]
    resources: [pods/status]
    resourceNames: [web]
    verbs: [get]
  - apiGroups: [metrics.k8s.io]
    resources: [pods]
    verbs: [list]
]=], p:out())
  end)

  it("leaves stdout to the roles, whatever scripts print while they load", function()
    local p = on_sim 'require("k8s").informer("pods") print("hello", 1)'
    assert.are.equal(0, p.exit_code, p:report())
    assert.are.equal("apiVersion:", p:out():match "^%S+")
    assert.is_nil(p:out():find "hello")
    assert.are.equal("hello\t1\n", p:err())
  end)

  it("has what k8s.writes declares", function()
    local p = on_sim [[
      local k8s = require "k8s"
      k8s.writes { "pods/status:patch", "po:delete", "apps/v1/Deployment:*", "*/scale:update" }
    ]]
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [delete]
  - apiGroups: [""]
    resources: [pods/status]
    verbs: [patch]
  - apiGroups: ["*"]
    resources: ["*/scale"]
    verbs: [update]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [create, update, patch, delete]
]=], p:out())
  end)

  it("has the reviews of run --metrics-auth=token, with the same flag", function()
    local text = 'require("k8s").informer "pods"'
    local plain = on_sim(text):out()
    assert.are.equal(plain, on_sim(text, "--metrics-auth=none"):out())
    local rule = "  - apiGroups: [%s]\n    resources: [%s]\n    verbs: [create]\n"
    assert.are.equal(plain .. rule:format("authentication.k8s.io", "tokenreviews")
      .. rule:format("authorization.k8s.io", "subjectaccessreviews"), on_sim(text, "--metrics-auth=token"):out())
  end)

  it("has what run --cache-dir reads of the cluster, with the same flag", function()
    local text = 'require("k8s").informer "pods"'
    local extra = on_sim(text, "--cache-dir=x"):out():sub(#on_sim(text):out() + 1)
    assert.are.equal([=[
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: kubelua
  namespace: kube-system
rules:
  - apiGroups: [""]
    resources: [namespaces]
    resourceNames: [kube-system]
    verbs: [get]
]=], extra)
  end)

  it("has the Leases and the table of run --shard, with the same flag", function()
    local extra = on_sim('require("k8s").informer "pods"', "--shard=team"):out()
    assert.has_match([=[
    resources: [leases]
    verbs: [get, list, create, update, delete]
]=], extra, 1, true)
    assert.has_match([=[
    resourceNames: [kubelua-shard-team]
    verbs: [get, list, watch, update]
]=], extra, 1, true)
  end)

  it("has what run --clusters-from follows, with the same flag", function()
    local extra = on_sim('require("k8s").informer "pods"', "--clusters-from=ops/team=a"):out()
    assert.has_match([=[
  namespace: ops
rules:
  - apiGroups: [""]
    resources: [secrets]
    verbs: [list, watch]
]=], extra, 1, true)
  end)

  it("has what run --report writes, with the same flag", function()
    local rule = 'require("k8s").rule { id = "a", kinds = { "pods" }, check = print }'
    local function rules(...) return on_sim(rule, ...):out():match "\nrules:\n(.*)$" end
    local caches = '  - apiGroups: [""]\n    resources: [pods]\n    verbs: [list, watch]\n'
    local reports = "  - apiGroups: [%s]\n    resources: [%s]\n    verbs: [list, create, patch, delete]\n"
    assert.are.equal(caches, rules())
    assert.are.equal(caches, rules "--report=metrics")
    local policy = reports:format("wgpolicyk8s.io", "clusterpolicyreports, policyreports")
    assert.are.equal(caches .. policy, rules "--report")
    local open = reports:format("openreports.io", "clusterreports, reports")
    assert.are.equal(caches .. open, rules "--report=openreports")
  end)

  it("has create too for what is applied, where \"apply\" declares it", function()
    local p = on_sim [[
      local k8s = require "k8s"
      k8s.writes { "cm:apply", "po:patch", "pods/status:apply" }
    ]]
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [create, patch]
  - apiGroups: [""]
    resources: [pods, pods/status]
    verbs: [patch]
]=], p:out())
  end)

  it("has events where the informers are, and --namespace counts as for run", function()
    local p = on_sim([[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(function(pod) k8s.event(pod, "Normal", "Seen", "hello") end)
    ]], "-n", "shop")
    assert.are.equal(head:format "Role" .. [=[
  namespace: shop
rules:
  - apiGroups: [""]
    resources: [events]
    verbs: [create, patch]
  - apiGroups: [""]
    resources: [pods]
    verbs: [list, watch]
]=], p:out())
  end)

  it("finds k8s.event where it is, and in modules, but not in comments and longer words", function()
    for text, expected in pairs {
      ["local tell = k8s.event"] = true, ["tell(k8s.event)"] = true, ["-- k8s.event"] = false,
      ["local x = k8s.events"] = false, ["local x = 'k8s_event'"] = false,
    } do
      local p = on_sim("local k8s = require 'k8s'\nlocal function tell() end\n" .. text .. "\n")
      assert.are.equal(expected, p:out():find("events", 1, true) ~= nil, text)
    end
    local p = on_sim "local k8s = require 'k8s'"
    assert.are.equal("# These scripts need no permissions.\n", p:out())
  end)

  it("knows Kubernetes' own kinds without a server, and names those that it does not know", function()
    local out, err = alone [[
      local k8s = require "k8s"
      for _, kind in ipairs { "ing", "apps/v1/Deployment", "leases", "crd", "PriorityClass" } do k8s.informer(kind) end
    ]]
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [apiextensions.k8s.io]
    resources: [customresourcedefinitions]
    verbs: [list, watch]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [list, watch]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [list, watch]
  - apiGroups: [networking.k8s.io]
    resources: [ingresses]
    verbs: [list, watch]
  - apiGroups: [scheduling.k8s.io]
    resources: [priorityclasses]
    verbs: [list, watch]
exit 0
]=], out)
    assert.is_truthy(err:find("kubelua rbac: no server, only built-in kinds are known", 1, true), err)
    local script
    out, err, script = alone [[
      local k8s = require "k8s"
      k8s.informer("widgits")
      k8s.reads { "gadgets:list", "podz:list", "pods:list" }
      k8s.writes { "deploymens.apps:patch" }
    ]]
    assert.are.equal("exit 2\n", out)
    for line, kind in pairs { [2] = "widgits", [3] = "gadgets" } do
      line = script .. ":" .. line .. ': "' .. kind .. '" is not a built-in kind; use --server, --kubeconfig'
      assert.is_truthy(err:find(line, 1, true), err)
    end
    local meant = script .. ':4: no kind "deploymens.apps" in the built-in API groups, '
      .. 'did you mean "deployments.apps"?\n'
    assert.is_truthy(err:find(meant, 1, true), err)
    meant = '"podz" is not a built-in kind, did you mean "pods"?; use --server'
    assert.is_truthy(err:find(meant, 1, true), err)
  end)

  it("takes a kind that nobody knows by its group, where the script writes it", function()
    local out, err = alone [[
      local k8s = require "k8s"
      k8s.informer("widgets.example.com", { namespaces = { "shop" } })
      k8s.reads { "widgets.v1.example.com:list" }
      k8s.writes { "example.com/v1beta1/Policy:patch", "policies.example.com/status:apply" }
    ]]
    assert.are.equal(head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [example.com]
    resources: [policies, policies/status]
    verbs: [patch]
  - apiGroups: [example.com]
    resources: [widgets]
    verbs: [list]
---
]=] .. head:format "Role" .. [=[
  namespace: shop
rules:
  - apiGroups: [example.com]
    resources: [widgets]
    verbs: [watch]
exit 0
]=], out)
    assert.has_match(':2: "widgets.example.com" is not a built-in kind; assumed to be the resource "widgets" of the '
      .. 'API group "example.com", in namespaces\n', err, 1, true)
  end)

  it("resolves kinds by a dump, and uses no server then", function()
    local dump = temp.folder { ["crds.json"] = [[{ "kind": "CustomResourceDefinition", "spec": {
      "group": "example.com", "scope": "Cluster",
      "names": { "plural": "widgetry", "singular": "widget", "kind": "Widget", "shortNames": ["wd"] },
      "versions": [ { "name": "v1", "served": true } ] } }]] }
    local function against(text)
      local p = cluster.kubelua { "rbac", "--server", "http://127.0.0.1:1", "--against", dump, "-f",
        cluster.script(text) }
      p:wait(30)
      return p
    end
    local p = against "require('k8s').informer('wd', { namespaces = { 'shop' } })"
    assert.are.same({ head:format "ClusterRole" .. [=[
rules:
  - apiGroups: [example.com]
    resources: [widgetry]
    verbs: [list, watch]
]=], "" }, { p:out(), p:err() })
    p = against "require('k8s').informer('gadgets.example.com')"
    assert.are.equal(2, p.exit_code, p:report())
    assert.has_match('doesn\'t have a resource type "gadgets.example.com"', p:err(), 1, true)
    temp.remove(dump)
  end)

  it("checks a server that was named, and reports when it cannot", function()
    local script = cluster.script "require('k8s').informer('pods')"
    local p = cluster.kubelua { "rbac", "--server", "http://127.0.0.1:1", "-f", script }
    assert.are.equal(2, p:wait(30))
    assert.is_truthy(p:err():find("http://127.0.0.1:1", 1, true), p:report())
    p = rbac("-f", script)
    assert.are.equal(2, p.exit_code)
    p = on_sim "require('k8s').informer('pods', { nmaespace = 'a' })"
    assert.are.equal(2, p.exit_code)
    assert.is_truthy(p:err():find('unknown option "nmaespace"', 1, true), p:report())
    p = on_sim "require('k8s').informer('gadgets')"
    assert.are.equal(2, p.exit_code)
    assert.is_truthy(p:err():find("the server doesn't have a resource type \"gadgets\"", 1, true), p:report())
  end)
end)
