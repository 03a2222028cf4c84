-- kubelua test scripts
local test = require "k8s.test"

describe("missing_configmaps.lua", function()
  local function pod(name)
    return {
      kind = "Pod", metadata = { name = "web" },
      spec = { volumes = { { name = "v", configMap = { name = name } } }, containers = { { name = "c" } } },
    }
  end

  it("names what is missing, and checks again each minute", function()
    local env = test.load "missing_configmaps.lua"
    env:add(pod "settings")
    assert.same({ "default/web mounts configmap default/settings, which does not exist" }, env.prints)
    env:advance "1m"
    assert.equal(2, #env.prints)
    env:add { kind = "ConfigMap", metadata = { name = "settings" } }
    env:advance "10m"
    assert.equal(2, #env.prints)
  end)

  it("tries again when the server fails", function()
    local env = test.load "missing_configmaps.lua"
    env:fault { verb = "get", kind = "configmaps", code = 500, times = 2 }
    env:add(pod "settings")
    env:settle()
    assert.equal("worker", env.failures[1].call)
    env:advance "1s"
    assert.equal(1, #env.prints)
  end)
end)
