-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/replicate.lua", function()
  local env

  local function namespace(name)
    return { kind = "Namespace", metadata = { name = name }, status = { phase = "Active" } }
  end

  local function map(to, data)
    return { kind = "ConfigMap", data = data or { a = "1" },
      metadata = { namespace = "base", name = "ca", annotations = { ["recipes/replicate-to"] = to } } }
  end

  local function data_in(name)
    local copy = env:get("configmaps", name .. "/ca")
    return copy and copy.data.a
  end

  before_each(function()
    env = test.load("replicate.lua", { objects = { namespace "base", namespace "shop", namespace "crm" } })
  end)

  it("copies to the named namespaces, follows changes, and takes back", function()
    env:add(map "shop, none")
    env:settle()
    assert.equal("1", data_in "shop")
    assert.is_nil(data_in "crm")
    env:update(map("shop,crm", { a = "2" }))
    env:settle()
    assert.same({ "2", "2" }, { data_in "shop", data_in "crm" })
    env:update(map("shop,crm", { b = "3" })) -- a key goes
    env:settle()
    assert.same({ b = "3" }, env:get("configmaps", "crm/ca").data)
    env:update(map("crm", { a = "2" }))
    env:settle()
    assert.same({ nil, "2" }, { data_in "shop", data_in "crm" })
    env:delete("configmaps", "base/ca")
    env:settle()
    assert.is_nil(data_in "crm")
  end)

  it("copies to new namespaces, and mends copies", function()
    env:add(map "all")
    env:add(namespace "new")
    env:settle()
    assert.equal("1", data_in "new")
    env:patch("configmaps", "new/ca", { data = { a = "spoilt" } })
    env:settle()
    assert.equal("1", data_in "new")
  end)

  it("leaves objects alone that are no copies", function()
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "ca" }, data = { a = "mine" } }
    env:add(map "all")
    env:settle()
    assert.equal("mine", data_in "shop")
    assert.logged(env, "Not replicated: an object of this name is there")
  end)
end)
