-- kubelua test scripts
local test = require "k8s.test"

describe("watch_pods.lua", function()
  it("reports existing, new, changed and deleted pods", function()
    local function pod(name, phase)
      return { kind = "Pod", metadata = { name = name }, spec = { nodeName = "n1" }, status = { phase = phase } }
    end
    local env = test.load("watch_pods.lua", { objects = { pod("a", "Running") } })
    env:add(pod("b", "Pending"))
    env:update(pod("b", "Running"))
    env:delete("pods", "default/a")
    assert.same({
      "found   default/a  Running on n1", "added   default/b  Pending on n1",
      "updated default/b  Pending -> Running", "deleted default/a  it was Running",
    }, env.prints)
  end)
end)
