-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/pull_secrets.lua", function()
  local function account(namespace, name)
    return { kind = "ServiceAccount", metadata = { namespace = namespace, name = name } }
  end

  local function secret(data)
    return { kind = "Secret", type = "kubernetes.io/dockerconfigjson", data = { [".dockerconfigjson"] = data },
      metadata = { namespace = "registry", name = "pull" } }
  end

  it("gives accounts the secret, and follows its changes", function()
    local env = test.load("pull_secrets.lua", {
      params = { from = "registry" },
      objects = {
        account("registry", "default"), account("shop", "default"), account("shop", "other"), secret "eyJhdXRocyI6e319",
      },
    })
    env:settle()
    assert.equal("eyJhdXRocyI6e319", env:get("secrets", "shop/pull").data[".dockerconfigjson"])
    assert.same({ { name = "pull" } }, env:get("serviceaccounts", "shop/default").imagePullSecrets)
    assert.is_nil(env:get("serviceaccounts", "shop/other").imagePullSecrets)
    assert.is_nil(env:get("serviceaccounts", "registry/default").imagePullSecrets)
    env:update(secret "eyJhdXRocyI6eyJhIjp7fX19")
    env:settle()
    assert.equal("eyJhdXRocyI6eyJhIjp7fX19", env:get("secrets", "shop/pull").data[".dockerconfigjson"])
    env:add(account("crm", "default"))
    env:settle()
    assert.equal("eyJhdXRocyI6eyJhIjp7fX19", env:get("secrets", "crm/pull").data[".dockerconfigjson"])
  end)
end)
