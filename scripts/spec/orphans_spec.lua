-- kubelua test scripts
local test = require "k8s.test"

describe("orphans.lua", function()
  it("counts owners, and names those without", function()
    local function pod(name, owner)
      local owners = owner and { { apiVersion = "v1", kind = owner, name = "o", uid = "u" } }
      return { kind = "Pod", metadata = { name = name, ownerReferences = owners } }
    end
    local env = test.load("orphans.lua", { objects = { pod("a", "ReplicaSet"), pod("b", "ReplicaSet"), pod "c" } })
    assert.printed(env, "nobody owns default/c")
    assert.printed(env, "^ReplicaSet +owns 2 pods$", true)
  end)
end)
