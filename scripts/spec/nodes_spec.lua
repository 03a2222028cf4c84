-- kubelua test scripts
local test = require "k8s.test"

describe("nodes.lua", function()
  local function node(status)
    return {
      kind = "Node", metadata = { name = "n1" },
      status = { nodeInfo = { kubeletVersion = "v1.36.0" }, conditions = { { type = "Ready", status = status } } },
    }
  end

  it("reports no nodes that are ready", function()
    assert.not_logged(test.load("nodes.lua", { objects = { node "True" } }))
  end)

  it("logs each change", function()
    local env = test.load("nodes.lua", { objects = { node "True" } })
    env:update(node "Unknown")
    assert.logged(env, {
      level = "warn", message = "Node is not ready", fields = { node = "n1", ready = "Unknown", before = "True" },
    })
    env:update(node "True")
    assert.logged(env, { level = "info", message = "Node is ready" })
    env:delete("nodes", "n1")
    assert.logged(env, "Node is gone")
  end)
end)
