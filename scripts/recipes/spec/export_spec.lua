-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/export.lua", function()
  local function deployment(replicas)
    return { apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "shop", name = "web" },
      spec = { replicas = replicas } }
  end

  it("publishes each change of an object, with its uid as the key and its version in the id", function()
    local env = test.load("export.lua", { objects = { deployment(1) } })
    env:update(deployment(2))
    env:delete("deployments", "shop/web")
    local list, types = env:published "export", {}
    for i, one in ipairs(list) do types[i] = one.event.type end
    assert.same({ "io.k8s.deployments.added", "io.k8s.deployments.changed", "io.k8s.deployments.deleted" }, types)
    assert.equal("shop/web", list[1].event.subject)
    assert.equal(2, list[2].event.data.spec.replicas)
    assert.is_nil(list[3].event.data.spec)
    assert.equal(list[1].key, list[3].key)
    -- An object that was changed is added after a restart: with the same id.
    for i, ending in ipairs { "", "", "/deleted" } do
      assert.equal(list[i].key .. "/" .. list[i].event.data.metadata.resourceVersion .. ending, list[i].id)
    end
  end)

  it("tries again while nothing can be stored", function()
    local env = test.load "export.lua"
    env:fail_publishing "the disk is full"
    env:add(deployment(1))
    env:advance "65s"
    assert.same({}, env:published())
    assert.equal(2, env:metric "export_waits_total")
    env:fail_publishing()
    assert.equal(1, #env:published())
  end)
end)
