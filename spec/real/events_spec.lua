-- k8s.event on a real API server, as kubectl shows it.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local events = require "spec.support.events"

describe("k8s.event on the real API server", function()
  local server, admin

  setup(function()
    server = apiserver.start()
    admin = server:api()
  end)

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  local function world() return { api = admin, args = { "--kubeconfig", server.kubeconfig } } end

  events.specify(it, world)

  it("is what kubectl describe shows", function()
    server:apply {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "described", namespace = "default" },
    }
    events.run(world(), [[
      local map = assert(k8s.get("configmaps", "default/described"))
      for _ = 1, 4 do k8s.event(map, "Warning", "Faded", "it was red") end
    ]])
    local text = server:kubectl "describe configmap described"
    assert.is_truthy(text:find("Warning%s+Faded%s+%S+ %(x4 over %S+%)%s+kubelua/%S+%s+it was red"), text)
  end)

  it("is checked and not kept with --dry-run=server", function()
    local body = [[ k8s.event({ kind = "Pod", namespace = "default", name = "tried" }, "Normal", "Seen", "hello") ]]
    local made = #server:requests { verb = "create", resource = "events", user = "admin" }
    local engine = events.run(world(), body, "--dry-run=server")
    assert.are.equal("", engine:err())
    assert.are.equal(0, #events.of(world(), "tried"))
    assert.are.equal(1, #server:requests { verb = "create", resource = "events", user = "admin" } - made)
  end)

  it("is refused where events are forbidden, and reports it", function()
    local engine = events.run(world(), [[
      k8s.event({ kind = "ConfigMap", namespace = "default", name = "a" }, "Normal", "Seen", "hello")
    ]], "--context", "nobody")
    local text = engine:err()
    assert.is_truthy(text:find("Failed to write event", 1, true), text)
    assert.is_truthy(text:find('User \\"nobody\\" cannot create resource \\"events\\"', 1, true), text)
  end)
end)
