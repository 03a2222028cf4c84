-- kubelua test scripts
local test = require "k8s.test"

describe("namespace_team.lua", function()
  local env

  before_each(function()
    env = test.load("namespace_team.lua", {
      objects = { { kind = "Namespace", metadata = { name = "shop", labels = { team = "web" } } } },
    })
  end)

  local function add(labels)
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "prices", labels = labels } }
  end

  it("sets the team of its namespace on a new config map", function()
    add()
    assert.wrote(env, { verb = "patch", kind = "configmaps", key = "shop/prices" })
    assert.equal("web", env:get("configmaps", "shop/prices").metadata.labels.team)
    assert.printed(env, "shop/prices is web's")
  end)

  it("restores the team after a change", function()
    add { team = "web" }
    assert.not_wrote(env)
    env:patch("configmaps", "shop/prices", { metadata = { labels = { team = "mine" } } })
    assert.wrote(env, { body = { metadata = { labels = { team = "web" } } } })
  end)
end)
