-- kubelua test scripts
local test = require "k8s.test"

describe("configmap_changes.lua", function()
  local env

  before_each(function()
    env = test.load("configmap_changes.lua", {
      objects = { { kind = "ConfigMap", metadata = { namespace = "shop", name = "prices" }, data = { tea = "3" } } },
    })
  end)

  it("reports no config maps that exist already", function() assert.same({}, env.prints) end)

  it("reports each key that changes, with both values", function()
    env:patch("configmaps", "shop/prices", { data = { tea = "4", milk = "1" } })
    assert.printed(env, "changed shop/prices")
    assert.printed(env, "  data.tea: 3 -> 4")
    assert.printed(env, "  data.milk: (absent) -> 1")
  end)

  it("reports one that was deleted while the watch was down", function()
    env:fault { watch = "expire" }
    env:delete("configmaps", "shop/prices")
    env:advance "1m"
    assert.same({ "deleted shop/prices (while nobody was looking)" }, env.prints)
  end)
end)
