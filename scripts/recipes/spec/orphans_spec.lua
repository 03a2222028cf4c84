-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/orphans.lua", function()
  local function map(name, metadata)
    local object = { kind = "ConfigMap", metadata = metadata or {}, data = {} }
    object.metadata.namespace, object.metadata.name = "shop", name
    return object
  end

  local function pod()
    return { kind = "Pod", metadata = { namespace = "shop", name = "web", labels = { app = "web" } }, spec = {
      volumes = { { name = "v", configMap = { name = "used" } } }, containers = { { name = "c", image = "i" } } } }
  end

  local function service(name, app)
    return { kind = "Service", metadata = { namespace = "shop", name = name },
      spec = { selector = { app = app }, ports = { { port = 80 } } } }
  end

  local function open(params)
    local env = test.load("orphans.lua", { params = params, objects = { pod(), map "used", map "unused",
      map("kept", { annotations = { ["recipes/keep"] = "yes" } }), service("web", "web"), service("old", "gone") } })
    env:advance "11m"
    return env
  end

  it("reports what nothing has used for a while", function()
    local env = open { after = "1h" }
    assert.same({}, env.prints)
    env:advance "1h"
    assert.printed(env, "orphan configmaps:shop/unused")
    assert.printed(env, "orphan services:shop/old")
    for _, line in ipairs(env.prints) do assert.is_nil(line:match "/used" or line:match "kept" or line:match "/web") end
    assert.not_wrote(env)
  end)

  it("deletes it when told to, and not what is used again in time", function()
    local env = open { after = "1h", delete = "true" }
    env:add(service("new", "gone"))
    env:patch("services", "shop/old", { spec = { selector = { app = "web" } } })
    env:advance "61m"
    assert.is_nil(env:get("configmaps", "shop/unused"))
    assert.is_truthy(env:get("configmaps", "shop/used"))
    assert.is_truthy(env:get("services", "shop/old"))
  end)
end)
