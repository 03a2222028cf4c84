-- `kubelua check` of paths that k8s.raw reads, and of logs: what is declared, and what an account may do.
local checks = require "spec.support.checks"

local folder, place

local function write(...) place:write(...) end

local function check(...) return place:run(...) end

describe("kubelua check of paths and logs", function()
  before_each(function()
    place = checks.new()
    folder = place.path
  end)
  after_each(function() place:remove() end)

  it("reports paths of k8s.controller into nothing", function()
    write("a.lua", [[
local k8s = require "k8s"
local pods = k8s.informer "pods" pods:add_index("owner", "metadata.ownerReferences[*].uid")
k8s.controller {
  of = "configmaps", reconcile = print, watches = {
    pods = "spec.volumes[*].configMap.nam",
    [pods] = "spec.volume[*].name",
    nodes = "metadata.labels.owner",
  },
  owns = { { of = pods, index = "owner" } },
}
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    assert.matches("a.lua:5: error: [^\n]*nam", out)
    assert.matches("a.lua:6: error: [^\n]*volume", out)
    assert.is_nil(out:find "a.lua:7:")
  end)

  it("reports declarations and permissions that are missing", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.reads { "pods:get", "/api/v1/namespaces/*/pods" }
k8s.main(function()
  print(k8s.raw { path = "/api/v1/namespaces/shop/pods" }, k8s.raw { path = "/readyz" })
  print(k8s.logs("shop/web"))
end)
]])
    local code, out = check("-f", folder)
    assert.are.equal(1, code)
    assert.matches('a.lua:4: error: k8s.raw is not declared: add k8s.reads { "/readyz" }\n', out, 1, true)
    assert.matches("a.lua:5: error: k8s.logs[^\n]*pods/log:get", out)
    write("a.lua", 'local k8s = require "k8s"\nk8s.reads {\n"pods/log:get",\n"/readyz",\n'
      .. '"/apis/x.io/v1/namespaces/shop/things/one" }\n'
      .. 'k8s.main(function() print(k8s.raw { path = "/readyz" }, k8s.logs("shop/web")) end)\n')
    write("roles.yaml", [[
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: c }, rules: [
  { nonResourceURLs: ["/livez", "/health*"], verbs: [get] } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: { name: c },
  roleRef: { kind: ClusterRole, name: c }, subjects: [ { kind: User, name: me } ] }
]])
    local dump = { "-f", folder, "--against", folder .. "/roles.yaml", "--as", "me" }
    code, out = check(unpack(dump))
    assert.are.equal(1, code)
    assert.are.equal("a.lua:3: error: missing permission: get pods/log in all namespaces\n"
      .. "a.lua:4: error: missing permission: get /readyz\n"
      .. "a.lua:5: error: missing permission: get things.x.io \"one\" in namespace shop\n", out)
    write("roles.yaml", [[
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: c }, rules: [
  { nonResourceURLs: ["/ready*"], verbs: [get] }, { apiGroups: [""], resources: ["*/log"], verbs: [get] },
  { apiGroups: [x.io], resources: [things], resourceNames: [one], verbs: [get] } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: { name: c },
  roleRef: { kind: ClusterRole, name: c }, subjects: [ { kind: User, name: me } ] }
]])
    code, out = check(unpack(dump))
    assert.are.same({ 0, "" }, { code, out })
  end)
end)
