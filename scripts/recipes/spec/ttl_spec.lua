-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/ttl.lua", function()
  local NOW = "2026-01-01T00:00:00Z"

  it("deletes a namespace when its time has come", function()
    local env = test.load("ttl.lua", { now = NOW })
    env:add { kind = "Namespace",
      metadata = { name = "try", annotations = { ["recipes/ttl"] = "36h" }, creationTimestamp = NOW } }
    env:add { kind = "Namespace", metadata = { name = "kept", creationTimestamp = NOW } }
    env:add { kind = "Namespace", metadata = { name = "odd", annotations = { ["recipes/ttl"] = "soon" } } }
    assert.logged(env, "Not a duration")
    env:advance "35h"
    assert.is_truthy(env:get("namespaces", "try"))
    env:advance "61m"
    assert.is_nil(env:get("namespaces", "try"))
    assert.printed(env, "namespace try has expired")
    assert.is_truthy(env:get("namespaces", "kept"))
  end)

  it("deletes jobs that ended long ago", function()
    local env = test.load("ttl.lua", { now = NOW, params = { job_ttl = "2h" } })
    local function job(name, spec, status)
      return { kind = "Job", apiVersion = "batch/v1", metadata = { namespace = "shop", name = name }, spec = spec,
        status = status and { conditions = { { type = "Complete", status = "True", lastTransitionTime = NOW } } } }
    end
    env:add(job("done", {}, true))
    env:add(job("own", { ttlSecondsAfterFinished = 10000 }, true))
    env:add(job("runs", {}))
    env:advance "3h"
    assert.is_nil(env:get("jobs", "shop/done"))
    assert.is_truthy(env:get("jobs", "shop/own"))
    assert.is_truthy(env:get("jobs", "shop/runs"))
  end)
end)
