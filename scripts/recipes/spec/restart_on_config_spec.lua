-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/restart_on_config.lua", function()
  local env

  local function config(kind, value)
    return { kind = kind, metadata = { namespace = "shop", name = "app" }, data = { a = value } }
  end

  local function deployment(on)
    local variable = { name = "X", valueFrom = { secretKeyRef = { name = "app", key = "a" } } }
    return {
      kind = "Deployment",
      metadata = { namespace = "shop", name = "web", annotations = { ["recipes/restart-on-config"] = on } },
      spec = { selector = { matchLabels = { a = "b" } }, template = { metadata = { labels = { a = "b" } }, spec = {
        volumes = { { name = "v", configMap = { name = "app" } } },
        containers = { { name = "c", image = "i", env = { variable } } },
      } } },
    }
  end

  local function hash()
    local annotations = env:get("deployments", "shop/web").spec.template.metadata.annotations
    return annotations and annotations["recipes/config-hash"]
  end

  local function open(on)
    env = test.load("restart_on_config.lua",
      { objects = { config("ConfigMap", "1"), config("Secret", "MQ=="), deployment(on) } })
    env:settle()
  end

  it("restarts when a config map or a secret that the pods use changes", function()
    open "true"
    local first = hash()
    assert.equal(16, #first)
    env:update(config("ConfigMap", "2"))
    env:settle()
    local second = hash()
    assert.not_equal(first, second)
    assert.printed(env, "shop/web restarts: its configuration changed")
    env:update(config("Secret", "Mg=="))
    env:settle()
    assert.not_equal(second, hash())
    env:update(config("Secret", "MQ=="))
    env:update(config("ConfigMap", "1"))
    env:settle()
    assert.equal(first, hash())
  end)

  it("leaves other workloads alone", function()
    open "false"
    env:update(config("ConfigMap", "2"))
    env:settle()
    assert.is_nil(hash())
    assert.not_wrote(env)
  end)
end)
