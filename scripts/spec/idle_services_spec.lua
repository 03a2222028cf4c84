-- kubelua test scripts
local test = require "k8s.test"

local function service(name, spec)
  return { kind = "Service", metadata = { namespace = "shop", name = name }, spec = spec }
end

local function pod(name, app, phase)
  return {
    kind = "Pod", metadata = { namespace = "shop", name = name, labels = { app = app } }, status = { phase = phase },
  }
end

describe("idle_services.lua", function()
  local objects = {
    service("web", { selector = { app = "web" } }),
    service("api", { selector = { app = "api" } }),
    service("elsewhere", { type = "ExternalName", externalName = "db.example.com" }),
    service("by-hand", {}),
    pod("web-1", "web", "Running"),
    pod("api-1", "api", "Pending"),
  }

  -- "api fail"
  local function said(env, options)
    local texts = {}
    for i, row in ipairs(env:audit(options)) do texts[i] = row.name .. " " .. row.result end
    table.sort(texts)
    return texts
  end

  it("fails services that no running pod is behind", function()
    local env = test.load("idle_services.lua", { objects = objects })
    assert.same({ "api fail", "by-hand skip", "elsewhere skip" }, said(env))
    assert.same({ "api fail", "by-hand skip", "elsewhere skip", "web pass" }, said(env, { passes = true }))
    local finding = env:audit()[1]
    assert.equal("0 pods run behind it", finding.message)
    assert.equal("spec.selector", finding.path)
    assert.same({ app = "api" }, finding.value)
    env:patch("pods", "shop/api-1", { status = { phase = "Running" } })
    assert.same({ "by-hand skip", "elsewhere skip" }, said(env))
  end)

  it("may request more", function()
    local env = test.load("idle_services.lua", { objects = objects, params = { least = 2 } })
    assert.same({ "api fail", "by-hand skip", "elsewhere skip", "web fail" }, said(env))
  end)
end)
