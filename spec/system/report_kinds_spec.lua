-- `kubelua run --report` on servers that do not have all kinds that rules name.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local report_engine = require "spec.support.report_engine"
local temp = require "spec.support.temp"

local results, pod = report_engine.results, report_engine.pod
local PODS = report_engine.PODS
local HEAD = 'local k8s = require "k8s"\n'
local CRONTABS = "/apis/stable.example.com/v1/namespaces/default/crontabs"

local function rule(id, kinds, uses)
  local text = 'k8s.rule { id = "%s", kinds = %s, uses = %s, check = function(o, r) end }\n'
  return text:format(id, kinds, uses or "nil")
end

local CRD = {
  apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
  metadata = { name = "crontabs.stable.example.com" },
  spec = {
    group = "stable.example.com", scope = "Namespaced",
    names = { plural = "crontabs", singular = "crontab", kind = "CronTab", listKind = "CronTabList" },
    versions = {
      { name = "v1", served = true, storage = true, schema = cluster.any_schema },
    },
  },
}

describe("kubelua run --report, where kinds are not there", function()
  local place, sim
  report_engine.each(before_each, after_each, function(...)
    place, sim = ...
    sim.api:create(PODS, pod("a"))
  end)

  it("is ready, reports it once, and evaluates the rules on existing objects", function()
    place:write("rules.lua", HEAD .. rule("both", '{ "pods", "componentstatuses" }')
      .. rule("none", '{ "componentstatuses" }')
      .. rule("looks", '{ "pods" }', '{ account = { kind = "componentstatuses", index = "key" } }')
      .. rule("custom", '{ "crontabs.stable.example.com" }') .. rule("fine", '{ "pods" }'))
    local engine = report_engine.start(place, sim)
    engine.await_sample(results("both", "medium", "", "pass"), 1)
    engine.await_sample(results("fine", "medium", "", "pass"), 1)
    engine.await_sample(results("looks", "medium", "", "pass"), nil)
    local status = engine.ask "status"
    assert.has_match("^kubelua %S+ +ready ", status)
    assert.has_match("audit: 5 rules, 3 not evaluated as the server does not have their kinds, 1 evaluated without a "
      .. "kind that the server does not have, 1 object; 2 pass\n", status, 1, true)
    assert.has_match("\nlooks +[^\n]+\n +not evaluated: the server does not have componentstatuses\n", status)
    assert.has_match("\ncustom +[^\n]+\n +not evaluated: the server does not have crontabs.stable.example.com\n",
      status)
    assert.has_no_match("\nboth ", status)
    assert.has_match("\nboth +[^\n]+\n +evaluated for its other kinds: the server does not have componentstatuses\n",
      (engine.ask("status", "-owide")))
    assert.are.same({ true, "componentstatuses", false }, { engine.rule("both").asked, engine.rule("both").lacks,
      engine.rule("looks").asked })
    local log = engine.streams.err.text
    assert.has_match('Rules are not evaluated for kinds that the server does not have"'
      .. ' kinds="componentstatuses, crontabs.stable.example.com" rules="both, none, looks, custom"', log, 1, true)
    assert.are.equal(1, select(2, log:gsub("Rules are not evaluated for kinds", "")))
  end)

  it("evaluates a rule on a kind that comes later, and goes on over reloads meanwhile", function()
    local custom = rule("custom", '{ "pods", "crontabs.stable.example.com" }')
    place:write("rules.lua", HEAD .. custom)
    local engine = report_engine.start(place, sim)
    engine.await_sample(results("custom", "medium", "", "pass"), 1)
    place:write("rules.lua", HEAD .. custom .. rule("more", '{ "componentstatuses" }') .. rule("fine", '{ "pods" }'))
    engine.await("rules", function(s) return s.generation == 2 end)
    engine.await_sample(results("fine", "medium", "", "pass"), 1)
    engine.await_sample('kubelua_audit_evaluations_total{rule="custom",result="pass"}', 1) -- it was kept
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    sim.api:create(CRONTABS, { apiVersion = "stable.example.com/v1", kind = "CronTab",
      metadata = { name = "nightly", namespace = "default" } })
    engine.await_sample(results("custom", "medium", "", "pass"), 2)
    assert.are.equal(nil, engine.rule("custom").lacks)
    assert.are.equal("componentstatuses", engine.rule("more").lacks)
    assert.has_match("^kubelua %S+ +ready ", (engine.ask "status"))
  end)

  it("counts an object once by two names of its kind, as every audit does", function()
    place:write("rules.lua", HEAD .. 'k8s.rule { id = "two", kinds = { "pods", "po", "pod" }, check = function(_, r)'
      .. ' r:fail "found" end }\n')
    temp.write(place.path .. "/pod.json", cjson.encode(pod "a"))
    local scripts = place.path .. "/scripts"
    local function audit(...)
      local p = cluster.kubelua { "audit", ... }
      assert.are.equal(1, p:wait())
      return (p:out():match "(%d+ finding[^\n]+\n%d+ objects?), ")
    end
    local expected = "1 finding (1 medium)\n1 object"
    assert.are.equal(expected, audit("-f", scripts, "--from", place.path .. "/pod.json"))
    assert.are.equal(expected, audit("-f", scripts, "-s", sim.server))
    local engine = report_engine.start(place, sim)
    engine.await_sample(results("two", "medium", "", "fail"), 1)
    engine.await_sample("kubelua_audit_pending", 0)
    assert.has_match("audit: 1 rule, 1 object; 1 fail\n", (engine.ask "status"), 1, true)
    assert.are.equal(expected, audit("--engine", "--admin-socket", place.path .. "/admin.sock"))
  end)

  it("takes no name for a kind that nobody can have", function()
    place:write("rules.lua", HEAD .. rule("typo", '{ "podz" }'))
    local p = cluster.kubelua { "run", "--report", "-s", sim.server, "-f", place.path .. "/scripts" }
    assert.are.equal(2, p:wait())
    assert.has_match('rules.lua:2: the server doesn\'t have a resource type "podz", did you mean "pods"?', p:err(), 1,
      true)
  end)

  it("runs k8s.main and reloads a script that requests other things too", function()
    place:write("rules.lua", HEAD .. rule("none", '{ "componentstatuses" }')
      .. 'k8s.informer "pods"\nk8s.main(function() print "main" end)\n')
    local engine = report_engine.start(place, sim)
    engine:wait_line "^main$"
    place:write("rules.lua", HEAD .. rule("none", '{ "componentstatuses" }') .. 'k8s.informer "nodes"\n')
    engine.await("rules", function(s) return s.generation == 2 end)
  end)
end)
