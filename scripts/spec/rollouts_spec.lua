-- kubelua test scripts
local test = require "k8s.test"

describe("rollouts.lua", function()
  local function deployment(ready)
    return {
      apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web" },
      spec = { selector = { matchLabels = { app = "web" } } }, status = { readyReplicas = ready },
    }
  end

  local function pod(name, ready)
    return {
      kind = "Pod", metadata = { name = name, labels = { app = "web" } },
      status = { conditions = { { type = "Ready", status = ready } } },
    }
  end

  it("reports a rollout once it has finished", function()
    local env = test.load("rollouts.lua", { objects = { deployment(0), pod("a", "True"), pod("b", "False") } })
    for i = 1, 5 do
      env:update(deployment(i))
      env:advance "1s"
    end
    assert.not_printed(env)
    env:advance "2s"
    assert.same({ "default/web: 1 of 2 ready b" }, env.prints)
  end)

  it("reports a server that does not respond", function()
    local env = test.load("rollouts.lua", { objects = { deployment(0) }, failures = "collect" })
    env:fault { verb = "list", kind = "pods", code = 403, message = "not for you" }
    env:update(deployment(1))
    env:advance "2s"
    assert.has_match("not for you", env.failures[1].error, 1, true)
  end)
end)
