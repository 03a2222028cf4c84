-- kubelua test scripts
local test = require "k8s.test"

describe("busiest_nodes.lua", function()
  it("orders nodes by the CPU that is requested on them", function()
    local function pod(name, node, cpu)
      return {
        kind = "Pod", metadata = { name = name },
        spec = { nodeName = node, containers = { { name = "c", resources = { requests = { cpu = cpu } } } } },
        status = { phase = "Running" },
      }
    end
    local env = test.load("busiest_nodes.lua", {
      objects = { pod("a", "n1", "100m"), pod("b", "n2", "1500m"), pod("c", "n1", "250m"), pod("d", nil, "9") },
    })
    assert.has_match("^n2 +1  1500m$", env.prints[2])
    assert.has_match("^n1 +2  350m$", env.prints[3])
    assert.equal(3, #env.prints)
    assert.is_true(env.main.ok)
  end)
end)
