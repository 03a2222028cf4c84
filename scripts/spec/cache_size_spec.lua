-- kubelua test scripts
local test = require "k8s.test"

describe("cache_size.lua", function()
  it("shows the objects of each cache, by namespace", function()
    local env = test.load("cache_size.lua", {
      objects = {
        { kind = "Pod", metadata = { name = "a" } },
        { kind = "Pod", metadata = { name = "b" } },
        { kind = "Pod", metadata = { namespace = "kube-system", name = "c" } },
        { kind = "Node", metadata = { name = "n" } },
      },
    })
    assert.printed(env, "^pods +synced +3 ", true)
    assert.printed(env, "^  default +synced +2 ", true)
    assert.printed(env, "^  kube%-system +synced +1 ", true)
    assert.printed(env, "^nodes +synced +1 ", true)
  end)
end)
