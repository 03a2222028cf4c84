-- Limits on annotations that accept findings: those of who runs an audit, and those of a rule's author (E-5).
local cjson = require "cjson"
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local report_engine = require "spec.support.report_engine"

local function day(days) return os.date("!%Y-%m-%d", os.time() + days * 86400) end

local function rule(id, severity, more)
  return ([[
require("k8s").rule { id = "%s", severity = "%s", kinds = { "pods" }, %s
  check = function(_, r) r:fail("bad") end }
]]):format(id, severity, more or "")
end

local function pod(ns, name, annotations)
  return { apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = ns, annotations = annotations },
    spec = { containers = { { name = "c", image = "app:1" } } } }
end

-- "severe skip accepted: ours", sorted.
local function told(report)
  local lines = {}
  for _, row in ipairs(report.results) do
    lines[#lines + 1] = ("%s %s %s %s"):format(row.name, row.rule, row.result, row.reason or "-")
  end
  table.sort(lines)
  return lines
end

describe("limits on accepted findings", function()
  local place
  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", rule("severe", "critical") .. rule("mild", "low"))
  end)
  after_each(function() place:remove() end)

  local function objects(...) place:write("pods.json", cjson.encode { ... }) end

  local function audit(...)
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.json", "-o",
      "json", ...)
    return code, out ~= "" and cjson.decode(out) or nil, err
  end

  it("counts accepted findings by severity, and none of them for the exit code", function()
    objects(pod("shop", "a", { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = "ours" }),
      pod("shop", "b", { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = "ours" }))
    local code, report = audit()
    assert.are.equal(0, code)
    assert.are.same({ info = 0, low = 2, medium = 0, high = 0, critical = 2 }, report.summary.suppressed)
    assert.are.same({ info = 0, low = 0, medium = 0, high = 0, critical = 0 }, report.summary.severities)
    local _, out = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.json")
    assert.matches("0 findings, 4 skipped, 4 suppressed (2 critical, 2 low)\n", out, 1, true)
    local _, page = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.json", "-o", "html")
    assert.matches("<b>2</b>critical suppressed</li>", page, 1, true)
  end)

  it("accepts nothing with --no-ignore", function()
    objects(pod("shop", "a", { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = "until=2999-01-01 x" }))
    local code, report = audit "--no-ignore"
    assert.are.equal(1, code)
    assert.are.same({ "a mild fail not accepted because of --no-ignore: x",
      "a severe fail not accepted because of --no-ignore: ours" }, told(report))
    assert.are.equal(0, report.summary.suppressed.critical)
  end)

  it("accepts nothing above --ignore-max-severity", function()
    objects(pod("shop", "a", { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = "ours" }))
    local code, report = audit("--ignore-max-severity", "high")
    assert.are.equal(1, code)
    assert.are.same({ "a mild skip accepted: ours",
      "a severe fail not accepted because the severity critical is above --ignore-max-severity high: ours" },
      told(report))
    assert.are.equal(0, (audit("--ignore-max-severity", "critical")))
  end)

  it("accepts nothing beyond --ignore-max-days, or without a day", function()
    local near, far = day(10), day(12)
    local until_near, until_far = "until=" .. near .. " x", "until=" .. far .. " x"
    objects(pod("shop", "a", { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = until_near }),
      pod("shop", "b", { ["kubelua/ignore.severe"] = until_far, ["kubelua/ignore.mild"] = "until=2020-01-01 x" }))
    local code, report = audit("--ignore-max-days", "11")
    assert.are.equal(1, code)
    assert.are.same({ "a mild skip accepted until " .. near .. ": x",
      "a severe fail not accepted without until=, which --ignore-max-days 11 requires: ours",
      "b mild fail accepted until 2020-01-01, which has passed: x",
      "b severe fail not accepted until " .. far .. ", as --ignore-max-days is 11: x" }, told(report))
  end)

  it("accepts only what the rule lets owners accept", function()
    place:write("rules.lua", rule("never", "low", "ignore = false,")
      .. rule("some", "low", "ignore = { max_days = 11, namespaces = { 'team-*', '!team-x' } },"))
    local soon = "until=" .. day(10) .. " x"
    objects(pod("team-a", "a", { ["kubelua/ignore.never"] = "x", ["kubelua/ignore.some"] = soon }),
      pod("team-x", "x", { ["kubelua/ignore.never"] = "", ["kubelua/ignore.some"] = soon }),
      pod("team-b", "b", { ["kubelua/ignore.some"] = "until=" .. day(12) .. " x" }),
      pod("team-c", "c", { ["kubelua/ignore.some"] = "x" }))
    local _, report = audit()
    assert.are.same({ "a never fail not accepted because the rule has ignore = false: x",
      "a some skip accepted until " .. day(10) .. ": x",
      "b never fail -",
      "b some fail not accepted until " .. day(12) .. ", as the rule has ignore.max_days = 11: x",
      "c never fail -",
      "c some fail not accepted without until=, which the rule requires (ignore.max_days = 11): x",
      "x never fail not accepted: kubelua/ignore.never gives no reason",
      "x some fail not accepted because the rule's ignore.namespaces exclude team-x: x" }, told(report))
    local _, stricter = audit("--ignore-max-days", "5")
    assert.are.equal("a some fail not accepted until " .. day(10) .. ", as --ignore-max-days is 5: x",
      told(stricter)[2])
    local function explained(id)
      local _, out = place:run("-f", place.path .. "/rules.lua", "--explain", id)
      return out
    end
    assert.matches("\nIts findings cannot be accepted by annotation (ignore = false).\n", explained "never", 1, true)
    assert.matches("\nTo accept a finding until a date, at most 11 days from now and in some namespaces only, annotate "
      .. "the object:\n", explained "some", 1, true)
  end)

  it("refuses an ignore of a rule that is none, and flags that are none", function()
    objects(pod("shop", "a"))
    for text, expected in pairs {
      ["true"] = "k8s.rule: mild: ignore must be a table or false, not true",
      ["5"] = "k8s.rule: ignore must be a table or false, not number",
      ["{}"] = "k8s.rule: mild: ignore must have max_days or namespaces",
      ["{ max_days = 0 }"] = "k8s.rule: mild: ignore: max_days must be a whole number from 1 to 36500, not 0",
      ["{ max_days = 1.5 }"] = "k8s.rule: mild: ignore: max_days must be a whole number from 1 to 36500, not 1.5",
      ["{ max_days = 0/0 }"] = "k8s.rule: mild: ignore: max_days must be a whole number from 1 to 36500, not nan",
      ["{ max_days = '9' }"] = "k8s.rule: mild: ignore: max_days must be a number, not string",
      ["{ max_day = 9 }"] = 'k8s.rule: mild: ignore: unknown option "max_day", did you mean "max_days"?',
      ["{ namespaces = {} }"] = "k8s.rule: mild: ignore: namespaces must be a non-empty list of strings",
    } do
      place:write("rules.lua", rule("mild", "low", "ignore = " .. text .. ","))
      local code, _, err = audit()
      assert.are.equal(2, code)
      assert.matches("rules.lua:1: " .. expected .. "\n", err, 1, true)
    end
    for _, case in ipairs {
      { "--ignore-max-severity", "bad", "--ignore-max-severity" },
      { "--ignore-max-days", "-1", "--ignore-max-days" },
      { "--ignore-max-days", "99999", "--ignore-max-days must be at most 36500" },
      { "--no-ignore", "--ignore-max-days=3", "--no-ignore and --ignore-max-days are mutually exclusive" },
      { "--no-ignore", "--ignore-max-severity=low", "--no-ignore and --ignore-max-severity are mutually exclusive" },
    } do
      local code, _, err = audit(case[1], case[2])
      assert.are.equal(2, code)
      assert.matches(case[3], err, 1, true)
    end
  end)
