-- kubelua test scripts
local test = require "k8s.test"

describe("pending_since.lua", function()
  it("reports how long a pod was pending", function()
    local function pod(phase) return { kind = "Pod", metadata = { name = "web" }, status = { phase = phase } } end
    local env = test.load "pending_since.lua"
    env:add(pod "Pending")
    env:advance "90s"
    env:update(pod "Running")
    assert.same({ "default/web was pending for 90 s, 1 pod so far" }, env.prints)
  end)
end)
