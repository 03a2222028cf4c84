-- kubelua test scripts
local test = require "k8s.test"

describe("orphan_services.lua", function()
  it("names services without pods", function()
    local function service(name, app)
      return { kind = "Service", metadata = { name = name }, spec = { selector = app and { app = app } } }
    end
    local env = test.load("orphan_services.lua", {
      objects = {
        service("full", "web"), service("empty", "api"), service "headless",
        { kind = "Pod", metadata = { name = "web-1", labels = { app = "web" } } },
        { kind = "Pod", metadata = { namespace = "other", name = "api-1", labels = { app = "api" } } },
      },
    })
    assert.same({ "no pods for default/empty" }, env.prints)
  end)
end)
