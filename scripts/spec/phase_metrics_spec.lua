-- kubelua test scripts
local test = require "k8s.test"

describe("phase_metrics.lua", function()
  it("counts pods by phase, and how long they took", function()
    local function pod(phase) return { kind = "Pod", metadata = { name = "web" }, status = { phase = phase } } end
    local env = test.load "phase_metrics.lua"
    env:add(pod "Pending")
    assert.equal(1, env:metric("pods_in_phase", { namespace = "default", phase = "Pending" }))
    env:advance "4s"
    env:update(pod "Running")
    assert.equal(0, env:metric("pods_in_phase", { namespace = "default", phase = "Pending" }))
    assert.equal(1, env:metric("pods_in_phase", { namespace = "default", phase = "Running" }))
    assert.equal(1, env:metric "pod_start_seconds_count")
    assert.equal(4, env:metric "pod_start_seconds_sum")
    env:delete("pods", "default/web")
    assert.equal(0, env:metric("pods_in_phase", { namespace = "default", phase = "Running" }))
  end)
end)
