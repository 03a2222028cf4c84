-- `kubelua check`: what is wrong with scripts, found without running them.
local cjson = require "cjson"
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"

local folder, place

local function write(...) place:write(...) end

local function check(...) return place:run(...) end

local sound = [[
local k8s = require "k8s"
k8s.informer("pods"):on_add(print, { where = { ["status.phase"] = "Failed" } })
]]

local no_server = "; no server was asked (use --context or --server for its kinds and permissions)\n"

local crds = [[{ "kind": "List", "items": [ { "kind": "CustomResourceDefinition", "spec": {
  "group": "example.com", "scope": "Namespaced",
  "names": { "plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"] },
  "versions": [ { "name": "v1", "served": true }, { "name": "v1alpha1", "served": false } ] } } ] }]]

describe("kubelua check", function()
  before_each(function()
    place = checks.new()
    folder = place.path
  end)
  after_each(function() place:remove() end)

  it("finds nothing wrong with a sound script, nor with the examples", function()
    write("a.lua", sound)
    assert.are.same({ 0, "", "1 script, 0 errors, 0 warnings" .. no_server }, { check("-f", folder) })
    local code, out = check("-f", "scripts", "--leader-elect-resource-namespace", "ops")
    assert.are.same({ 0, "" }, { code, (out:gsub("[^\n]*: warning: [^\n]*\n", "")) })
  end)

  it("prints what does not load as compilers do, and hides nothing of the others", function()
    write("a.lua", "local x = = 1")
    write("b.lua", 'local k8s = require "k8s"\n\nk8s.informer("pods", { selctor = "a" })')
    write("c.lua", 'local k8s = require "k8s"\nk8s.sleep(1)')
    local code, out, err = check("-f", folder)
    assert.are.equal(1, code)
    assert.are.equal("a.lua:1: error: unexpected symbol near '='\n"
      .. 'b.lua:3: error: k8s.informer: unknown option "selctor", did you mean "selector"?\n'
      .. "c.lua:2: error: k8s.sleep may not be called in the load phase\n", out)
    assert.are.equal("3 scripts, 3 errors, 0 warnings" .. no_server, err)
    local _, json = check("-f", folder, "-o", "json")
    assert.are.same({ file = "b.lua", line = 3, severity = "error",
      message = 'k8s.informer: unknown option "selctor", did you mean "selector"?' }, cjson.decode(json)[2])
  end)

  it("reports a server that it cannot ask in one line", function()
    write("a.lua", sound)
    local code, out, err = check("-f", folder, "-s", "http://127.0.0.1:9")
    assert.are.same({ 2, "" }, { code, out })
    assert.are.equal("kubelua check: http://127.0.0.1:9: GET /api: connect to 127.0.0.1:9: Connection refused\n", err)
    local plain = cluster.sim().server:match "[%d.]+:%d+"
    code, out, err = check("-f", folder, "-s", "https://" .. plain)
    cluster.stop_all()
    assert.are.same({ 2, "" }, { code, out })
    -- Its reply is no TLS, or it closes the connection: whichever is read first.
    assert.has_match("^kubelua check: [^\n]*; [^\n]* speaks? TLS[^\n]* is it an http:// address%?\n$", err)
  end)

  it("leaves stdout to the findings, whatever scripts print while they load", function()
    write("a.lua", 'print("hello", 1)\n' .. sound)
    assert.are.same({ 0, "", "hello\t1\n1 script, 0 errors, 0 warnings" .. no_server }, { check("-f", folder) })
    local _, json = check("-f", folder, "-o", "json")
    assert.are.same({}, cjson.decode(json))
  end)

  it("finds handlers that can never be called", function()
    write("a.lua", [[
local k8s = require "k8s"
local pods = k8s.informer("pods", { prune = { "spec.nodeName" } })
pods:on_add(print, {
  where = { ["spec.nodeName"] = "n1" },
})
pods:on_add(print, { where = { ["spec.nodeName"] = k8s.null } })
local nodes = k8s.informer("nodes", { metadata_only = true })
nodes:on_update(print, { changed = { "metadata.labels", "status.phase" } })
local few = k8s.informer("services", { fields = { "spec.ports[*].port", "spec.type" } })
few:on_add(print, { where = { ["spec.type"] = "NodePort", ["metadata.name"] = "x" } })
few:on_add(print, { where = { ["spec.clusterIP"] = "None" } })
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    local expected = {
      "a.lua:4: error: handler pods/1: where: the informer drops spec.nodeName (prune), so no object has it",
      "a.lua:8: error: handler nodes/3: changed: the informer drops status.phase (metadata_only), so it never changes",
      "a.lua:11: error: handler services/5: where: the informer drops spec.clusterIP (fields), so no object has it",
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
  end)

  it("names the line of the call, however far it goes, and no line of another", function()
    write("a.lua", [[
local k8s = require "k8s"
local kind, where = "podz", { ["status.phase"] = "Failed" }
local pods = k8s.informer("pods", {
  prune = { "status" },
})
pods:on_add(function(pod)
  print(pod:key()) -- ) not the end of it
end, {
  selector = "a",
  where = {
    ["status.phase"] = "Running",
  },
})
pods:on_add(print, { where = where })
pods:on_add(print, { where = { ["metadata.name"] = "status.phase" } })
k8s.informer(kind)
k8s.informer("pods", { selector = "podz" })
]])
    write("crds.json", crds)
    local _, out = check("-f", folder, "--against", folder .. "/crds.json")
    local dropped = ": where: the informer drops status.phase (prune), so no object has it\n"
    local expected = "a.lua:11: error: handler pods/1" .. dropped .. "a.lua:14: error: handler pods/2"
      .. dropped
    assert.are.equal(expected, (out:gsub("a.lua:16: error: [^\n]*podz[^\n]*\n", "", 1)))
    assert.matches("a.lua:16: ", out)
  end)

  it("checks kinds against a dump, or a server", function()
    write("crds.json", crds)
    write("a.lua", [[
local k8s = require "k8s"
k8s.informer "wd"
k8s.informer "podz"
k8s.reads { "gadgets.example.com:get" }
k8s.writes { "*:create", "deployments.apps/status:patch" }
]])
    local code, out = check("-f", folder)
    assert.are.equal(0, code)
    assert.matches('^a.lua:2: warning: "wd" is not a built%-in kind; to be sure', out)
    assert.matches('\na.lua:3: warning: "podz" is not a built%-in kind, did you mean "pods"%?; to be sure', out)
    assert.is_nil(out:find "gadgets")
    code, out = check("-f", folder, "--against", folder .. "/crds.json")
    assert.are.equal(1, code)
    assert.is_nil(out:find '"wd"')
    assert.matches('^a.lua:3: error: [^\n]*"podz", did you mean "pods"%?\na.lua:4: error: [^\n]*gadgets', out)
    local sim = cluster.sim()
    code, out = check("-f", folder, "-s", sim.server)
    assert.are.equal(1, code)
    assert.matches("a.lua:2: error: [^\n]*wd", out)
  end)

  it("reports that no server was used, also where the environment names one", function()
    write("a.lua", sound)
    write("crds.json", crds)
    write("config", "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
      .. "contexts: [{ name: x, context: { cluster: x } }]\n"
      .. "clusters: [{ name: x, cluster: { server: 'http://127.0.0.1:1' } }]\n")
    local p = cluster.kubelua { "check", "-f", folder .. "/a.lua", env = { KUBECONFIG = folder .. "/config" } }
    assert.are.same({ 0, "1 script, 0 errors, 0 warnings" .. no_server }, { p:wait(20), p:err() })
    local against = { check("-f", folder .. "/a.lua", "--against", folder .. "/crds.json") }
    assert.are.same({ 0, "", "1 script, 0 errors, 0 warnings\n" }, against)
  end)

  it("waits for a server no longer than --request-timeout", function()
    write("a.lua", sound)
    local sim = cluster.sim()
    sim:kill "STOP" -- its connections are taken, and nobody answers
    local code, out, err = check("-f", folder, "-s", sim.server, "--request-timeout", "300ms")
    assert.are.same({ 2, "" }, { code, out })
    assert.has_match("no response within 0.3 s (--request-timeout)", err, 1, true)
    sim:kill "CONT"
  end)

  it("finds selectors that contradict themselves, or their informer's", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.informer("services", { selector = "a=1,a=2" })
local pods = k8s.informer("pods", { selector = "tier in (web, api)" })
pods:on_add(print, {
  selector = "!x,x=1",
})
pods:on_add(print, { selector = "tier=db" })
pods:on_add(print, { selector = "tier notin (web, api), b" })
pods:on_add(print, { selector = "tier=web,n > 3,n < 5" })
pods:on_add(print, { selector = "tier!=web" })
pods:on_add(print)
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    local expected = {
      'a.lua:2: error: informer of services: selector "a=1,a=2" can never match: contradictory requirements for a',
      'a.lua:5: error: handler pods/1: selector "!x,x=1" can never match: contradictory requirements for x',
      'a.lua:7: error: handler pods/2: selector "tier=db" can never match: '
        .. 'its informer only has "tier in (web, api)"',
      'a.lua:8: error: handler pods/3: selector "b,tier notin (api,web)" can never match: '
        .. 'its informer only has "tier in (web, api)"',
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
  end)

  it("finds handlers whose namespaces nothing is in", function()
    write("a.lua", [[
local k8s = require "k8s"
local one, two = k8s.informer("pods", { namespace = "shop" }), k8s.informer("configmaps", { namespaces = { "a", "b" } })
one:on_add(print, { namespaces = { "shop-*" } })
two:on_add(print, { namespaces = { "!b" } })
two:on_add(print, { namespaces = { "c", "!a", "!b" } })
local all = k8s.informer("secrets")
all:on_add(print, { namespaces = { "x", "!x" } })
all:on_add(print, { namespaces = { "x*", "!x" } })
local nodes = k8s.informer("nodes")
nodes:on_add(print, { namespaces = { "shop" } })
nodes:on_add(print, { namespaces = { "!shop" } })
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    local expected = {
      "a.lua:3: error: handler pods/1: namespaces: none of them is watched by its informer (shop)",
      "a.lua:5: error: handler configmaps/3: namespaces: none of them is watched by its informer (a, b)",
      "a.lua:7: error: handler secrets/4: namespaces: every included namespace is also excluded",
      "a.lua:10: error: handler nodes/6: namespaces: nodes are not namespaced, so nothing can match",
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
    -- One that -n gives counts as one that the script names.
    write("a.lua", 'require("k8s").informer("pods"):on_add(print, { namespaces = { "b" } })')
    assert.are.equal(0, (check("-f", folder, "-n", "b")))
    assert.are.equal(1, (check("-f", folder, "-n", "a")))
  end)

  it("finds indexes and selectors of what informers drop, unless a transform may bring it", function()
    write("a.lua", [[
local k8s = require "k8s"
local pods = k8s.informer("pods", { fields = { "status.phase" } })
pods:add_index("node", "spec.nodeName")
pods:add_index("phase", "status.phase")
pods:on_add(print, { selector = "app" })
pods:on_add(print, { selector = "!app" })
local made = k8s.informer("services", {
  fields = { "spec.type" },
  transform = function(o) o.status = { a = "b" } return o end,
})
made:add_index("a", "status.a")
made:on_add(print, { where = { ["status.a"] = "b" } })
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    assert.are.equal("a.lua:3: error: index node: the informer drops spec.nodeName (fields), so the index is "
      .. "always empty\na.lua:5: error: handler pods/1: selector: the informer drops metadata.labels (fields), "
      .. "so nothing can match\n", out)
  end)

  it("finds schedules that never come, ids that are taken, and queues that nobody serves or fills", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.queue { name = "idle" }
local q = k8s.queue { name = "empty" }
q:run(print)
]])
    write("b.lua", 'local pods = require("k8s").informer("pods")\npods:on_add(print, { id = "x" })\n'
      .. 'pods:on_add(print, {\n  id = "x" })')
    write("c.lua", [[
local k8s = require "k8s"
local byhand, fed = k8s.queue { name = "by hand" }, k8s.queue { name = "fed" }
fed:run(function(key) byhand:add(key) end)
k8s.main(function() byhand:done(byhand:get()) end)
]])
    write("d.lua", 'require("k8s").controller { of = "pods", reconcile = print }')
    write("e.lua", 'local k8s = require "k8s"\nk8s.cron("0 0 31 2 *", print)')
    local code, out, err = check("-f", folder)
    assert.are.equal(1, code)
    local expected = {
      "a.lua:2: warning: nothing adds keys to the queue idle",
      "a.lua:2: warning: queue idle has no worker: neither queue:run nor queue:done is called",
      "a.lua:3: warning: nothing adds keys to the queue empty",
      'b.lua:3: error: the handler id "x" is already taken',
      'e.lua:2: error: k8s.cron: day of month "31" never occurs in month "2"',
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
    assert.are.equal("5 scripts, 2 errors, 3 warnings" .. no_server, err)
    for _, name in ipairs { "/b.lua", "/e.lua" } do os.remove(folder .. name) end
    write("a.lua", 'require("k8s").queue { name = "idle" }')
    assert.are.equal(0, (check("-f", folder)))
  end)

  it("knows the kinds of a dump by its objects, its definitions and the responses of discovery", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.informer "policies.example.com"
k8s.informer "example.com/v1/Widget"
k8s.informer "gadgets"
k8s.informer "robots.example.com"
k8s.informer "things.example.com"
k8s.informer "pods"
]])
    write("objects.yaml", [[
apiVersion: example.com/v2
kind: Policy
metadata: { name: a, namespace: shop }
---
apiVersion: example.com/v1
kind: WidgetList
items:
  - metadata: { name: b }
---
{ kind: APIResourceList, groupVersion: tools.example.com/v1, resources: [
  { name: gadgets, kind: Gadget, namespaced: true } ] }
]])
    write("more.json", [[{ "kind": "APIGroupDiscoveryList", "items": [ { "metadata": { "name": "example.com" },
      "versions": [ { "version": "v1", "resources": [ { "resource": "robots", "responseKind": { "kind": "Robot" },
        "scope": "Cluster" } ] } ] } ] }]])
    local code, out = check("-f", folder, "--against", folder .. "/objects.yaml", "--against", folder .. "/more.json")
    assert.are.equal(1, code)
    assert.matches("^a.lua:6: error: [^\n]*things.example.com[^\n]*\n$", out)
    -- An array, and behind it another value.
    write("things", '[{ "kind": "Thing", "apiVersion": "example.com/v1" }]')
    write("things.json", '[{ "kind": "Thing", "apiVersion": "example.com/v1" }]\n{ "kind": "C", "apiVersion": "v1" }')
    for _, things in ipairs { "/things", "/things.json" } do
      code, out = check("-f", folder, "--against", folder .. "/objects.yaml", "--against", folder .. "/more.json",
        "--against", folder .. things)
      assert.are.same({ 0, "" }, { code, out })
    end
    write("more.json", "{ \"spec\": {} }")
    local _, _, err = check("-f", folder, "--against", folder .. "/more.json")
    assert.has_match("more.json:1: object has no kind or apiVersion\n$", err)
    write("more.json", '{ "kind": "List", "items": [ { "kind": "A", "apiVersion": "v1" }, { "kind": "A" } ] }')
    _, _, err = check("-f", folder, "--against", folder .. "/objects.yaml", "--against", folder .. "/more.json")
    assert.has_match("more.json:1: object has no kind or apiVersion\n$", err)
    write("more.json", "{ \"kind\": ")
    _, _, err = check("-f", folder, "--against", folder .. "/more.json")
    assert.has_match("^kubelua check: [^\n]*more.json:1: [^\n]+\n$", err)
  end)

  it("checks the roles of a dump for the permissions of --as", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.informer("pods", { namespace = "shop" })
k8s.informer "nodes"
k8s.reads { "secrets:get" }
k8s.writes { "pods/status:patch" }
]])
    write("roles.yaml", [[
{ apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: r, namespace: shop },
  rules: [ { apiGroups: [""], resources: [pods], verbs: ["*"] } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: { name: r, namespace: shop },
  roleRef: { kind: Role, name: r }, subjects: [ { kind: ServiceAccount, name: bot } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: c }, rules: [
  { apiGroups: [""], resources: [nodes, "*/status"], verbs: [list, watch, patch] },
  { apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get] } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: { name: c },
  roleRef: { kind: ClusterRole, name: c }, subjects: [ { kind: Group, name: "system:serviceaccounts:shop" } ] }
]])
    local dump = { "-f", folder, "--against", folder .. "/roles.yaml", "--as" }
    local function missing(user, ...)
      local words = { unpack(dump) }
      for _, word in ipairs { user, ... } do words[#words + 1] = word end
      local _, out = check(unpack(words))
      return (out:gsub("a.lua:", ""):gsub("error: missing permission: ", ""))
    end
    local secrets = "4: get secrets in all namespaces\n"
    local pods = "2: list and watch pods in namespace shop\n"
    local rest = "3: list and watch nodes\n" .. secrets .. "5: patch pods/status in all namespaces\n"
    assert.are.equal(secrets, missing "system:serviceaccount:shop:bot")
    assert.are.equal(pods .. secrets, missing "system:serviceaccount:shop:other")
    assert.are.equal(pods .. rest, missing "system:serviceaccount:shop2:bot")
    assert.are.equal(pods .. rest, missing "bot")
    assert.are.equal("", missing("anybody", "--as-group", "system:masters"))
    assert.are.equal(0, (check("-f", folder, "--against", folder .. "/roles.yaml")))
    write("crds.json", crds)
    local code, _, err = check("-f", folder, "--against", folder .. "/crds.json", "--as", "me")
    assert.are.equal(2, code)
    assert.has_match("^kubelua check: %-%-as me: the dump has no role bindings", err)
  end)

  it("checks with a server whether it allows what the scripts need", function()
    write("a.lua", [[
local k8s = require "k8s"
local shared = require "_shared"
k8s.informer("configmaps", { namespaces = { "a", "b" } })
k8s.reads { "pods:get" }
k8s.writes {
  "pods:delete",
  "deploy/status:patch", -- its group has a name
  "*:update",
}
k8s.leader { lease = "rules" }
]])
    write("_shared.lua", 'local k8s = require "k8s"\nlocal secrets = k8s.informer("secrets")\nreturn secrets')
    write("b.lua", 'local k8s = require "k8s"\nlocal name = "nodes"\nk8s.informer(name)\nk8s.informer "pods"')
    local sim, ops = cluster.sim(), "--leader-elect-resource-namespace=ops"
    assert.are.same({ 0, "", "2 scripts, 0 errors, 0 warnings\n" }, { check("-f", folder, "-s", sim.server, ops) })
    sim:forbid("configmaps", "no", "b")
    sim:forbid("secrets", "no")
    sim:forbid("nodes", "no")
    for _, fault in ipairs { { "delete", "pods" }, { "patch", "deployments" }, { "update" }, { "create", "events" } } do
      sim:play { ["do"] = "fault", verb = fault[1], resource = fault[2], what = "status", code = 403, times = 0 }
    end
    local code, out, err = check("-f", folder, "-s", sim.server, ops)
    assert.are.equal(1, code)
    local expected = {
      "_shared.lua:2: error: missing permission: list and watch secrets in all namespaces",
      "a.lua:3: error: missing permission: list and watch configmaps in namespace b",
      "a.lua:6: error: missing permission: delete pods in all namespaces",
      "a.lua:7: error: missing permission: patch deployments.apps/status in all namespaces",
      "a.lua:8: error: missing permission: update every kind in all namespaces",
      "a.lua:10: error: missing permission: create events in namespace ops, for k8s.leader",
      'a.lua:10: error: missing permission: update leases.coordination.k8s.io "rules" in namespace ops, for k8s.leader',
      "b.lua:3: error: missing permission: list and watch nodes",
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
    assert.are.equal("Use kubelua rbac to generate the roles that scripts need, and --as to check another user.\n"
      .. "2 scripts, 8 errors, 0 warnings\n", err)
    write("a.lua", 'require("k8s").informer("configmaps")')
    os.remove(folder .. "/b.lua")
    assert.are.equal(0, (check("-f", folder, "-s", sim.server, "-A")))
    code, out = check("-f", folder, "-s", sim.server, "-n", "b")
    assert.are.same({ 1, "a.lua:1: error: missing permission: list and watch configmaps in namespace b\n" },
      { code, out })
  end)

  it("does not call scripts sound when the server does not report what they may do", function()
    write("a.lua", sound)
    local sim = cluster.sim()
    sim:play {
      ["do"] = "fault", path = "/apis/authorization", what = "status", code = 500, message = "out of order", times = 0,
    }
    local code, out, err = check("-f", folder, "-s", sim.server)
    assert.are.same({ 2, "" }, { code, out })
    assert.has_match("^kubelua check: cannot check permissions: http://[^\n]*: out of order\n", err)
  end)

  it("ends with 2 when something cannot be read", function()
    write("a.lua", sound)
    write("crds.json", "{}")
    for _, words in ipairs {
      { "-f", folder .. "/none.lua" }, {}, { "-f", folder, "--against", folder .. "/none" },
      { "-f", folder, "--against", folder .. "/crds.json" }, { "-f", folder, "-s", "http://127.0.0.1:9" },
      { "-f", folder, "more" },
    } do
      local code, out, err = check(unpack(words))
      assert.are.equal(2, code, err)
      assert.are.equal("", out)
      assert.matches("kubelua check: [^\n]+\n$", err)
    end
  end)
end)
