-- `kubelua run --report`: rules that are asked again when something changes.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local report_engine = require "spec.support.report_engine"
local scripts_folder = require "spec.support.scripts_folder"

local results, pod = report_engine.results, report_engine.pod
local PODS = report_engine.PODS

local RULES = [[
local k8s = require "k8s"
k8s.rule {
  id = "labelled", severity = "high", category = "meta", kinds = { "pods" },
  check = function(o, r)
    print("labelled " .. o:name())
    if not o:label "app" then r:fail("no label app") end
  end,
}
k8s.rule {
  id = "configured", kinds = { "pods" }, uses = { config = { kind = "configmaps", index = "key" } },
  check = function(o, r, use)
    print("configured " .. o:name())
    if #use.config("default/" .. o:name()) == 0 then r:fail("%s") end
  end,
}
]]

describe("kubelua run --report", function()
  local place, sim
  report_engine.each(before_each, after_each, function(...) place, sim = ... end)

  local function start(args) return report_engine.start(place, sim, args) end

  it("logs the first error of a rule, with the object and the line", function()
    sim.api:create(PODS, pod("a"))
    sim.api:create(PODS, pod("b"))
    place:write("rules.lua", 'require("k8s").rule { id = "broken", kinds = { "pods" }, check = function(o)\n'
      .. "  return o.spec.none.more end }")
    local engine = start()
    engine.await_sample(results("broken", "medium", "", "error"), 2)
    engine:wait_error('Rule failed; .* rule="broken" object="default/[ab]" error="[^"]*rules.lua:2: ', 20)
    local _, lines = engine.streams.err.text:gsub("Rule failed; further errors of this rule are only counted", "")
    assert.are.equal(1, lines)
  end)

  it("names the rules that fail, and evaluates one no more that exceeds its limit three times running", function()
    for i = 1, 5 do sim.api:create(PODS, pod("p" .. i)) end
    local path = place.path .. "/scripts/rules.lua"
    local text = ('local k8s = require "k8s"\n'
      .. 'k8s.rule { id = "loop", kinds = { "pods" }, check = function(o)\n  %s\nend }\n'
      .. 'k8s.rule { id = "boom", kinds = { "pods" }, check = function(o)\n  error { code = 1 }\nend }\n'
      .. 'k8s.rule { id = "fine", kinds = { "pods" }, check = function(o) end }\n')
    place:write("rules.lua", text:format(scripts_folder.ENDLESS))
    local engine = start()
    engine.await_sample(results("loop", "medium", "", "error"), 5)
    engine.await_sample(results("boom", "medium", "", "error"), 5)
    engine.await_sample(results("fine", "medium", "", "pass"), 5)
    engine.await_sample("kubelua_audit_pending", 0)
    local id = place.path .. "/scripts/rules"
    engine.await_sample(('kubelua_handler_quarantined{script="%s",handler="rule/loop"}'):format(id), 1)
    engine.await_sample('kubelua_audit_evaluations_total{rule="loop",result="error"}', 3)
    local loop, boom = engine.rule "loop", engine.rule "boom"
    assert.are.same({ true, 3, 5, 0 }, { loop.quarantined, loop.errors, loop.results.error, loop.results.pass })
    assert.has_match("^" .. path:gsub("%p", "%%%0") .. ":3: over the limit handler%-cpu", loop.lastError.message)
    assert.has_match("^default/p%d$", loop.lastError.object)
    assert.are.same({ false, 5, 5, id, 5 }, { boom.quarantined, boom.errors, boom.results.error, boom.script,
      boom.line })
    local status, wide = (engine.ask "status"), (engine.ask("status", "-owide"))
    assert.has_match("\naudit: 3 rules, 1 in quarantine, 5 objects; 5 pass, 10 error\n", status, 1, true)
    assert.has_match("\nloop +medium +0 +0 +0 +0 +5 [^\n]+\n +in quarantine, every result is an error: fix and reload"
      .. " the script, or run kubelua quarantine %-%-lift rule/loop\n"
      .. " +3 errors so far, the last of default/p%d %w+ ago:"
      .. " [^\n]+:3: over the limit", status)
    assert.has_match("\nboom +medium [^\n]+\n +5 errors so far, the last of default/p%d %w+ ago: %(error object"
      .. ' {"code":1}%) %(the rule is at [^\n]+rules.lua:5%)\n', status)
    assert.has_no_match("\nfine ", status)
    assert.has_match("\nfine +medium +5 +0 +0 +0 +0 ", wide)
    assert.has_match("rule/loop", (engine.ask "quarantine"), 1, true)
    assert.are.equal("Lifted: 1\n", (engine.ask("quarantine", "--lift", "rules/rule/loop")))
    engine.await_sample('kubelua_audit_evaluations_total{rule="loop",result="error"}', 6) -- it is no better
    place:write("rules.lua", text:format "")
    engine.await_sample(results("loop", "medium", "", "pass"), 5)
    engine.await_sample("kubelua_audit_pending", 0)
    assert.has_match("\naudit: 3 rules, 5 objects; 10 pass, 5 error\n", (engine.ask "status"), 1, true)
  end)

  it("evaluates what has changed again, and what depends on it", function()
    sim.api:create(PODS, pod("a"))
    sim.api:create(PODS, pod("b", { app = "b" }))
    place:write("rules.lua", RULES:format "no config")
    local engine = start()
    engine.await_sample(results("labelled", "high", "meta", "fail"), 1)
    engine.await_sample(results("labelled", "high", "meta", "pass"), 1)
    engine.await_sample(results("configured", "medium", "", "fail"), 2)
    sim.api:patch(PODS .. "/a", { metadata = { labels = { app = "a" } } })
    engine.await_sample(results("labelled", "high", "meta", "pass"), 2)
    engine.await_sample(results("labelled", "high", "meta", "fail"), 0)
    local config = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "b", namespace = "default" } }
    sim.api:create("/api/v1/namespaces/default/configmaps", config)
    engine.await_sample(results("configured", "medium", "", "pass"), 1)
    engine.await_sample("kubelua_audit_pending", 0)
    engine.await_sample('kubelua_audit_evaluations_total{rule="labelled",result="pass"}', 2)
    engine.await_sample('kubelua_audit_evaluations_total{rule="configured",result="pass"}', 1)
    sim.api:delete(PODS .. "/a")
    engine.await_sample(results("configured", "medium", "", "fail"), 0)
    assert.has_match("\naudit: 2 rules, 1 object; 2 pass\n", (engine.ask "status"))
    cluster.terminate(engine)
  end)

  it("keeps results over a reload that are the same", function()
    sim.api:create(PODS, pod("a"))
    place:write("rules.lua", RULES:format "no config")
    local engine = start()
    engine.await_sample(results("configured", "medium", "", "fail"), 1)
    local lists = sim.api:get("/sim/stats").lists + sim.api:get("/sim/stats").watch_lists
    place:write("rules.lua", RULES:format "none")
    engine.await("rules", function(s) return s.generation == 2 end)
    engine.await_sample('kubelua_audit_evaluations_total{rule="configured",result="fail"}', 1)
    engine.await_sample(results("configured", "medium", "", "fail"), 1)
    engine:wait_line "^configured a$"
    engine:wait_line "^configured a$"
    local said = select(2, engine.streams.out.text:gsub("labelled a", ""))
    assert.are.same({ 1, 2 }, { said, select(2, engine.streams.out.text:gsub("configured a", "")) })
    assert.are.equal(lists, sim.api:get("/sim/stats").lists + sim.api:get("/sim/stats").watch_lists)
    place:write("rules.lua", 'local k8s = require "k8s"\nk8s.informer "pods"\n')
    engine.await("rules", function(s) return s.generation == 3 and s.draining == 0 end)
    engine.await_sample(results("labelled", "high", "meta", "fail"), nil)
    assert.are.equal(0, engine.audit().rules)
  end)

  it("does not delay handlers, however slow a rule is", function()
    place:write("rules.lua", [[
      local k8s = require "k8s"
      k8s.rule { id = "slow", kinds = { "pods" }, check = function(o, r)
        local till = os.clock() + 0.005
        while os.clock() < till do end
      end }
      k8s.informer("nodes"):on_add(function(o) print("node " .. o:name()) end)
    ]])
    for i = 1, 400 do sim.api:create(PODS, pod("p" .. i)) end
    local engine = start()
    await(function() return engine.audit().results.pass > 0 end, "a first result")
    for i = 1, 10 do
      sim.api:create("/api/v1/nodes", { apiVersion = "v1", kind = "Node", metadata = { name = "n" .. i } })
    end
    engine:wait_line "^node n10$"
    assert.is_true(engine.audit().pending > 0, "the rule was done before: nothing was shown")
    local latency = 'kubelua_event_latency_seconds_bucket{script="%s/scripts/rules",handler="nodes/1",le="0.1"}'
    engine.await_sample(latency:format(place.path), 10)
    engine.await_sample(results("slow", "medium", "", "pass"), 400)
  end)

  it("reports when there is no rule, and refuses what it cannot do", function()
    place:write("rules.lua", 'local k8s = require "k8s"\nk8s.informer "pods"\n')
    local engine = start()
    assert.has_match("--report has no effect, none of the scripts has a rule", engine.streams.err.text, 1, true)
    assert.has_match("audit: no script has a rule", (engine.ask "status"))
    local p = cluster.kubelua { "run", "--report=html", "-f", place.path .. "/scripts" }
    assert.are.equal(2, p:wait())
    assert.has_match('--report: "html" is not policyreport', p.streams.err.text)
    p = cluster.kubelua { "run", "--report", "metrics", "-f", place.path .. "/scripts" }
    assert.are.same({ 2, "kubelua run: --report takes its value after =: --report=metrics\n" }, { p:wait(), p:err() })
  end)
end)
