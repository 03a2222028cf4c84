-- kubelua test scripts
local test = require "k8s.test"

describe("pods_on.lua", function()
  local env

  before_each(function()
    local function pod(name, node)
      return { kind = "Pod", metadata = { name = name }, spec = { nodeName = node }, status = { phase = "Running" } }
    end
    env = test.load("pods_on.lua", { objects = { pod("a", "n1"), pod("b", "n1"), pod("c", "n2") } })
  end)

  it("lists the pods of a node", function()
    assert.same({ { namespace = "default", name = "c", phase = "Running" } }, env:call("pods-on", "n2"))
  end)

  it("counts those of each", function() assert.same({ n1 = 2, n2 = 1 }, env:call "pods-on") end)

  it("refuses a node without pods", function()
    local rows, problem = env:call("pods-on", "n3")
    assert.is_nil(rows)
    assert.equal("no pods on n3", problem)
  end)
end)
