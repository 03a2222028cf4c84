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

  it("sees what init containers and projected volumes use", function()
    open "true"
    local names = { "early", "projected" }
    for _, name in ipairs(names) do
      env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = name }, data = { a = "1" } }
    end
    local with_both = deployment "true"
    with_both.spec.template.spec.initContainers =
      { { name = "i", image = "i", envFrom = { { configMapRef = { name = "early" } } } } }
    with_both.spec.template.spec.volumes =
      { { name = "p", projected = { sources = { { configMap = { name = names[2] } } } } } }
    env:update(with_both)
    env:settle()
    for _, name in ipairs(names) do
      local before = hash()
      env:patch("configmaps", "shop/" .. name, { data = { a = "2" } })
      env:settle()
      assert.not_equal(before, hash())
    end
  end)

  it("leaves other workloads alone", function()
    open "false"
    env:update(config("ConfigMap", "2"))
    env:settle()
    assert.is_nil(hash())
    assert.not_wrote(env)
  end)
end)
