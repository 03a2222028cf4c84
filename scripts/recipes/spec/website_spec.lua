-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/website.lua", function()
  local env

  local function site(spec)
    return { apiVersion = "example.com/v1", kind = "Website", spec = spec,
      metadata = { namespace = "shop", name = "web" } }
  end

  local function get(kind) return env:get(kind, "shop/web") end

  before_each(function()
    env = test.new()
    env:apply_file "website.yaml"
    env:load "website.lua"
  end)

  it("makes a deployment and a service, follows the spec, and says what is ready", function()
    env:add(site { image = "nginx:1", replicas = 2 })
    env:settle()
    local deployment = get "deployments"
    assert.equal(2, deployment.spec.replicas)
    assert.equal("nginx:1", deployment.spec.template.spec.containers[1].image)
    assert.equal("Website", deployment.metadata.ownerReferences[1].kind)
    assert.same({ website = "web" }, get("services").spec.selector)
    assert.equal("False", get("websites.example.com").status.conditions[1].status)
    env:patch("deployments", "shop/web", { status = { readyReplicas = 2, observedGeneration = 9 } })
    env:settle()
    local ready = get("websites.example.com").status.conditions[1]
    assert.same({ "True", "2 of 2 replicas are ready" }, { ready.status, ready.message })
    env:patch("websites.example.com", "shop/web", { spec = { image = "nginx:2" } })
    env:settle()
    assert.equal("nginx:2", get("deployments").spec.template.spec.containers[1].image)
    env:reset()
    env:advance "1h"
    assert.not_wrote(env)
  end)

  it("lets a website go when it has said goodbye, and works only while it leads", function()
    env:lead(false)
    env:add(site { image = "nginx:1" })
    env:settle()
    assert.is_nil(get "deployments")
    env:lead(true)
    env:advance "10s"
    assert.is_truthy(get "deployments")
    env:delete("websites.example.com", "shop/web")
    env:settle()
    assert.is_nil(get "websites.example.com")
    assert.sent_event(env, { reason = "Goodbye" })
  end)
end)
