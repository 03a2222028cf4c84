-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/restart_alerts.lua", function()
  local env

  local function pod(restarts)
    local ended = { terminated = { reason = "OOMKilled", exitCode = 137 } }
    return { kind = "Pod", metadata = { namespace = "shop", name = "web" },
      spec = { containers = { { name = "app", image = "i" } } },
      status = { containerStatuses = { { name = "app", restartCount = restarts, lastState = ended } } } }
  end

  local function restart(n, to)
    for i = n, to do
      env:update(pod(i))
      env:advance "1m"
    end
  end

  before_each(function()
    env = test.load("restart_alerts.lua", { params = { token = "t0p" } })
    env:add(pod(0))
  end)

  it("posts once for several restarts, and again after a while", function()
    env:http { url = "https://hooks.example.com/*" }
    restart(1, 2)
    assert.equal(0, #env.requests)
    restart(3, 6)
    assert.equal(1, #env.requests)
    assert.requested(env, { method = "POST", url = "https://hooks.example.com/alerts" })
    assert.printed(env, "shop/web: container app restarted 3 times: OOMKilled (exit code 137)")
    env:advance "1h"
    restart(7, 9)
    assert.equal(2, #env.requests)
  end)

  it("tries again when the webhook fails", function()
    env:http { url = "https://hooks.example.com/*" }
    env:http { url = "https://hooks.example.com/*", status = 503, times = 1 }
    restart(1, 3)
    env:advance "1m"
    assert.equal(2, #env.requests)
    assert.printed(env, "restarted 3 times", true)
  end)
end)
