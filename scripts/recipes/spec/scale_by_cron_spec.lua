-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/scale_by_cron.lua", function()
  local function deployment(annotations)
    return { kind = "Deployment", metadata = { namespace = "shop", name = "web", annotations = annotations },
      spec = { replicas = 3, selector = { matchLabels = { a = "b" } },
        template = { metadata = { labels = { a = "b" } }, spec = { containers = { { name = "c", image = "i" } } } } } }
  end

  local function replicas(env) return env:get("deployments", "shop/web").spec.replicas end

  it("scales down in the evening and back in the morning", function()
    local env = test.load("scale_by_cron.lua", { now = "2026-01-05T19:00:00Z" }) -- a Monday
    env:add(deployment { ["recipes/down"] = "0 20 * * *", ["recipes/up"] = "0 7 * * *" })
    env:advance "30m"
    assert.equal(3, replicas(env))
    env:advance "31m"
    assert.equal(0, replicas(env))
    env:advance "10h"
    assert.equal(0, replicas(env))
    env:advance "2h"
    assert.equal(3, replicas(env))
    assert.is_nil((env:get("deployments", "shop/web").metadata.annotations or {})["recipes/replicas-before"])
  end)

  it("tries again what failed, and forgets no count", function()
    local env = test.load("scale_by_cron.lua", { now = "2026-01-05T19:00:00Z", failures = "collect" })
    env:add(deployment { ["recipes/down"] = "0 20 * * *", ["recipes/up"] = "0 7 * * *" })
    env:advance "6h" -- to the middle of the night
    assert.equal(0, replicas(env))
    for _, expected in ipairs { 3, 0, 3 } do
      env:fault { verb = "patch", kind = "deployments", code = 500, times = 3 }
      env:advance "12h"
      assert.equal(expected, replicas(env))
    end
  end)

  it("makes up for a time that it missed, and tells of what is no schedule", function()
    local env = test.load("scale_by_cron.lua", { now = "2026-01-05T23:00:00Z" })
    env:add(deployment {
      ["recipes/down"] = "0 20 * * *", ["recipes/up"] = "0 7 * * *", ["recipes/down-replicas"] = "1",
    })
    env:settle()
    assert.equal(1, replicas(env))
    env:update(deployment { ["recipes/down"] = "at night", ["recipes/up"] = "0 7 * * *" })
    env:settle()
    assert.logged(env, "Not a schedule")
  end)
end)
