local test = require "k8s.test"

local function pod(name)
  return { apiVersion = "v1", kind = "Pod", metadata = { namespace = "default", name = name } }
end

describe("hello.lua", function()
  it("says hello to pods, old and new", function()
    local env = test.load("scripts/hello.lua", { objects = { pod "old" } })
    env:add(pod "new")
    assert.same({ "hello default/old", "hello default/new" }, env.prints)
  end)
end)
