-- `kubelua check` without a server: what Kubernetes' own groups have, and calls that nothing declares.
local checks = require "spec.support.checks"

local folder, place

local function write(...) place:write(...) end

local function check(...) return place:run(...) end

describe("kubelua check without a server", function()
  before_each(function()
    place = checks.new()
    folder = place.path
  end)
  after_each(function() place:remove() end)

  it("knows without a server what Kubernetes' own groups have", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.informer "deploymens.apps"
k8s.informer "clustertrustbundles.certificates.k8s.io"
k8s.informer "autoscaling/v1/HorizontalPodAutoscaler"
k8s.informer "scheduling.k8s.io/v1alpha1/Workload"
k8s.informer "deployments.v1.apps"
k8s.informer "apps.example.com"
k8s.reads { "apps/v1/StatefulSets:get", "jobz.v1.batch:get" }
k8s.writes { "v1/Podz:delete" }
]])
    local code, out = check("-f", folder)
    local expected = {
      'a.lua:2: error: no kind "deploymens.apps" in the built-in API groups, did you mean "deployments.apps"?',
      'a.lua:8: error: no kind "jobz.v1.batch" in the built-in API groups, did you mean "jobs.batch"?',
      'a.lua:9: error: no kind "v1/Podz" in the built-in API groups, did you mean "pods"?',
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", out)
    assert.are.equal(1, code)
  end)

  it("finds reads and writes that are declared for no kind", function()
    write("a.lua", [[
local k8s = require "k8s"
local shared = require "_shared"
k8s.reads { "pods:list", "nodes:watch" }
k8s.writes { "pods:patch" }
k8s.informer("pods"):on_add(function(pod)
  -- k8s.delete is not meant here
  k8s.patch(pod, { metadata = { labels = { a = "b" } } })
  k8s.apply(pod, {})
  for one in k8s.pages "pods" do shared(one) end
  k8s.get("pods", "a/b")
end)
]])
    write("_shared.lua", 'local k8s = require "k8s"\nreturn function(one)\n  return k8s.delete(one)\nend')
    write("b.lua", 'local k8s = require "k8s"\nk8s.reads { "*:*" }\nk8s.writes { "pods:*" }\n'
      .. 'k8s.main(function() k8s.list "pods" k8s.watch("pods", {resource_version = "1"}) '
      .. 'k8s.update {} k8s.apply({}, {}) end)')
    local code, out = check("-f", folder)
    local undeclared = "%s: k8s.%s will fail: it is not declared for any kind; add %s\n"
    assert.are.equal(undeclared:format("_shared.lua:3: warning", "delete", 'k8s.writes { "KIND:delete" }')
      .. undeclared:format("a.lua:10: error", "get", 'k8s.reads { "KIND:get" }'), out)
    assert.are.equal(1, code)
  end)

  it("tells where rules get other objects when they read the server", function()
    write("a.lua", [[
local k8s = require "k8s"
k8s.reads { "secrets:list" }
k8s.rule {
  id = "a", kinds = { "pods" },
  check = function(pod, r)
    if not k8s.get("secrets", "a/b") then r:fail(("no %s"):format("secret")) end
    k8s.list "secrets"
    k8s.delete(pod)
  end,
}
k8s.main(function() k8s.get("secrets", "a/b") end)
]])
    local code, out = check("-f", folder)
    local in_rule = "a.lua:%d: error: k8s.%s will fail: it may not be called in a rule; rules %s\n"
    assert.are.equal(in_rule:format(6, "get", "get other objects by `uses`")
      .. in_rule:format(7, "list", "get other objects by `uses`")
      .. in_rule:format(8, "delete", "propose changes by `fix`")
      .. 'a.lua:11: error: k8s.get will fail: it is not declared for any kind; add k8s.reads { "KIND:get" }\n', out)
    assert.are.equal(1, code)
  end)

  it("takes for a call what is one, and neither comments nor strings", function()
    write("a.lua", [==[
#!/usr/bin/env kubelua "
local k8s = require "k8s"
--[[ k8s.create {} ]] --[=[
k8s.create {} ]] ]=]
local texts = { "k8s.create {} \" k8s.create {}", 'k8s.create("', [[
k8s.create {}]], my = { k8s = {} } }
function texts.my.k8s.create() end
k8s.main(function()
  texts.my.k8s.create {}
  return pcall(k8s.delete, "pods", "a/b"), k8s.creates
end)
]==])
    local code, out = check("-f", folder)
    local undeclared = 'k8s.%s will fail: it is not declared for any kind; add k8s.writes { "KIND:%s" }\n'
    assert.are.equal("a.lua:10: warning: " .. undeclared:format("delete", "delete"), out)
    assert.are.equal(0, code)
    write("b.lua", 'local k8s = require "k8s"\nk8s.main(function()\n'
      .. '  print("a" .. k8s . --[[ ]]\n  patch ({}, {}))\nend)')
    code, out = check("-f", folder .. "/b.lua")
    assert.are.equal("b.lua:4: error: " .. undeclared:format("patch", "patch"), out)
    assert.are.equal(1, code)
  end)
end)
