-- kubelua test scripts
local test = require "k8s.test"

describe("morning_report.lua", function()
  it("reports at the start, and on weekdays at 8:00 in Berlin", function()
    local env = test.load("morning_report.lua", {
      now = "2026-03-27T06:00:00Z", -- a Friday; summer time begins on Sunday
      objects = {
        { kind = "Pod", metadata = { name = "a" }, status = { phase = "Running" } },
        { kind = "Pod", metadata = { name = "b" }, status = { phase = "Failed" } },
      },
    })
    assert.same({ "Failed\tdefault/b", "1 of 2 pods are not running" }, env.prints)
    env:reset()
    env:advance "1h" -- 7:00 UTC is 8:00 in winter
    assert.printed(env, "1 of 2 pods are not running")
    env:reset()
    env:advance "70h" -- until Monday, 5:00 UTC
    assert.not_printed(env)
    env:advance "1h" -- 6:00 UTC is 8:00 in summer
    assert.printed(env, "1 of 2 pods are not running")
  end)
end)
