-- Objects that rules skip, in the reports of `kubelua audit`.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local function pod(name)
  return ("apiVersion: v1\nkind: Pod\nmetadata: { name: %s, namespace: shop }\n---\n"):format(name)
end

describe("kubelua audit", function()
  local place

  before_each(function() place = checks.new "audit" end)
  after_each(function() place:remove() end)

  it("names in the table the rules that skipped every object", function()
    place:write("skip.txt", [[
local k8s = require "k8s"
local function rule(id, skip)
  k8s.rule { id = id, kinds = { "pods" }, check = function(_, r) r:fail "no" end, skip = skip }
end
for _, id in ipairs { "one", "two", "three", "four" } do rule(id, function() return true end) end
rule("some", function(obj) return obj:name() == "web" end)
rule("none")
k8s.rule { id = "nodes", kinds = { "nodes" }, check = function() end, skip = function() return true end }
]])
    local accepted = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations:\n"
      .. '    kubelua/ignore.none: "until=2999-01-01 ours"\n'
    place:write("pods.yaml", pod "web" .. pod "db")
    place:write("accepted.yaml", accepted)
    local function last_of(file, format)
      local _, out = place:run("-f", place.path .. "/skip.txt", "--from", place.path .. file, "-o", format)
      return out:match "[^\n]*\n$", out
    end
    local expected = "4 rules skipped every object: one, two, three and 1 more "
    assert.are.equal(expected .. "(-o wide and --explain RULE say more)\n", (last_of("/pods.yaml", "table")))
    assert.are.equal(expected .. "(--explain RULE says more)\n", (last_of("/pods.yaml", "wide")))
    for _, format in ipairs { "json", "yaml", "sarif", "junit", "html" } do
      assert.has_no_match("skipped every", select(2, last_of("/pods.yaml", format)), 1, true)
    end
    -- One with an accepted finding was evaluated.
    assert.has_match("^5 rules skipped every object: ", last_of("/accepted.yaml", "table"))
  end)

  it("does not name a rule with findings that a baseline hides", function()
    place:write("mixed.txt", [[
local k8s = require "k8s"
local function check(_, r) r:fail "no" end
k8s.rule { id = "mixed", kinds = { "pods" }, check = check, skip = function(obj) return obj:name() == "web" end }
]])
    place:write("pods.yaml", pod "web" .. pod "db")
    local args = { "-f", place.path .. "/mixed.txt", "--from", place.path .. "/pods.yaml" }
    local report = select(2, place:run("-o", "json", unpack(args)))
    place:write("known.json", report)
    local code, out, err = place:run("--baseline", place.path .. "/known.json", unpack(args))
    assert.are.same({ 0, "" }, { code, err })
    assert.matches("0 findings, 1 known, 1 skipped\n", out, 1, true)
    assert.has_no_match("skipped every", out, 1, true)
  end)

  it("counts what a rule skips without a reason, for each rule", function()
    place:write("skip.txt", [[
local k8s = require "k8s"
local function check(_, r) r:fail "no" end
k8s.rule { id = "bare", kinds = { "pods" }, check = check, skip = function() return true end }
k8s.rule { id = "why", kinds = { "pods" }, check = check, skip = function() return "not ours" end }
k8s.rule { id = "fails", kinds = { "pods" }, check = check }
]])
    place:write("pods.yaml", pod "web" .. pod "db")
    local function report_as(format)
      local code, out = place:run("-f", place.path .. "/skip.txt", "--from", place.path .. "/pods.yaml", "-o", format)
      assert.are.equal(1, code)
      return out
    end
    assert.matches("\nSKIPPED  2 rules\n  bare  2 of 2 objects\n  why   2 of 2 objects\n", report_as "wide", 1, true)
    local report = cjson.decode(report_as "json")
    assert.are.same({ { rule = "bare", objects = 2 }, { rule = "why", objects = 2 } }, report.summary.skipped)
    assert.are.equal(4, #report.results)
    assert.matches("\n  skipped:\n  - rule: \"bare\"\n    objects: 2\n", report_as "yaml", 1, true)
  end)
end)
