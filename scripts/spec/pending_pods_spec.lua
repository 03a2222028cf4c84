-- kubelua test scripts
local test = require "k8s.test"

describe("pending_pods.lua", function()
  local function pod(phase, message)
    return {
      kind = "Pod", metadata = { name = "web" },
      status = { phase = phase, conditions = { { type = "PodScheduled", status = "False", message = message } } },
    }
  end

  it("reports why a pod waits, and when that is over", function()
    local env = test.load "pending_pods.lua"
    env:add(pod "Pending")
    env:update(pod("Pending", "0/3 nodes are available"))
    env:update(pod "Running")
    assert.same({
      "pending  default/web: no reason given yet", "pending  default/web: 0/3 nodes are available",
      "resolved default/web: Running",
    }, env.prints)
  end)

  it("reports one that never ran", function()
    local env = test.load("pending_pods.lua", { objects = { pod("Pending", "no") } })
    env:delete("pods", "default/web")
    assert.printed(env, "gone     default/web: it never ran")
  end)
end)
