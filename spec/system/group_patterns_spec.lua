-- "*.example.com:watch" in k8s.reads and k8s.writes: all kinds of a group and of those below it; what is let through,
-- and what `kubelua rbac` and `kubelua check` make of it.
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"
local crds = require "spec.support.crds"
local temp = require "spec.support.temp"

describe("all kinds of a group", function()
  local sim, place

  before_each(function()
    sim, place = cluster.sim(), checks.new()
    crds.create(sim.api, "widgets", "example.com")
    crds.create(sim.api, "gadgets", "shop.example.com")
    crds.create(sim.api, "gadgets", "anexample.com")
  end)
  after_each(function() place:remove() end)

  local function exec(text)
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script('local k8s = require "k8s"\n' .. text) }
    assert.are.equal(0, p:wait(30), p:report())
    return (p:out():gsub("/%S+:%d+: ", ""))
  end

  it("may be read, with those of groups below it, by any name", function()
    crds.add(sim.api, "widgets", "example.com", "a")
    assert.are.equal([[
true	1
true	1
true	1
true	0
false	k8s.list: "gadgets.anexample.com:list" is not declared with k8s.reads
false	k8s.list: "configmaps:list" is not declared with k8s.reads
false	k8s.list: "deployments.apps:list" is not declared with k8s.reads
false	k8s.get: "widgets.example.com:get" is not declared with k8s.reads
]], exec [[
      k8s.reads { "*.example.com:list" }
      local function tried(fn, ...)
        local ok, result = pcall(fn, ...)
        print(ok, ok and #result or tostring(result))
      end
      k8s.main(function()
        tried(k8s.list, "widgets.example.com")
        tried(k8s.list, "example.com/v1/Widget")
        tried(k8s.list, "widgets")
        tried(k8s.list, "gadgets.shop.example.com")
        tried(k8s.list, "gadgets.anexample.com")
        tried(k8s.list, "configmaps")
        tried(k8s.list, "deployments.apps")
        tried(k8s.get, "widgets.example.com", "default/a")
      end)
    ]])
  end)

  it("may be kinds that nobody serves yet: their name decides", function()
    assert.are.equal([[
nil	404
false	k8s.list: "things.other.com:list" is not declared with k8s.reads
false	k8s.list: "things:list" is not declared with k8s.reads
]], exec [[
      k8s.reads { "*.example.com:*" }
      k8s.main(function()
        local list, err = k8s.list "things.example.com"
        print(list, err.code)
        print(pcall(k8s.list, "things.other.com"))
        print(pcall(k8s.list, "things"))
      end)
    ]])
  end)

  it("may be written, a subresource of them alone", function()
    local path = crds.objects("widgets", "example.com")
    local out = exec [[
      k8s.writes { "*.example.com:create", "*.example.com/status:patch" }
      local function widget(group)
        return { apiVersion = group .. "/v1", kind = group == "example.com" and "Widget" or "Gadget",
          metadata = { name = "a", namespace = "default" } }
      end
      k8s.main(function()
        print(k8s.create(widget "example.com"))
        print(pcall(k8s.create, widget "anexample.com"))
        print(pcall(k8s.patch, widget "example.com", { spec = {} }))
        print((select(2, pcall(k8s.patch, widget "shop.example.com", { status = {} }, { subresource = "status" }))))
      end)
    ]]
    assert.are.equal([[
Widget default/a
false	k8s.create: "gadgets.anexample.com:create" is not declared with k8s.writes
false	k8s.patch: "widgets.example.com:patch" is not declared with k8s.writes
nil
]], out)
    assert.are.equal(1, #sim.api:get(path).items)
  end)

  it("are the only pattern, besides every kind", function()
    for _, text in ipairs { "widgets.*:get", "*.*.com:get", "*.:get", "*example.com:get", "**:get", "*/v1/Pod:get",
      "*.a/B:get", "*..com:get" } do
      local p = cluster.kubelua { "exec", "-s", sim.server,
        cluster.script(('require("k8s").reads { "%s" }'):format(text)) }
      assert.are.equal(2, p:wait(30))
      assert.has_match(('k8s.reads: "%s": the only patterns are "*", every kind, and "*.GROUP", all kinds of a group '
        .. "and of those below it"):format(text), p:err(), 1, true)
    end
  end)

  describe("in kubelua rbac", function()
    local script = [[
local k8s = require "k8s"
k8s.reads { "*.example.com:watch" }
k8s.writes { "*.example.com/status:patch" }
]]
    local roles = [=[
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubelua
rules:
  - apiGroups: [example.com]
    resources: ["*"]
    verbs: [list, watch]
  - apiGroups: [example.com]
    resources: ["*/status"]
    verbs: [patch]
]=]

    it("are every group that the server has, by its name", function()
      local p = cluster.kubelua { "rbac", "-s", sim.server, "-f", cluster.script(script) }
      assert.are.equal(0, p:wait(30), p:report())
      assert.are.equal(roles .. [=[
  - apiGroups: [shop.example.com]
    resources: ["*"]
    verbs: [list, watch]
  - apiGroups: [shop.example.com]
    resources: ["*/status"]
    verbs: [patch]
]=], p:out())
      assert.are.equal("", p:err())
    end)

    it("are the group itself without a server, and those below it are told", function()
      local errors = temp.name()
      local pipe = io.popen(("env -i HOME=/nowhere '%s' rbac -f '%s' 2>'%s'"):format(cluster.binary,
        cluster.script(script), errors))
      assert.are.equal(roles, pipe:read "*a")
      pipe:close()
      for _, line in ipairs { 2, 3 } do
        assert.has_match(":" .. line .. ': groups below "example.com" are not known, and have no rules; use --server',
          temp.read(errors), 1, true)
      end
    end)
  end)

  describe("in kubelua check", function()
    it("are known to the calls of a source", function()
      place:write("a.lua", [[
local k8s = require "k8s"
k8s.reads { "*.apps:list" }
k8s.writes { "*.apps/status:patch" }
k8s.main(function()
  for _, one in ipairs(k8s.list "deployments" or {}) do
    k8s.patch(one, { status = {} }, { subresource = "status" })
    k8s.patch(one, { spec = { replicas = 1 } })
  end
  k8s.list "jobs"
  k8s.informer "deployments"
end)
k8s.informer "pods"
]])
      local code, out = place:run("-f", place.path)
      assert.are.equal([[
a.lua:7: error: k8s.patch is not declared: add k8s.writes { "deployments.apps:patch" }
a.lua:9: error: k8s.list is not declared: add k8s.reads { "jobs.batch:list" }
a.lua:10: error: k8s.informer is not declared: add k8s.reads { "deployments.apps:watch" }
]], (out:gsub("a.lua:9: [^\n]*result[^\n]*\n", "")))
      assert.are.equal(1, code)
    end)

    it("may be served later: a warning", function()
      place:write("a.lua", 'local k8s = require "k8s"\nk8s.reads { "*.example.com:list", "*.exmaple.com:watch" }\n')
      local code, out = place:run("-f", place.path, "-s", sim.server)
      assert.are.equal('a.lua:2: warning: no kind of the group "exmaple.com" is served yet\n', out)
      assert.are.equal(0, code)
      assert.are.equal(0, (place:run("-f", place.path)))
    end)

    it("are every resource to the permissions of an account", function()
      place:write("a.lua", 'local k8s = require "k8s"\nk8s.reads { "*.example.com:watch" }\n')
      place:write("roles.yaml", [[
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: c }, rules: [
  { apiGroups: [example.com], resources: [widgets], verbs: [list, watch] },
  { apiGroups: [example.com], resources: ["*"], verbs: [list] } ] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: { name: c },
  roleRef: { kind: ClusterRole, name: c }, subjects: [ { kind: User, name: me } ] }
]])
      local code, out = place:run("-f", place.path .. "/a.lua", "--against", place.path .. "/roles.yaml", "--as", "me")
      assert.has_match("a.lua:2: error: missing permission: watch every kind of example.com in all namespaces\n", out,
        1, true)
      assert.are.equal(1, code)
    end)
  end)
end)