end)

describe("limits on accepted findings in an audit of an engine", function()
  it("are those of the audit's flags", function()
    local at = engine_at_socket.new([[
local k8s = require "k8s"
k8s.informer "pods"
]] .. rule("severe", "critical") .. "k8s.main(function() print 'ready' end)\n", {})
    finally(function() at:close() end)
    at.sim.api:create("/api/v1/namespaces/default/pods", pod("default", "a", { ["kubelua/ignore.severe"] = "ours" }))
    at:start()
    local function audit(...)
      local p = at:begin_audit("-o", "json", ...)
      local code = p:wait(60)
      return code, told(cjson.decode(p:out()))
    end
    assert.are.same({ 0, { "a severe skip accepted: ours" } }, { audit() })
    assert.are.same({ 1, { "a severe fail not accepted because of --no-ignore: ours" } }, { audit "--no-ignore" })
    assert.are.same({ 1, { "a severe fail not accepted because the severity critical is above --ignore-max-severity "
      .. "high: ours" } }, { audit("--ignore-max-severity", "high") })
    assert.are.same({ 1, { "a severe fail not accepted without until=, which --ignore-max-days 5 requires: ours" } },
      { audit("--ignore-max-days", "5") })
  end)
end)

describe("limits on accepted findings of kubelua run --report", function()
  local place, sim
  report_engine.each(before_each, after_each, function(...) place, sim = ... end)

  it("apply to its results", function()
    place:write("rules.lua", rule("severe", "critical") .. rule("mild", "low"))
    local accepted = { ["kubelua/ignore.severe"] = "ours", ["kubelua/ignore.mild"] = "ours" }
    sim.api:create(report_engine.PODS, pod("default", "a", accepted))
    local engine = report_engine.start(place, sim, { "--ignore-max-severity", "high" })
    engine.await_sample(report_engine.results("severe", "critical", "", "fail"), 1)
    engine.await_sample(report_engine.results("mild", "low", "", "skip"), 1)
  end)

  it("require --report", function()
    place:write("rules.lua", rule("mild", "low"))
    for _, flag in ipairs { "--no-ignore", "--ignore-max-days=9", "--ignore-max-severity=low" } do
      local p = cluster.kubelua { "run", "-f", place.path .. "/scripts", "-s", sim.server, flag }
      assert.are.equal(2, p:wait())
      assert.matches(flag:match "^[^=]+" .. " requires --report", p.streams.err.text, 1, true)
    end
  end)
end)
