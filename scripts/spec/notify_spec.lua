-- kubelua test scripts
local test = require "k8s.test"

describe("notify.lua", function()
  it("notifies the hook when a node is not ready any more, and reports when that failed", function()
    local function node(status)
      return {
        kind = "Node", metadata = { name = "n1" },
        status = { conditions = { { type = "Ready", status = status } } },
      }
    end
    local env = test.load "notify.lua"
    env:add(node "True")
    assert.same({}, env.logs)
    env:update(node "False")
    assert.equal("The hook was not told", env.logs[1].message) -- a test has no network
  end)
end)
