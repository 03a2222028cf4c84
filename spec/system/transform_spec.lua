-- A Lua function that makes of each object what is stored (Q-4, R-35).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local pods = "/api/v1/namespaces/default/pods"

local function pod(name, labels)
  return {
    apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", labels = labels },
    spec = { containers = { { name = "main", image = "registry.example.com/team/web:1" } } },
  }
end

local script = [[
  local k8s = require "k8s"
  local calls = 0
  local pods = k8s.informer("pods", {
    namespace = "default",
    transform = function(pod)
      calls = calls + 1
      local labels = pod.metadata.labels or {}
      if labels.hide then return nil end
      if labels.broken then error("a broken pod") end
      if labels.sleepy then k8s.sleep(1) end
      pod.images = {}
      for i, container in ipairs(pod.spec.containers) do pod.images[i] = container.image:match "[^/]+$" end
      pod.spec = nil
      return pod
    end,
  })
  local function show(what, pod)
    print(what .. " " .. pod:name() .. " " .. pod.images[1] .. " " .. tostring(pod.spec))
  end
  pods:add_event_handler {
    OnAdd = function(pod) show("add", pod) end,
    OnUpdate = function(_, pod) show("update", pod) end,
    OnDelete = function(pod) show("delete", pod) end,
  }
  k8s.main(function() print("synced " .. pods:lister():count() .. " calls " .. calls) end)
]]

describe("a transform #threads", function()
  local sim, engine

  before_each(function()
    sim = cluster.sim()
    sim.api:create(pods, pod "a")
    sim.api:create(pods, pod("hidden", { hide = "yes" }))
    sim.api:create(pods, pod("broken", { broken = "yes" }))
    sim.api:create(pods, pod("sleepy", { sleepy = "yes" }))
    engine = cluster.run(sim.server, cluster.script(script))
    engine:wait_line "^synced 1 calls 4$"
  end)

  after_each(cluster.stop_all)

  it("makes what handlers and listers see, and costs only the object that fails", function()
    assert.is_truthy(engine:out():find "^add a web:1 nil\n")
    engine:wait_error '"Transform failed".*informer="pods"'
    assert.are.equal(1, select(2, engine:err():gsub('"Transform failed"', "")))
    sim.api:patch(pods .. "/a", { metadata = { labels = { app = "web" } } })
    engine:wait_line "^update a web:1 nil$"
    sim.api:patch(pods .. "/hidden", { metadata = { labels = { hide = require("cjson").null } } })
    engine:wait_line "^add hidden web:1 nil$"
    sim.api:patch(pods .. "/hidden", { metadata = { labels = { hide = "yes" } } })
    engine:wait_line "^delete hidden web:1 nil$"
    sim.api:request("DELETE", pods .. "/a?gracePeriodSeconds=0")
    engine:wait_line "^delete a web:1 nil$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is not called again for what a relist brings unchanged", function()
    sim:play { ["do"] = "expire", resource = "pods" }
    local lists = sim.api:get("/sim/stats").lists
    sim.api:create(pods, pod "b")
    engine:wait_line "^add b web:1 nil$"
    assert.is_true(sim.api:get("/sim/stats").lists >= lists)
    assert.is_nil(engine:out():find "update a")
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

-- A first list that takes ten seconds, unless a config map comes in the middle of it.
local slow = [[
  local k8s = require "k8s"
  local calls, fast, told = 0, false, 0
  local pods = k8s.informer("pods", {
    transform = function(pod)
      local till = os.clock() + 0.002
      while not fast and os.clock() < till do end
      calls = calls + 1
      pod.spec = nil
      return pod
    end,
  })
  pods:on_add(function() told = told + 1 end)
  k8s.informer("configmaps", { namespace = "default" }):on_add(function(map)
    if map:name() ~= "go" then return end
    print("go " .. tostring(calls < 5000) .. " " .. pods:lister():count())
    fast = true
  end, { wait = false })
  local begun = false
  k8s.every("10ms", function()
    if not begun and calls > 0 and calls < 5000 then print "begun" end
    begun = calls > 0
  end)
  k8s.main(function() print("synced", calls, told, pods:lister():count()) end)
]]

describe("a slow transform of a long list #threads", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("delays neither timers nor other informers nor the admin socket (V7)", function()
    local socket = folder .. "/admin.sock"
    local sim = cluster.sim { "--pods", "5000" }
    local args = { "--admin-socket", socket, "--limit", "filter-cpu=5s" }
    local engine = cluster.run(sim.server, cluster.script(slow), args)
    engine:wait_line "^begun$"
    local status = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
    assert.are.equal(0, status:wait())
    for _, informer in ipairs(cjson.decode(status.streams.out.text).informers) do
      if informer.kind == "pods" then assert.are.same({ "listing", 0 }, { informer.state, informer.objects }) end
    end
    sim.api:create("/api/v1/namespaces/default/configmaps", {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "go", namespace = "default" },
    })
    engine:wait_line "^go true 0$"
    engine:wait_line "^synced\t5000\t5000\t5000$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
