-- kubelua test scripts
local test = require "k8s.test"

describe("service_backends.lua", function()
  local function pod(name, phase)
    return { kind = "Pod", metadata = { name = name, labels = { app = "web" } }, status = { phase = phase } }
  end

  it("counts running pods of each service, whenever that changes", function()
    local env = test.load("service_backends.lua", {
      objects = { { kind = "Service", metadata = { name = "web" }, spec = { selector = { app = "web" } } } },
    })
    env:add(pod("a", "Pending"))
    assert.same({ "default/web: 0 running" }, env.prints)
    env:update(pod("a", "Running"))
    assert.printed(env, "default/web: 1 running")
    env:delete("pods", "default/a")
    env:delete("services", "default/web")
    assert.printed(env, "default/web: gone")
  end)
end)
