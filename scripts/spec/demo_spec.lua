-- kubelua test scripts
local test = require "k8s.test"

describe("demo/demo.lua", function()
  local function pod(image)
    return {
      kind = "Pod", metadata = { namespace = "shop", name = "web" },
      spec = { nodeName = "n1", containers = { { name = "c", image = image } } }, status = { phase = "Running" },
    }
  end

  it("reports each change, of an image's name the end with its tag", function()
    local env = test.load("demo/demo.lua", { objects = { pod "registry.example.com/platform/svc-0012:v1.2.3" } })
    env:update(pod "registry.example.com/platform/svc-0012:v2.0.10")
    assert.printed(env, "Synced 1 pods in 1 namespaces on 1 nodes in 0.00 s. Now the changes:")
    assert.printed(env, "^~ updated +web +image svc%-0012:v1%.2%.3 %-> svc%-0012:v2%.0%.10$", true)
  end)

  it("fits 80 columns", function()
    local at, name = "2026-11-27T07:03:38Z", "svc-0133-3dceb5d93d-ww77g"
    local function restarted(n)
      local status = { { restartCount = n, state = { running = { startedAt = at } } } }
      status[2] = status[1]
      return { kind = "Pod", metadata = { namespace = "team-133", name = name }, spec = { nodeName = "n1.example.com" },
        status = { phase = "Running", containerStatuses = status } }
    end
    local env = test.load("demo/demo.lua", { objects = { restarted(7) } })
    env:update(restarted(8))
    assert.printed(env, "~ updated  svc-0133-3dceb5d93d-ww77g  restarts 7 -> 8 and 7 -> 8")
    env:delete(restarted(8))
    assert.printed(env, "- deleted  svc-0133-3dceb5d93d-ww77g  was Running, 16 restarts")
    env:add(restarted(0))
    assert.printed(env, "+ added    svc-0133-3dceb5d93d-ww77g  Running on n1")
    for _, line in ipairs(env.prints) do assert.is_true(#line <= 80, line) end
  end)

  it("sums up when the changes are over", function()
    local env = test.load("demo/demo.lua", { objects = { pod "a:1" } })
    env:add { kind = "ConfigMap", metadata = { namespace = "default", name = "demo-finished" } }
    assert.printed(env, "  cache now    1 pods: 1 Running")
  end)
end)
