-- kubelua test scripts
local test = require "k8s.test"

describe("configmap_sizes.lua", function()
  it("names the ten largest of any number", function()
    local env = test.new()
    for i = 1, 150 do
      env:add { kind = "ConfigMap", metadata = { name = "c" .. i }, data = { text = ("x"):rep(i) } }
    end
    env:load "configmap_sizes.lua"
    assert.equal(11, #env.prints)
    assert.has_match(" default/c150$", env.prints[2])
    assert.has_match(" default/c141$", env.prints[11])
  end)

  it("fails when it may not list them", function()
    local env = test.new { failures = "collect" }
    env:fault { verb = "list", kind = "configmaps", code = 403, message = "no list for you" }
    env:load "configmap_sizes.lua"
    assert.is_false(env.main.ok)
    assert.has_match("no list for you", env.failures[1].error, 1, true)
  end)
end)
