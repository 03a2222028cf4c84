-- k8s.test: limits of scripts under test, and of specs, which have none.
local k8s = require "k8s"
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

describe("limits", function()
  it("are those of production", function()
    local env = load [[
      require("k8s").informer("pods"):on_add(function() while true do end end)
    ]]
    env:add(pod "a")
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("over the limit handler-cpu (50ms)", raised, 1, true)
  end)

  it("are what the spec says", function()
    local text = [[
      require("k8s").informer("pods"):on_add(function() while true do end end)
    ]]
    local env = load(text, { limits = { ["handler-cpu"] = "20ms" } })
    env:add(pod "a")
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("over the limit handler-cpu (20ms)", raised, 1, true)
    ok, raised = pcall(load, text, { limits = { ["handlr-cpu"] = "20ms" } })
    assert.is_false(ok)
    assert.has_match("handler-cpu", raised, 1, true)
  end)

  it("do not bind a spec", function()
    assert.is_true(#k8s.json.encode { text = ("x"):rep(20 * 2 ^ 20) } > 20 * 2 ^ 20)
  end)
end)
