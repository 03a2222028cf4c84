-- A server that is gone for a while: one line of the log and of the status says so, and its first response wakes all.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local SCRIPT = [[
local k8s = require "k8s"
for _, kind in ipairs { "pods", "nodes", "services", "configmaps", "secrets", "namespaces", "events", "deployments" } do
  k8s.informer(kind)
end
local maps = k8s.informer("configmaps")
maps:on_add(function(map) print("told of", map:name()) end)
]]

local function count(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

local function status(socket)
  local p = cluster.kubelua { "status", "--admin-socket", socket }
  p:wait()
  return p:out()
end

describe("a server that is unreachable #threads", function()
  after_each(cluster.stop_all)

  -- R-2
  it("is one warning, one line of the status and one line when it is back, and all informers go on at once", function()
    local sim = cluster.sim()
    local port = sim.server:match ":(%d+)$"
    local socket = temp.name() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script(SCRIPT), { "--admin-socket", socket })
    for _ = 1, 8 do engine:wait_error '"Synced"' end
    sim:kill "KILL"
    sim:wait()
    engine:wait_error '"Server unreachable, retrying" server="http://127%.0%.0%.1:%d+" err="[^"]+"'
    await(function() return status(socket):find "\nserver: unreachable for " end, "the head of the status")
    local shown = status(socket)
    assert.are.equal(1, count(shown, "Connection refused"), shown) -- the reason stands in the head alone
    local again = cluster.sim({}, tonumber(port))
    engine:wait_error '"Server reachable again" server="[^"]+" afterMs=%d+'
    again.api:create("/api/v1/namespaces/default/configmaps", {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "later", namespace = "default" },
    })
    engine:wait_line("^told of\tlater$", 10)
    await(function() return not status(socket):find " error " end, "all informers", 10)
    assert.is_nil(status(socket):find "unreachable")
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(1, count(engine:err(), '"Server unreachable, retrying"'))
    assert.are.equal(1, count(engine:err(), '"Server reachable again"'))
    assert.are.equal(0, count(engine:err(), '"List or watch failed, retrying"'), engine:err())
    assert.are.equal(0, count(engine:err(), '"Recovered"'), engine:err())
  end)
end)
