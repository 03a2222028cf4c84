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
    assert.printed(env, "Synced 1 pods in 1 namespaces on 1 nodes in 0.00 s. Now every change as it comes:")
    assert.printed(env, "^~ updated +shop/web +image svc%-0012:v1%.2%.3 %-> svc%-0012:v2%.0%.10$", true)
  end)

  it("sums up when the changes are over", function()
    local env = test.load("demo/demo.lua", { objects = { pod "a:1" } })
    env:add { kind = "ConfigMap", metadata = { namespace = "default", name = "demo-finished" } }
    assert.printed(env, "  cache now    1 pods: 1 Running")
  end)
end)
