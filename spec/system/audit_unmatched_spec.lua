-- `kubelua audit --from`: objects that no rule looks at, and those among them whose kind is misspelt.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local RULE = [[
require("k8s").rule { id = "told", kinds = { "pods" }, check = function() end }
]]

local function pod(name) return ("apiVersion: v1\nkind: Pod\nmetadata: { name: %s }\n---\n"):format(name) end

describe("objects that no rule matches", function()
  local place

  local function all() return place.path .. "/all.yaml" end

  local function audited()
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", all(), "-o", "json", "--allow-empty")
    return code, cjson.decode(out), err
  end

  before_each(function() place = checks.new "audit" end)
  after_each(function() place:remove() end)

  it("are counted, and those of a misspelt kind are reported", function()
    local text = pod "web":gsub("kind: Pod", "kind: Podd") .. pod "b":gsub("kind: Pod", "kind: Podd")
      .. "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n---\n" .. pod "db"
      .. "apiVersion: example.com/v1\nkind: Podz\nmetadata:\n  name: ours\n"
    place:write("all.yaml", text)
    for _, more in ipairs { "", [[require("k8s").rule { id = "z", kinds = { "pods" },
      uses = { nodes = { kind = "nodes" } }, check = function() end }]] } do
      place:write("rules.lua", RULE .. more)
      local code, report, err = audited()
      assert.are.same({ 0, 4, 1 }, { code, report.summary.unlooked, report.summary.objects })
      assert.matches('all.yaml:1: no rule matches it: .*did you mean "[Pp]od', err)
      assert.are.equal(1, select(2, err:gsub("\n", "")))
    end
    local _, out = place:run("-f", place.path .. "/rules.lua", "--from", all())
    assert.matches("1 object, 4 of kinds that no rule matches, 2 rules", out, 1, true)
  end)

  it("are reported when their kind is written in any way but its own", function()
    place:write("rules.lua", RULE)
    for given, want in pairs {
      ["apps/v1/deployment"] = "Deployment", ["apps/v1/deployments"] = "Deployment", ["apps/v1/deploy"] = "Deployment",
      ["v1/Services"] = "Service", ["v1/svc"] = "Service", ["v1/pod"] = "Pod", ["v1/POD"] = "Pod",
      ["v1/configmap"] = "ConfigMap", ["networking.k8s.io/v1/ingress"] = "Ingress",
      ["autoscaling/v1/horizontalpodautoscaler"] = "HorizontalPodAutoscaler", ["v1/endpoints"] = "Endpoints",
    } do
      local version, kind = given:match "^(.*)/(.-)$"
      place:write("all.yaml", ("apiVersion: %s\nkind: %s\nmetadata: { name: a }\n"):format(version, kind))
      local _, _, err = audited()
      assert.matches(('all.yaml:1: no rule matches it: no kind "%s" in the built-in API groups, '
        .. 'did you mean the kind "%s"?\n'):format(given, want), err, 1, true)
    end
  end)

  it("are reported when their list has such a kind", function()
    place:write("rules.lua", RULE)
    place:write("all.yaml", "apiVersion: v1\nkind: podList\nitems:\n- metadata: { name: a }\n")
    local _, _, err = audited()
    assert.matches(':4: no rule matches it: no kind "v1/pod" in the built%-in API groups, '
      .. 'did you mean the kind "Pod"%?\n$', err)
  end)

  it("are not reported when their kind is a group's own, in whatever version, or of another group", function()
    place:write("rules.lua", RULE)
    for _, given in ipairs { "v1/Endpoints", "autoscaling/v1/HorizontalPodAutoscaler", "example.com/v1/pod" } do
      local version, kind = given:match "^(.*)/(.-)$"
      place:write("all.yaml", ("apiVersion: %s\nkind: %s\nmetadata: { name: a }\n"):format(version, kind))
      assert.are.equal("", (select(3, audited())))
    end
  end)
end)
