-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/drain.lua", function()
  local env

  local function node(annotations)
    return { kind = "Node", metadata = { name = "n1", annotations = annotations } }
  end

  local function pod(name, owner)
    local owners = owner and { { apiVersion = "apps/v1", kind = owner, name = "x", uid = "1", controller = true } }
    return { kind = "Pod",
      metadata = { namespace = "shop", name = name, labels = { app = "web" }, ownerReferences = owners },
      spec = { nodeName = "n1", terminationGracePeriodSeconds = 0, containers = { { name = "c", image = "i" } } },
      status = { phase = "Running", conditions = { { type = "Ready", status = "True" } } } }
  end

  before_each(function()
    env = test.load("drain.lua", { objects = { node {}, pod "a", pod "b", pod("d", "DaemonSet") } })
  end)

  it("cordons, evicts, and opens again", function()
    env:advance "1m"
    assert.not_wrote(env)
    env:update(node { ["recipes/drain"] = "true" })
    env:advance "1m"
    assert.is_true(env:get("nodes", "n1").spec.unschedulable)
    assert.is_nil(env:get("pods", "shop/a"))
    assert.is_truthy(env:get("pods", "shop/d"))
    assert.printed(env, "n1 is drained")
    assert.is_string(env:get("nodes", "n1").metadata.annotations["recipes/drained"])
    env:patch("nodes", "n1", { metadata = { annotations = { ["recipes/drain"] = "false" } } })
    env:advance "1m"
    assert.is_falsy(env:get("nodes", "n1").spec.unschedulable)
  end)

  it("waits for a budget", function()
    env:add { apiVersion = "policy/v1", kind = "PodDisruptionBudget", metadata = { namespace = "shop", name = "web" },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } },
      status = { disruptionsAllowed = 0, currentHealthy = 1, desiredHealthy = 1, expectedPods = 1,
        observedGeneration = 1 } }
    env:update(node { ["recipes/drain"] = "true" })
    env:advance "1m"
    assert.is_truthy(env:get("pods", "shop/a"))
    env:delete("poddisruptionbudgets", "shop/web")
    env:advance "1m"
    assert.is_nil(env:get("pods", "shop/a"))
    assert.printed(env, "n1 is drained")
  end)
end)
