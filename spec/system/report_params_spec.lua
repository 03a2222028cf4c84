-- `kubelua run --report --param`: parameters that an operator gives to rules that are asked all the time.
local cluster = require "spec.support.cluster"
local report_engine = require "spec.support.report_engine"
local temp = require "spec.support.temp"

local results, pod = report_engine.results, report_engine.pod
local PODS = report_engine.PODS

-- A rule that finds pods without as many labels as `params` says.
local function rule(params, id)
  return ([[
local k8s = require "k8s"
k8s.rule {
  id = "%s", kinds = { "pods" }, params = %s,
  check = function(o, r, _, params)
    if not o:label(params.label) then r:fail("no label " .. params.label) end
  end,
}
]]):format(id or "labelled", params)
end

describe("kubelua run --report --param", function()
  local place, sim
  report_engine.each(before_each, after_each, function(...)
    place, sim = ...
    sim.api:create(PODS, pod("a", { team = "x" }))
  end)

  it("evaluates with its parameters, also after a reload", function()
    place:write("rules.lua", rule '{ label = "app" }')
    temp.write(place.path .. "/team.yaml", "labelled: { label: none }\n")
    local engine = report_engine.start(place, sim, { "--params", place.path .. "/team.yaml", "--param", "label=none",
      "--param", "labelled.label=team" })
    engine.await_sample(results("labelled", "medium", "", "pass"), 1)
    local report, code = engine.ask("audit", "--engine") -- its rules, as it runs them
    assert.has_match("^0 findings\n", report)
    assert.are.equal(0, code)
    report, code = engine.ask("audit", "--engine", "--param", "label=none", "--param", "labelled.label=none")
    assert.has_match("no label none", report, 1, true)
    assert.are.equal(1, code)
    place:write("rules.lua", rule '{ label = "other" }')
    engine.await("rules", function(s) return s.generation == 2 end)
    engine.await_sample(results("labelled", "medium", "", "pass"), 1)
    engine.await_sample(results("labelled", "medium", "", "fail"), nil)
    cluster.terminate(engine)
  end)

  it("refuses what no rule takes, and what is of another type, as kubelua audit does", function()
    place:write("rules.lua", rule '{ label = "app", least = 1 }')
    local function refusal(...)
      local p = cluster.kubelua { "run", "--report", "-s", sim.server, "-f", place.path .. "/scripts", ... }
      assert.are.equal(2, p:wait())
      return p:err()
    end
    assert.has_match('kubelua: --param lable: no script or rule has a parameter "lable", did you mean "label"?\n',
      refusal("--param", "lable=x"), 1, true)
    assert.has_match('kubelua: --param labeled.label: no rule with the id "labeled" has parameters, did you mean '
      .. '"labelled"?\n',
      refusal("--param", "labeled.label=x"), 1, true)
    assert.has_match('kubelua: --param least: "x" is not a number, as rule labelled (' .. place.path
      .. "/scripts/rules.lua:2) has 1\n", refusal("--param", "least=x"), 1, true)
    assert.has_match("kubelua run: --param least: expected [SCRIPT:][RULE.]NAME=VALUE\n",
      refusal("--param", "least"), 1, true)
    assert.has_match("none.yaml", refusal("--params", place.path .. "/none.yaml"), 1, true)
  end)

  it("refuses a candidate that has the parameter no more, or of another type", function()
    place:write("rules.lua", rule '{ label = "app" }')
    local engine = report_engine.start(place, sim, { "--param", "label=team" })
    engine.await_sample(results("labelled", "medium", "", "pass"), 1)
    place:write("rules.lua", rule '{ lable = "app" }')
    local path = place.path .. "/scripts/rules.lua"
    local status = engine.await("rules", function(s) return s.reloadError ~= "" end)
    assert.are.equal(path .. ': --param label: no script or rule has a parameter "label", did you mean "lable"?',
      status.reloadError)
    local plan, code = engine.ask("plan", "-f", place.path .. "/scripts")
    assert.has_match('no script or rule has a parameter "label", did you mean "lable"?', plan, 1, true)
    assert.are.equal(3, code)
    place:write("rules.lua", rule "{ label = 3 }")
    local number = '--param label: "team" is not a number, as rule labelled (' .. path .. ":2) has 3"
    engine.await("rules", function(s) return s.reloadError:find(number, 1, true) end)
    plan, code = engine.ask("plan", "-f", place.path .. "/scripts")
    assert.has_match(number, plan, 1, true)
    assert.are.equal(3, code)
    assert.are.equal(1, engine.script("rules").generation)
    engine.await_sample(results("labelled", "medium", "", "pass"), 1)
  end)

  it("takes no offence at a rule that goes to another script, and warns of one that goes", function()
    place:write("a.lua", rule '{ label = "app" }')
    place:write("b.lua", rule('{ other = "app", label = "none" }', "others"))
    local engine = report_engine.start(place, sim, { "--param", "labelled.label=team" })
    engine.await_sample(results("labelled", "medium", "", "pass"), 1)
    place:write("a.lua", rule('{ label = "none" }', "changed"))
    place:write("b.lua", rule '{ label = "app" }')
    engine.await("b", function(s) return s.generation == 2 end)
    engine.await("a", function(s) return s.generation == 2 end)
    os.remove(place.path .. "/scripts/b.lua")
    engine:wait_error('Parameter is not used" err="%-%-param labelled.label: '
      .. 'no rule with the id .*labelled')
  end)

  it("is known to kubelua check", function()
    place:write("rules.lua", rule '{ label = "app", least = 1 }')
    local function check(...)
      local p = cluster.kubelua { "check", "-f", place.path .. "/scripts", ... }
      return p:wait(), p:out(), p:err()
    end
    assert.are.equal(0, (check("--param", "least=2")))
    local code, out = check("--param", "least=x")
    assert.are.equal(1, code)
    assert.has_match('--param least: "x" is not a number, as rule labelled', out, 1, true)
    local missing, _, err = check("--param", "lest=2")
    assert.are.equal(2, missing)
    assert.has_match('--param lest: no script or rule has a parameter "lest", did you mean "least"?', err, 1, true)
  end)
end)
