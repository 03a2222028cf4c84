-- kubelua test scripts
local test = require "k8s.test"

describe("leader.lua", function()
  it("reports while it leads, starting with all existing objects", function()
    local env = test.load("leader.lua", { objects = { { kind = "Pod", metadata = { name = "a" } } } })
    env:advance "30s"
    assert.same({ "this process leads", "there is default/a", "still leading" }, env.prints)
    env:lead(false)
    env:reset()
    env:add { kind = "Pod", metadata = { name = "b" } }
    env:advance "1m"
    assert.same({}, env.prints)
    env:lead(true)
    assert.same({ "this process leads", "there is default/a", "there is default/b" }, env.prints)
  end)
end)
