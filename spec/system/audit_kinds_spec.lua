-- Kinds that rules name and that are not there: an audit of files, of a cluster and of a running engine say the same of
-- the same rules.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"

local ENGINE = [[
local k8s = require "k8s"
k8s.informer "pods"
k8s.main(function() print "ready" end)
]]

local GOOD = [[
local k8s = require "k8s"
k8s.rule { id = "good", kinds = { "pods" }, check = function(obj, r) r:warn "seen" end }
]]

local LEFT_OUT = "kubelua audit: 1 rule was not evaluated because the server did not return what it uses: uses\n"

describe("kinds that are not there", function()
  local at

  before_each(function()
    at = engine_at_socket.new(ENGINE, { "--pods", "5" })
    at:start()
    at:write("pods.json", cjson.encode(at.sim.api:get "/api/v1/pods"))
  end)
  after_each(function() at:close() end)

  local function run(p)
    local code = p:wait(60)
    return { code = code, report = cjson.decode(p:out()), err = p:err() }
  end

  -- What an audit of each of them comes to.
  local function audits(rules)
    local file = at:write("rules.lua", GOOD .. rules)
    local function audit(...) return run(cluster.kubelua { "audit", "-o", "json", "-f", file, ... }) end
    return {
      files = audit("--from", at.folder .. "/pods.json"),
      cluster = audit("--server", at.sim.server),
      engine = audit("--engine", "--admin-socket", at.socket, "--children", "2"),
    }
  end

  local function times(text, part) return select(2, text:gsub(part:gsub("%p", "%%%0"), "")) end

  it("are reported once each with a rule's place and the nearest kind, and rules that use them are left out", function()
    local of = audits [[
k8s.rule { id = "looks", kinds = { "podz" }, check = function(obj, r) r:fail "x" end }
k8s.rule { id = "looks-too", kinds = { "podz", "pods" }, check = function(obj, r) r:warn "seen" end }
k8s.rule { id = "uses", kinds = { "pods" }, uses = { s = { kind = "servicez" } },
  check = function(obj, r, use) if #use.s() == 0 then r:fail "no service" end end }
k8s.rule { id = "uses-too", kinds = { "pods" }, uses = { s = { kind = "servicez" }, p = { kind = "pods" } },
  check = function(obj, r, use) if #use.s() == 0 then r:fail "no service" end end }
]]
    for name, audit in pairs(of) do
      assert.are.equal(3, audit.code, name .. ": " .. audit.err)
      assert.are.same({ false, 10 }, { audit.report.summary.complete, #audit.report.results }, name)
      for _, row in ipairs(audit.report.results) do assert.are.equal("seen", row.message, name) end
      assert.matches('kubelua audit: [^\n]*rules.lua:3: rule looks: [^\n]*"podz"[^\n]*, did you mean "pods"%?',
        audit.err)
      assert.matches('kubelua audit: [^\n]*rules.lua:5: rule uses: [^\n]*"servicez"[^\n]*, did you mean "services"%?',
        audit.err)
      assert.matches("kubelua audit: 2 rules were not evaluated because [^\n]* what they use: uses, uses%-too\n",
        audit.err)
      assert.are.same({ 1, 1, 1 },
        { times(audit.err, "podz"), times(audit.err, "servicez"), times(audit.err, "not evaluated") }, name)
      local nobody = name == "files" and "the input cannot contain" or "the server did not return"
      local reason = nobody .. " servicez, which it uses"
      assert.are.same({ { rule = "uses", reason = reason }, { rule = "uses-too", reason = reason } },
        audit.report.summary.notAsked, name)
    end
  end)

  it("are why rules are not evaluated, as wide reports show too", function()
    local rules = at:write("rules.lua", GOOD .. [[
k8s.rule { id = "uses", kinds = { "pods" }, uses = { s = { kind = "secrets" } }, check = function() end }
]])
    local p = cluster.kubelua { "audit", "-f", rules, "--engine", "--admin-socket", at.socket, "-o", "wide" }
    assert.are.equal(3, p:wait(60))
    local block = "\n\nNOT EVALUATED  1 rule\n"
      .. "  uses  the engine does not have all objects of secrets, which it uses\n\n"
    assert.matches(block, p:out(), 1, true)
    assert.is_nil(run(cluster.kubelua { "audit", "-o", "json", "-f", at:write("good.lua", GOOD), "--from",
      at.folder .. "/pods.json" }).report.summary.notAsked)
  end)

  it("are no mistake when the server does without them and nobody uses them", function()
    local of = audits [[
k8s.rule { id = "pdb", kinds = { "componentstatuses" }, check = function(obj, r) r:fail "x" end }
k8s.rule { id = "widget", kinds = { "widgets.example.com", "componentstatuses" }, check = function() end }
]]
    for name, audit in pairs(of) do
      assert.are.same({ 0, true, 5 }, { audit.code, audit.report.summary.complete, #audit.report.results }, name)
      local told = "kubelua audit: the server has no componentstatuses, widgets.example.com\n"
      assert.are.equal(name == "files" and 0 or 1, times(audit.err, told), name .. ": " .. audit.err)
    end
  end)

  it("leave out who uses them, where a server does without them; files may have none", function()
    local of = audits [[
k8s.rule { id = "uses", kinds = { "pods" }, uses = { b = { kind = "componentstatuses" } },
  check = function(obj, r, use) if #use.b() == 0 then r:warn "no budget" end end }
]]
    assert.are.same({ 0, 10 }, { of.files.code, #of.files.report.results })
    for _, name in ipairs { "cluster", "engine" } do
      local audit = of[name]
      assert.are.same({ 3, false, 5 }, { audit.code, audit.report.summary.complete, #audit.report.results }, name)
      assert.matches("kubelua audit: the server has no componentstatuses\n", audit.err, 1, true)
      assert.matches(LEFT_OUT, audit.err, 1, true)
    end
  end)

  -- The kind may be one of a group that did not answer: nobody knows whether there are objects of it.
  it("are not taken for none when the server did not list all of its kinds", function()
    at.engine:kill "KILL"
    at.engine:wait(20)
    at.sim:play { ["do"] = "fault", path = "/apis", what = "status", code = 503, times = 0 }
    at:start()
    local of = audits [[
k8s.rule { id = "looks", kinds = { "widgets.example.com" }, check = function(obj, r) r:fail "x" end }
k8s.rule { id = "uses", kinds = { "pods" }, uses = { s = { kind = "widgets.example.com" } },
  check = function(obj, r, use) if #use.s() == 0 then r:fail "no widget" end end }
]]
    for _, name in ipairs { "cluster", "engine" } do
      local audit = of[name]
      assert.are.same({ 3, false, 5 }, { audit.code, audit.report.summary.complete, #audit.report.results }, audit.err)
      assert.matches("rules.lua:3: rule looks: [^\n]*widgets.example.com[^\n]*%(not all groups responded: /apis: ",
        audit.err)
      assert.matches(LEFT_OUT, audit.err, 1, true)
    end
  end)
end)
