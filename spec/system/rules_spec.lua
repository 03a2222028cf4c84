-- Rules in an engine that asks none of them: they are checked as anything that a script registers, and cost no cache.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local place

local RULES = [[
local k8s = require "k8s"
k8s.informer("configmaps"):on_add(function(o) print("configmap " .. o:name()) end)
k8s.main(function() print "main" end)
k8s.rule {
  id = "%s",
  kinds = { "pods", "%s" },
  uses = { nodes = { kind = "nodes", index = "key" } },
  check = function(obj, r, use) r:fail("no") end,
}
]]

describe("rules in kubelua run", function()
  local sim
  before_each(function()
    place = scripts_folder.new()
    sim = cluster.sim { "--pods", "2" }
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("have no informers, and nothing waits for them", function()
    place:write("a.lua", RULES:format("one", "services"))
    local engine = place:start(sim)
    engine:wait_line "^main$"
    local one = engine.await("a", function(s) return s.mainState == "done" end)
    assert.are.equal(1, one.rules)
    assert.are.equal(1, one.informers)
    local text = engine.ask("status", "-owide")
    assert.has_match("rules: 1", text)
    assert.has_no.match("\nnodes", text)
    assert.has_no.match("\npods", text)
    local stats = sim.api:get "/sim/stats"
    assert.are.equal(1, stats.lists + stats.watch_lists)
  end)

  it("are what a plan shows, and are replaced by those of the next generation", function()
    place:write("a.lua", RULES:format("one", "services"))
    local engine = place:start(sim)
    engine:wait_line "^main$"
    temp.write(place.path .. "/next/a.lua", RULES:format("two", "deployments.apps"))
    local text, code = engine.ask("plan", "-f", place.path .. "/next/a.lua")
    assert.are.equal(1, code)
    assert.has_match("\n *%+ rule two {", text)
    assert.has_match("\n *%- rule one {", text)
    assert.has_match("\n *%+ informer deployments.apps", text)
    place:write("a.lua", RULES:format("two", "deployments.apps"))
    local one = engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    assert.are.equal(1, one.rules)
    assert.are.equal(1, one.informers)
  end)

  it("are refused at a reload when they name a kind that nobody has", function()
    place:write("a.lua", RULES:format("one", "services"))
    local engine = place:start(sim)
    engine:wait_line "^main$"
    place:write("a.lua", RULES:format("one", "widgetz"))
    local one = engine.await("a", function(s) return s.reloadError ~= "" end)
    assert.has_match("a%.lua:4: .*widgetz", one.reloadError)
    assert.are.equal(1, one.generation)
  end)

  it("may name kinds with their group that nobody has: nothing waits for them", function()
    place:write("a.lua", RULES:format("one", "crontabs.stable.example.com"))
    local engine = place:start(sim)
    engine:wait_line "^main$"
    place:write("a.lua", RULES:format("two", "others.stable.example.com"))
    engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    assert.has_no.match("Waiting for an unknown kind", engine.streams.err.text)
  end)

  it("end the start when they name a kind that nobody has", function()
    place:write("a.lua", RULES:format("one", "widgetz"))
    local engine = cluster.run(sim.server, place.path .. "/scripts")
    assert.are.equal(2, engine:wait(20))
    assert.has_match("a%.lua:4: .*widgetz", engine.streams.err.text)
    place:write("a.lua", RULES:format("one", "widgetz"):gsub('"nodes"', '"widgetz"', 1))
    engine = cluster.run(sim.server, place.path .. "/scripts")
    assert.are.equal(2, engine:wait(20))
    assert.are.equal(1, select(2, engine.streams.err.text:gsub("type \"widgetz\"", ""))) -- told once
  end)
end)

describe("the example idle_services.lua", function()
  before_each(function() place = scripts_folder.new() end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("finds services without pods in a file", function()
    temp.write(place.path .. "/shop.yaml", [[
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: web } }
---
apiVersion: v1
kind: Service
metadata: { name: api, namespace: shop }
spec: { selector: { app: api } }
---
apiVersion: v1
kind: Pod
metadata: { name: web-1, namespace: shop, labels: { app: web } }
status: { phase: Running }
]])
    local from = place.path .. "/shop.yaml"
    local p = cluster.kubelua { "audit", "-f", "scripts/idle_services.lua", "--from", from, "-ojson" }
    assert.are.equal(1, p:wait(20))
    local results = cjson.decode(p.streams.out.text).results
    assert.are.same({ 1, "api", "0 pods run behind it" }, { #results, results[1].name, results[1].message })
  end)
end)

describe("parameters of rules", function()
  local rules = [[
local k8s = require "k8s"
k8s.rule {
  id = "names", kinds = { "pods" }, params = { names = { "a" }, most = 1 },
  check = function(obj, r, _, params)
    r:fail(table.concat(params.names, "+") .. " " .. params.most)
  end,
}
]]

  local function audit(...)
    local p = cluster.kubelua {
      "audit", "-f", place.path .. "/scripts", "--from", place.path .. "/pod.yaml", "-ojson", ...,
    }
    local code = p:wait(20)
    local report = code == 1 and cjson.decode(p.streams.out.text)
    return report and report.results[1].message or p.streams.err.text, code
  end

  before_each(function()
    place = scripts_folder.new()
    place:write("rules.lua", rules)
    temp.write(place.path .. "/pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n")
    temp.write(place.path .. "/params.yaml", "most: 5\nnames:\n  names: [b, c]\n")
    temp.write(place.path .. "/params.json", '{"names.names": ["d"]}')
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("come from flags and from files", function()
    local yaml, json = place.path .. "/params.yaml", place.path .. "/params.json"
    assert.are.equal("a 1", (audit()))
    assert.are.equal("e+f 2", (audit("--param", "names=e,f", "--param", "most=2")))
    assert.are.equal("b+c 5", (audit("--params", yaml)))
    assert.are.equal("d 5", (audit("--params", yaml, "--params", json)))
    assert.are.equal("b+c 2", (audit("--param", "most=2", "--params", yaml, "--param", "names=e"))) -- a rule's own wins
    assert.are.equal("e 5", (audit("--params", yaml, "--param", "names.names=e")))
  end)

  it("that are none end an audit before it begins", function()
    local yaml = place.path .. "/params.yaml"
    temp.write(yaml, "\nmost: many\n")
    for args, text in pairs {
      [{ "--params", yaml }] = 'params.yaml:2: most: "many" is not a number, as rule names (',
      [{ "--param", "mots=2" }] = '--param mots: no script or rule has a parameter "mots", did you mean "most"?',
      [{ "--param", "most" }] = "--param most: expected [SCRIPT:][RULE.]NAME=VALUE",
      [{ "--params", place.path .. "/none.yaml" }] = "/none.yaml",
    } do
      local said, code = audit(unpack(args))
      assert.are.equal(2, code)
      assert.has_match(text, said, 1, true)
    end
  end)
end)
