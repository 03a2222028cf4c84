-- kubelua test scripts
local test = require "k8s.test"

describe("wait_ready.lua", function()
  local function pod(ready)
    local conditions = { { type = "Ready", status = ready } }
    return { kind = "Pod", metadata = { name = "web" }, status = { conditions = conditions } }
  end

  it("ends well when the pod is ready", function()
    local env = test.load("wait_ready.lua", { objects = { pod "False" } })
    assert.is_nil(env.main)
    env:update(pod "True")
    assert.equal(0, env.main.code)
    assert.same({ "modified default/web" }, env.prints)
  end)

  it("ends with 1 when it is deleted, or after five minutes", function()
    local env = test.load("wait_ready.lua", { objects = { pod "False" } })
    env:delete("pods", "default/web")
    assert.equal(1, env.main.code)
    env = test.load("wait_ready.lua", { objects = { pod "False" } })
    env:advance "5m"
    assert.equal(1, env.main.code)
    assert.printed(env, "not ready within five minutes")
  end)

  it("fails when there is no such pod", function()
    local env = test.load("wait_ready.lua", { failures = "collect" })
    assert.is_false(env.main.ok)
    assert.has_match('pods "web" not found', env.failures[1].error, 1, true)
  end)
end)
