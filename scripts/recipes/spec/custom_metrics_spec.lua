-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/custom_metrics.lua", function()
  local function certificate(name, issuer, ready)
    return { apiVersion = "cert-manager.io/v1", kind = "Certificate", metadata = { namespace = "shop", name = name },
      spec = { issuer = issuer }, status = { conditions = { { type = "Ready", status = ready } } } }
  end

  it("counts objects by a field, and shows a condition", function()
    local KIND = "certificates.cert-manager.io"
    local env = test.new { params = { kind = KIND, field = "spec.issuer", condition = "Ready" } }
    env:kind { group = "cert-manager.io", version = "v1", kind = "Certificate", plural = "certificates",
      namespaced = true }
    env:load "custom_metrics.lua"
    env:add(certificate("a", "le", "True"))
    env:add(certificate("b", "le", "False"))
    local function count(issuer) return env:metric("custom_resources", { kind = KIND, value = issuer }) end
    local function holds(name)
      return env:metric("custom_resource_condition", { namespace = "shop", name = name, condition = "Ready" })
    end
    assert.same({ 2, 1, 0 }, { count "le", holds "a", holds "b" })
    env:update(certificate("b", "own", "True"))
    assert.same({ 1, 1, 1 }, { count "le", count "own", holds "b" })
    env:delete("certificates.cert-manager.io", "shop/b")
    assert.is_nil(count "own")
    assert.is_nil(holds "b")
  end)
end)
