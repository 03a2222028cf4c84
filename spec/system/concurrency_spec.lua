-- Handlers at rest, through the whole binary: calls of several objects that wait at once.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, data)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" },
    data = data or { a = "0" },
  }
end

describe("a handler with concurrency", function()
  after_each(cluster.stop_all)

  it("has calls of several objects wait at once, in order for each, and never two of one", function()
    local sim = cluster.sim()
    for i = 1, 4 do sim.api:create(configmaps, configmap("m" .. i)) end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      local under_way, most, seen = {}, 0, {}
      local function work(map)
        local name, calls = map:name(), 0
        assert(not under_way[name], "two at once: " .. name)
        under_way[name] = true
        for _ in pairs(under_way) do calls = calls + 1 end
        most = math.max(most, calls)
        k8s.sleep(tonumber(map.data.a) % 3 == 0 and "20ms" or "5ms")
        assert(tonumber(map.data.a) >= (seen[name] or 0), "out of order: " .. name)
        seen[name] = tonumber(map.data.a)
        under_way[name] = nil
        if map.data.a == "20" then print("last", name, most) end
      end
      maps:add_event_handler {
        concurrency = 3, OnAdd = work, OnUpdate = function(_, map) work(map) end,
      }
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    for round = 1, 20 do
      for i = 1, 4 do sim.api:patch(configmaps .. "/m" .. i, { data = { a = tostring(round) } }) end
    end
    local most = 0
    for _ = 1, 4 do most = math.max(most, tonumber(engine:wait_line "^last\tm%d\t(%d)$")) end
    assert.are.equal(3, most)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* errors=0', engine:err())
  end)

  it("shows how many of its calls wait", function()
    local sim = cluster.sim()
    for i = 1, 5 do sim.api:create(configmaps, configmap("m" .. i)) end
    local socket = os.tmpname() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("configmaps"):on_add(function() k8s.sleep "1h" end, { id = "slow", concurrency = 3 })
    ]], { "--admin-socket", socket })
    await(function()
      local status = cluster.kubelua { "status", "-o", "wide", "--admin-socket", socket }
      status:wait()
      return status:out():find("pending: slow 2 (busy 3 of 3)", 1, true)
    end, "three busy calls")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is named when its number is none, with the script's line", function()
    local sim = cluster.sim()
    for value, message in pairs {
      ["0"] = "on_add: concurrency must be a whole number from 1 to 1000, not 0",
      ["1001"] = "on_add: concurrency must be a whole number from 1 to 1000, not 1001",
      ["2.5"] = "on_add: concurrency must be a whole number from 1 to 1000, not 2.5",
      ["'2'"] = "on_add: concurrency must be a number, not string",
    } do
      local engine = cluster.run(sim.server, cluster.script([[
        local k8s = require "k8s"
        k8s.informer("pods"):on_add(print, { concurrency = ]] .. value .. " })"))
      assert.are.equal(2, engine:wait())
      assert.has_match(".lua:2: " .. message, engine:err(), 1, true)
    end
  end)
end)
