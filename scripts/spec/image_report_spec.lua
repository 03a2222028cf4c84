-- kubelua test scripts
local test = require "k8s.test"

describe("image_report.lua", function()
  it("marks images without a version", function()
    local function pod(name, image)
      return { kind = "Pod", metadata = { name = name }, spec = { containers = { { name = "c", image = image } } } }
    end
    local env = test.load("image_report.lua", {
      objects = { pod("a", "web"), pod("b", "web"), pod("c", "registry:5000/api:1.2"), pod("d", "api@sha256:1") },
    })
    assert.printed(env, "^ +2  no +web$", true)
    assert.printed(env, "^ +1  yes +registry:5000/api:1.2$", true)
    assert.printed(env, "^ +1  yes +api@sha256:1$", true)
  end)
end)
