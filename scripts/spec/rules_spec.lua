-- Rules that ship, in a cluster of a test: what their fixes make of objects. All else is in scripts/rules/examples.
local test = require "k8s.test"

local function pod_spec()
  return {
    initContainers = { { name = "setup", image = "setup:2.1" } },
    containers = {
      { name = "web", image = "nginx:1.27.3", env = { { name = "MODE", value = "fast" } } },
      { name = "proxy", image = "envoy:1.32", securityContext = { runAsUser = 1000 } },
    },
  }
end

local function deployment(spec)
  return {
    apiVersion = "apps/v1",
    kind = "Deployment",
    metadata = { namespace = "shop", name = "web" },
    spec = { selector = { matchLabels = { app = "web" } }, template = { spec = spec or pod_spec() } },
  }
end

local function cron_job()
  local template = { spec = pod_spec() }
  return {
    apiVersion = "batch/v1",
    kind = "CronJob",
    metadata = { namespace = "shop", name = "web" },
    spec = { schedule = "0 3 * * *", jobTemplate = { spec = { template = template } } },
  }
end

local function findings(env, rule)
  local list = {}
  for _, row in ipairs(env:audit { rule = rule }) do
    if row.result == "fail" then
      list[#list + 1] = row
    end
  end
  return list
end

-- The first finding of an object has the fix for all of it.
local function fix(env, rule)
  for _, row in ipairs(findings(env, rule)) do
    if row.fix then
      env:patch(row.kind, row.namespace .. "/" .. row.name, row.fix)
    end
  end
end

describe("rules/security.lua", function()
  for _, object in ipairs { deployment(), cron_job() } do
    it("forbids what containers may gain, and leaves the rest as it is: " .. object.kind, function()
      local env = test.load("rules/security.lua", { objects = { object } })
      assert.equal(3, #findings(env, "privilege-escalation"))
      fix(env, "privilege-escalation")
      assert.same({}, findings(env, "privilege-escalation"))
      local spec = env:get(object.kind, "shop/web").spec
      spec = (spec.jobTemplate and spec.jobTemplate.spec or spec).template.spec
      for _, container in ipairs(spec.containers) do
        assert.is_false(container.securityContext.allowPrivilegeEscalation)
      end
      assert.equal("fast", spec.containers[1].env[1].value)
      assert.equal(1000, spec.containers[2].securityContext.runAsUser)
      assert.is_false(spec.initContainers[1].securityContext.allowPrivilegeEscalation)
    end)
  end

  it("has no patch for what the server would refuse", function()
    local privileged = { containers = { { name = "web", image = "a:1", securityContext = { privileged = true } } } }
    local env = test.load("rules/security.lua", { objects = {
      deployment(privileged),
      { apiVersion = "v1", kind = "Pod", metadata = { namespace = "shop", name = "web" }, spec = pod_spec() },
    } })
    local rows = findings(env, "privilege-escalation")
    assert.equal(4, #rows)
    for _, row in ipairs(rows) do
      assert.is_nil(row.fix)
    end
  end)
end)

describe("rules/credentials.lua", function()
  it("takes the token from pods that have no account of their own", function()
    local env = test.load("rules/credentials.lua", { objects = { deployment(), cron_job() } })
    assert.equal(2, #findings(env, "service-account-token"))
    fix(env, "service-account-token")
    assert.same({}, findings(env, "service-account-token"))
    assert.is_false(env:get("deployments.apps", "shop/web").spec.template.spec.automountServiceAccountToken)
  end)
end)

describe("rules/runtime.lua", function()
  local function pod(count)
    local status = { containerStatuses = { { name = "web", restartCount = count, state = { running = { a = "b" } } } } }
    return { apiVersion = "v1", kind = "Pod", metadata = { namespace = "shop", name = "web" }, status = status }
  end

  it("takes the number of restarts of a parameter", function()
    assert.equal(1, #findings(test.load("rules/runtime.lua", { objects = { pod(8) } }), "restarts"))
    local env = test.load("rules/runtime.lua", { objects = { pod(8) }, params = { restarts = 8 } })
    assert.same({}, findings(env, "restarts"))
  end)

  it("goes by the clock for pods that ended", function()
    local ended = pod(0)
    ended.metadata.creationTimestamp, ended.status.phase = "2026-01-01T00:00:00Z", "Failed"
    local env = test.load("rules/runtime.lua", { objects = { ended }, now = "2026-01-01T12:00:00Z" })
    assert.same({}, findings(env, "finished-pods"))
    env:advance "13h"
    assert.equal(1, #findings(env, "finished-pods"))
  end)
end)
