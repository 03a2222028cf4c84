-- kubelua test scripts
local test = require "k8s.test"

describe("restarts.lua", function()
  local function pod(restarts)
    local last = { terminated = { reason = "OOMKilled", exitCode = 137 } }
    return {
      kind = "Pod", metadata = { name = "web" },
      status = { containerStatuses = { { name = "c", restartCount = restarts, lastState = last } } },
    }
  end

  it("reports how often, and why", function()
    local env = test.load("restarts.lua", { objects = { pod(1) } })
    env:update(pod(1))
    assert.not_printed(env)
    env:update(pod(2))
    assert.printed(env, "default/web: container c restarted, 2 times by now (OOMKilled, exit code 137)")
  end)
end)
