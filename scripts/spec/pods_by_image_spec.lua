-- kubelua test scripts
local test = require "k8s.test"

describe("pods_by_image.lua", function()
  it("counts the pods of each repository, whatever the version", function()
    local function pod(name, image)
      return { kind = "Pod", metadata = { name = name }, spec = { containers = { { name = "c", image = image } } } }
    end
    local env = test.load("pods_by_image.lua", {
      objects = { pod("a", "registry:5000/web:1.2"), pod("b", "registry:5000/web@sha256:1"), pod("c", "api") },
    })
    assert.printed(env, "^ +2  registry:5000/web  %(default/a%)$", true)
    assert.printed(env, "^ +1  api  %(default/c%)$", true)
  end)
end)
