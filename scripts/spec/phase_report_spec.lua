-- kubelua test scripts
local test = require "k8s.test"

describe("phase_report.lua", function()
  it("prints when the counts have changed, and not before", function()
    local function pod(name, phase) return { kind = "Pod", metadata = { name = name }, status = { phase = phase } } end
    local env = test.load("phase_report.lua", { objects = { pod("a", "Running"), pod("b", "Running") } })
    env:advance "10s"
    assert.same({ "Running 2" }, env.prints)
    env:update(pod("b", "Failed"))
    env:advance "1s"
    assert.same({ "Running 2", "Failed 1, Running 1" }, env.prints)
  end)
end)
