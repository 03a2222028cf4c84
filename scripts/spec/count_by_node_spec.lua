-- kubelua test scripts
local test = require "k8s.test"

describe("count_by_node.lua", function()
  it("adds up what containers request", function()
    local function pod(name, node)
      local requests = { cpu = "250m", memory = "64Mi" }
      return {
        kind = "Pod", metadata = { name = name },
        spec = { nodeName = node, containers = { { name = "c", resources = { requests = requests } } } },
      }
    end
    local env = test.load("count_by_node.lua", { objects = { pod("a", "n1"), pod("b", "n1"), pod "c" } })
    assert.printed(env, "^n1 +2 +500m +128Mi$", true)
    assert.printed(env, "^%(no node%) +1 +250m +64Mi$", true)
  end)
end)
