-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/namespace_defaults.lua", function()
  local function namespace(labels)
    return { kind = "Namespace", metadata = { name = "shop", labels = labels } }
  end

  it("makes what a team needs, and makes it again", function()
    local env = test.load("namespace_defaults.lua", { params = { pods = 50 } })
    env:add(namespace { team = "web" })
    env:settle()
    assert.equal("50", env:get("resourcequotas", "shop/team").spec.hard.pods)
    assert.equal("team:web", env:get("rolebindings", "shop/team").subjects[1].name)
    local policy = env:get("networkpolicies", "shop/team-only")
    assert.same({ team = "web" }, policy.spec.ingress[1].from[1].namespaceSelector.matchLabels)
    env:delete("networkpolicies", "shop/team-only")
    env:settle()
    assert.is_truthy(env:get("networkpolicies", "shop/team-only"))
    env:reset()
    env:update(namespace { team = "web", other = "label" })
    env:settle()
    assert.not_wrote(env)
  end)

  it("leaves namespaces of nobody alone", function()
    local env = test.load "namespace_defaults.lua"
    env:add(namespace {})
    env:settle()
    assert.not_wrote(env)
  end)
end)
