-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/label_propagation.lua", function()
  local function namespace(labels) return { kind = "Namespace", metadata = { name = "shop", labels = labels } } end

  local function service(labels)
    return { kind = "Service", metadata = { namespace = "shop", name = "web", labels = labels },
      spec = { ports = { { port = 80 } } } }
  end

  it("gives objects the labels of their namespace, and follows them", function()
    local env = test.load("label_propagation.lua", { params = { labels = "team,stage" } })
    env:add(namespace { team = "a", stage = "test", other = "x" })
    env:add(service { team = "wrong", own = "kept" })
    env:settle()
    assert.same({ team = "a", stage = "test", own = "kept" }, env:get("services", "shop/web").metadata.labels)
    env:update(namespace { team = "b" })
    env:settle()
    assert.same({ team = "b", own = "kept" }, env:get("services", "shop/web").metadata.labels)
    env:reset()
    env:update(service { team = "b", own = "changed" })
    env:settle()
    assert.not_wrote(env)
  end)
end)
