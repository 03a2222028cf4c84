-- `kubelua audit --from MANIFEST -n NAMESPACE`: what names no namespace is in that one, as kubectl would make it.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local RULE = [[
local k8s = require "k8s"
k8s.rule {
  id = "account", kinds = { "pods", "nodes" }, %s
  check = function(obj, r, use)
    if not %s or not use.accounts((obj:namespace() or "") .. "/" .. obj:name())[1] then
      r:fail("none in <" .. tostring(obj.metadata.namespace) .. "> for " .. tostring(obj.spec.nodeName))
    end
  end,
}
]]
local USES = [[uses = { accounts = { kind = "serviceaccounts", index = function(obj, emit)
  emit(obj:namespace() .. "/" .. obj:name())
end } },]]

describe("the namespace of an audit of manifests", function()
  local place

  -- "namespace/name: message" of what failed, sorted.
  local function found(text, uses, ...)
    place:write("rules.lua", RULE:format(uses and USES or "", tostring(uses)))
    place:write("in.yaml", text)
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/in.yaml", "-o", "json",
      "--allow-empty", ...)
    local rows = {}
    for _, row in ipairs(cjson.decode(out).results) do
      rows[#rows + 1] = ("%s/%s: %s"):format(row.namespace or "", row.name, row.message)
    end
    table.sort(rows)
    assert.are.equal("", err)
    return table.concat(rows, "\n"), code
  end

  local function pod(metadata)
    return ("apiVersion: v1\nkind: Pod\nmetadata: %s\nspec: { nodeName: n1 }\n---\n"):format(metadata)
  end

  before_each(function() place = checks.new "audit" end)
  after_each(function() place:remove() end)

  it("is that of -n for what names none, in rules and in reports", function()
    for _, metadata in ipairs { "{ name: web }", "{ namespace: '', name: web }", "{ name: web, namespace: null }",
      "{ name: web, namespace: }", "{ labels: { namespace: x }, name: web }" } do
      assert.are.equal("shop/web: none in <shop> for n1", (found(pod(metadata), false, "-n", "shop")), metadata)
    end
    local json = '{"kind":"List","apiVersion":"v1","items":[{"spec":{"nodeName":"n1"},"metadata":{"name":"web"},'
      .. '"kind":"Pod","apiVersion":"v1"},{"metadata":{"name":"other","namespace":"x"},'
      .. '"kind":"Pod","apiVersion":"v1"}]}'
    assert.are.equal("shop/web: none in <shop> for n1", (found(json, false, "-n", "shop")))
  end)

  it("is none of what has no namespace, nor without -n, and one that is named stays", function()
    local node = "apiVersion: v1\nkind: Node\nmetadata: { name: a }\nspec: { nodeName: n1 }\n"
    assert.are.equal("/a: none in <nil> for n1", (found(node, false, "-n", "shop")))
    assert.are.equal("/web: none in <nil> for n1", (found(pod "{ name: web }", false)))
    assert.are.equal("", (found(pod "{ name: web, namespace: other }", false, "-n", "shop")))
  end)

  it("leaves out what names another one, which is counted", function()
    local secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: a, namespace: other }\n---\n"
    for _, uses in ipairs { false, true } do
      place:write("rules.lua", RULE:format(uses and USES or "", "false"))
      place:write("in.yaml", pod "{ name: a, namespace: other }" .. pod "{ name: b, namespace: x }"
        .. secret .. pod "{ name: c }")
      local _, out = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/in.yaml", "-n", "shop")
      assert.matches("1 object, 1 of kinds that no rule matches, 2 in other namespaces, 1 rule,", out, 1, true)
      local _, json = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/in.yaml", "-n", "shop",
        "-o", "json")
      local summary = cjson.decode(json).summary
      assert.are.same({ 1, 1, 2 }, { summary.objects, summary.unlooked, summary.elsewhere })
    end
    local _, all = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/in.yaml", "-o", "json")
    assert.is_nil(cjson.decode(all).summary.elsewhere)
    place:write("in.yaml", pod "{ name: a, namespace: other }")
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/in.yaml", "-n", "shop")
    assert.are.equal(2, code)
    assert.matches("0 objects, 1 in other namespaces", out, 1, true)
    assert.are.equal("kubelua audit: nothing was audited: no object of a kind that the rules match is in the namespace "
      .. "of -n; use --allow-empty to allow this\n", err)
  end)

  it("applies to objects that rules use too", function()
    local account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: web }\n---\n"
    assert.are.equal("", (found(account .. pod "{ name: web }", true, "-n", "shop")))
    assert.are.equal("", (found(account .. pod "{ name: web, namespace: shop }", true, "-n", "shop")))
    assert.are.equal("shop/db: none in <shop> for n1", (found(account .. pod "{ name: db }", true, "-n", "shop")))
  end)

  it("lets the rules that ship find the account of the same manifest", function()
    place:write("in.yaml", [[
apiVersion: v1
kind: ServiceAccount
metadata: { name: web }
---
apiVersion: v1
kind: Pod
metadata: { name: web }
spec: { serviceAccountName: web, containers: [{ name: c, image: "a:1" }] }
]])
    local _, out = place:run("-f", "scripts/rules", "--from", place.path .. "/in.yaml", "-n", "shop", "-o", "json")
    assert.is_nil(out:find("service-account-missing", 1, true))
    assert.is_nil(out:find("orphan-service-account", 1, true))
    assert.matches('"namespace":"shop"', out, 1, true)
  end)
end)
