-- What somebody stumbles over who writes a first rule: what a check returns, and methods of r that there are not. It is
-- the same whoever asks the rule.
local checks = require "spec.support.checks"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"

local RULES = [[
local k8s = require "k8s"
k8s.informer "pods"
k8s.main(function() print "ready" end)
k8s.rule { id = "like-opa", kinds = { "pods" }, check = function() return false, "bad" end }
k8s.rule { id = "like-lua", kinds = { "pods" }, check = function() return nil, "bad" end }
k8s.rule { id = "misspelt", kinds = { "pods" }, check = function(_, r) r:fial "bad" end }
k8s.rule { id = "by-table", kinds = { "pods" }, check = function(_, r) return r[{}] end }
k8s.rule { id = "well", kinds = { "pods" }, check = function(_, r) return r:fail "bad" end }
]]

local ERRORS = {
  ["like-opa"] = ":4: check must return nothing, not boolean and string; use r:fail(message) to report a failure",
  ["like-lua"] = ":5: check must return nothing, not nil and string; use r:fail(message) to report a failure",
  misspelt = ':6: r: unknown method "fial", did you mean "fail"?',
  ["by-table"] = ":7: r: unknown method of a table, known are fail, pass, skip, warn",
}

local POD = { apiVersion = "v1", kind = "Pod", metadata = { name = "web", namespace = "default" },
  spec = { containers = { { name = "app", image = "app" } } } }

-- The messages of errors by rule, without the file's folder.
local function errors_of(results)
  local errors = {}
  for _, row in ipairs(results) do
    if row.result == "error" then errors[row.rule] = row.message:gsub("^[^:]*rules%.lua", "") end
  end
  return errors
end

describe("a rule that reports findings in another way", function()
  local place
  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", RULES)
  end)
  after_each(function() place:remove() end)

  local function assert_errors(code, out)
    assert.are.equal(3, code)
    local report = cjson.decode(out)
    assert.are.same(ERRORS, errors_of(report.results))
    assert.are.same({ 5, false }, { #report.results, report.summary.complete })
  end

  it("is an error with its line, in files and in a cluster", function()
    place:write("pod.json", cjson.encode(POD))
    local rules = place.path .. "/rules.lua"
    assert_errors(place:run("-f", rules, "-o", "json", "--from", place.path .. "/pod.json"))
    local sim = cluster.sim { "--load", place.path .. "/pod.json" }
    assert_errors(place:run("-f", rules, "-o", "json", "-s", sim.server))
  end)

  it("is an error in an engine, which reports it all the time, and when it is evaluated", function()
    local at = engine_at_socket.new(RULES)
    finally(function() at:close() end)
    at.sim.api:create("/api/v1/namespaces/default/pods", POD)
    at:write("rules.lua", RULES)
    local engine = at:start { "--report=metrics" }
    local text = 'rule="%s" object="default/web" error="%s/watch.lua%s"'
    for _, rule in ipairs { "like-opa", "like-lua", "misspelt" } do -- in the order of the log
      local expected = text:format(rule, at.folder, (ERRORS[rule]:gsub('"', '\\"')))
      engine:wait_error((expected:gsub("%p", "%%%0")), 20)
    end
    local audit = at:begin_audit("-o", "json", "-f", at.folder .. "/rules.lua")
    assert_errors(audit:wait(60), audit:out())
  end)

  it("is an error in a spec of the rule", function()
    place:write("pod.json", cjson.encode(POD))
    place:write("rules_spec.lua", ([[
it("reports its finding", function()
  local env = require("k8s.test").load("%s/rules.lua", { objects = "%s/pod.json" })
  print(require("k8s").json.encode(env:audit()))
end)]]):format(place.path, place.path))
    local p = cluster.kubelua { "test", place.path, "-o", "TAP" }
    assert.are.equal(0, p:wait(60))
    assert.are.same(ERRORS, errors_of(cjson.decode(p:out():match "%[.-%]\n")))
  end)
end)

describe("an annotation that is meant for a rule and misspelt", function()
  local RULE = [[
require("k8s").rule { id = "%s", kinds = { "pods" }, %s check = function(obj, r) r:fail "bad" end }
]]
  local place
  before_each(function()
    place = checks.new "audit"
    local pod = { apiVersion = "v1", kind = "Pod", metadata = { name = "web", namespace = "default", annotations = {
      ["kubelua/ignore.image-tagg"] = "the vendor is told", ["kubelua/ignore.probes"] = "ours", other = "x" } },
      spec = POD.spec }
    place:write("pod.json", cjson.encode(pod))
  end)
  after_each(function() place:remove() end)

  -- Rule, result and reason of each row.
  local function audited(...)
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "-o", "json", ...)
    assert.are.same({ 1, "" }, { code, err })
    local rows = {}
    for _, row in ipairs(cjson.decode(out).results) do
      rows[#rows + 1] = ("%s %s %s"):format(row.rule, row.result, row.reason or "-")
    end
    return rows
  end

  local MEANT = "not accepted by kubelua/ignore.image-tagg: unknown rule id, did you mean image-tag?"

  it("accepts nothing, and the finding reports it, in files and in a cluster", function()
    local expected = { "image-tag fail " .. MEANT, "limits fail -", "probes skip accepted: ours" }
    local rules = RULE:format("image-tag", "") .. RULE:format("limits", "") .. RULE:format("probes", "")
    local sim = cluster.sim { "--load", place.path .. "/pod.json" }
    for _, more in ipairs { "", 'uses = { pods = { kind = "pods" } },' } do -- of parts of objects, and of whole ones
      place:write("rules.lua", rules .. RULE:format("whole", more))
      local with_whole = { expected[1], expected[2], expected[3], "whole fail -" }
      assert.are.same(with_whole, audited("--from", place.path .. "/pod.json"))
      assert.are.same(with_whole, audited("-s", sim.server))
    end
  end)

  it("is none where a rule has that id, evaluated or not", function()
    place:write("rules.lua", RULE:format("image-tag", "") .. RULE:format("image-tagg", 'namespaces = { "other" },'))
    assert.are.same({ "image-tag fail -" }, audited("--from", place.path .. "/pod.json"))
  end)
end)
