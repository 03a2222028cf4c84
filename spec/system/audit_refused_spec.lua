-- Objects that the server has and that are refused, as they are too large: nobody may take an audit without them for
-- a whole one.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local report_engine = require "spec.support.report_engine"
local scripts_folder = require "spec.support.scripts_folder"

local PODS = "/api/v1/namespaces/default/pods"
local LIMIT = { "--max-object-size", "20Ki" }

local ENGINE = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
k8s.main(function() print "ready" end)
]]

local LOOKS = [[
local k8s = require "k8s"
k8s.rule { id = "looks", severity = "critical", kinds = { "pods" }, check = function(obj, r)
  if obj.spec.hostNetwork then r:fail "host network" end
end }
]]
local USES = [[
local k8s = require "k8s"
k8s.rule { id = "uses", kinds = { "pods" }, uses = { pods = { kind = "pods", index = "key" } },
  check = function(obj, r, use) if #use.pods "default/big" == 0 then r:fail "there is no pod big" end end }
]]

local function pod(name, bytes)
  return { apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = "default", annotations = { text = ("x"):rep(bytes) } },
    spec = { hostNetwork = bytes > 0, containers = { { name = "c", image = "app" } } } }
end

describe("an object that is refused", function()
  local at, looks, uses
  before_each(function()
    at = engine_at_socket.new(ENGINE)
    at.sim.api:create(PODS, pod("small", 0))
    at.sim.api:create(PODS, pod("big", 30000))
    looks, uses = at:write("looks.txt", LOOKS), at:write("uses.txt", USES)
  end)
  after_each(function() at:close() end)

  -- What the first `-f` finds, how the audit ended, and what it said.
  local function result(p)
    local code = p:wait(60)
    local report = cjson.decode(p:out())
    local rules = {}
    for _, row in ipairs(report.results) do rules[#rules + 1] = row.rule end
    return { code = code, complete = report.summary.complete, rules = rules }, p:err()
  end

  local function live(...)
    return result(cluster.kubelua { "audit", "-s", at.sim.server, "-o", "json", ... })
  end

  it("makes the audit of a cluster incomplete, page by page", function()
    local found, err = live("-f", looks, unpack(LIMIT))
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("kubelua audit: pods: 1 object is refused: [^\n]*default/big: %d+ bytes of JSON exceed "
      .. "%-%-max%-object%-size 20480", err)
    assert.are.same({ code = 1, complete = true, rules = { "looks" } }, (live("-f", looks)))
  end)

  it("makes the audit of a cluster incomplete where rules use its kind, and these are not evaluated", function()
    local found, err = live("-f", looks, "-f", uses, unpack(LIMIT))
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("kubelua audit: pods: 1 object is refused: [^\n]*default/big: ", err)
    assert.has_match("1 rule was not evaluated", err, 1, true)
  end)

  it("makes the audit of an engine incomplete, until it is gone", function()
    at:start(LIMIT)
    local function audit(...) return result(at:begin_audit("-o", "json", ...)) end
    local found, err = audit("-f", looks, "-f", uses)
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("pods: 1 object is refused: [^\n]*default/big: %d+ bytes of JSON exceed "
      .. "%-%-max%-object%-size 20480; not evaluated: uses", err)
    at.sim.api:delete(PODS .. "/big")
    await(function() return audit("-f", looks).code == 0 end, "the audit is whole")
    at.sim.api:create(PODS, pod("late", 30000))
    await(function() return audit("-f", looks).code == 3 end, "the audit is incomplete again")
  end)

  it("is reported by continuous audits, which do not evaluate rules that use its kind until it is gone", function()
    local place = scripts_folder.new()
    finally(function() place:remove() end)
    place:write("looks.lua", LOOKS)
    place:write("uses.lua", USES)
    local engine = report_engine.start(place, at.sim, LIMIT)
    local passes = report_engine.results("looks", "critical", "", "pass")
    engine.await_sample(passes, 1)
    await(function() return engine.audit().tornRules == 1 end, "the rule is known not to be asked")
    local audit = engine.audit()
    assert.are.equal(1, #audit.refused)
    assert.has_match("^pods: 1 object is refused: Pod default/big: %d+ bytes of JSON exceed %-%-max",
      audit.refused[1])
    local torn = engine.rule "uses"
    assert.are.same({ false, 0, 0 }, { torn.asked, torn.results.pass, torn.results.fail })
    local status = (engine.ask "status")
    assert.has_match("\naudit: 2 rules, 1 not evaluated: objects of a kind that it uses were refused, 1 object; "
      .. "1 pass\n",
      status, 1, true)
    assert.has_match("\nincomplete: pods: 1 object is refused: Pod default/big: ", status, 1, true)
    assert.has_match("\nuses +medium [^\n]+\n +not evaluated: objects of a kind that it uses were refused\n", status)

    at.sim.api:delete(PODS .. "/big")
    engine.await_sample(report_engine.results("uses", "medium", "", "fail"), 1)
    assert.are.same({ 0, 0 }, { engine.audit().tornRules, #engine.audit().refused })
    assert.has_no_match("\nincomplete: ", (engine.ask "status"))

    at.sim.api:create(PODS, pod("late", 30000))
    await(function() return #engine.audit().refused == 1 end, "another one is told")
    await(function() return engine.rule("uses").results.fail == 0 end, "what it said of the others is void")
    assert.are.equal(1, engine.rule("looks").results.pass)
  end)
end)
