-- kubelua test scripts
local test = require "k8s.test"

describe("restarted.lua", function()
  it("lists containers that restarted, most first", function()
    local function pod(name, restarts)
      return {
        kind = "Pod", metadata = { name = name },
        status = { containerStatuses = { { name = "c", restartCount = restarts } } },
      }
    end
    local env = test.load("restarted.lua", { objects = { pod("a", 1), pod("b", 0), pod("c", 7) } })
    assert.same({ "     7  default/c c", "     1  default/a c" }, env.prints)
  end)
end)
