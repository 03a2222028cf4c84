-- k8s.on_stop of scripts of an engine: at SIGTERM, when the file is deleted and at a reload.
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local SCRIPT = scripts_folder.HEAD .. [[
  k8s.writes { "configmaps:apply" }
  k8s.informer "nodes"
  k8s.on_stop(function(reason)
    print("stop", reason)
    if reason == "reload" then return end
    k8s.sleep "50ms"
    local last = { kind = "configmaps", namespace = "default", name = "last" }
    print(reason, k8s.apply(last, { data = { why = reason } }) ~= nil)
  end)
  print "loaded"
]]

describe("k8s.on_stop #threads", function()
  local place, sim
  before_each(function()
    place, sim = scripts_folder.new(), cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function why() return sim.api:get("/api/v1/namespaces/default/configmaps/last").data.why end

  it("has time to write at SIGTERM", function()
    place:write("it.lua", SCRIPT)
    local engine = place:start(sim)
    engine:kill "TERM"
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.has_match("loaded\nstop\tshutdown\nshutdown\ttrue\n$", engine:out())
    assert.are.equal("shutdown", why())
  end)

  it("has time to write when the file is deleted, and none at a reload", function()
    place:write("it.lua", SCRIPT)
    local engine = place:start(sim)
    place:write("it.lua", SCRIPT .. "print 'edited'")
    engine:wait_line "^edited$"
    engine:wait_line "^stop\treload$"
    assert(os.remove(place.path .. "/scripts/it.lua"))
    engine:wait_line "^removed\ttrue$"
    assert.are.equal("removed", why())
    engine:kill "TERM"
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.is_nil(engine:out():match "shutdown")
  end)
end)

-- ThreadSanitizer keeps the signal back that ends a loop.
describe("k8s.on_stop that does not end", function()
  it("does not keep the engine from ending", function()
    local place = scripts_folder.new()
    finally(function()
      cluster.stop_all()
      place:remove()
    end)
    place:write("it.lua", scripts_folder.HEAD .. [[
      k8s.informer "nodes"
      k8s.on_stop(function() k8s.sleep "1h" end)
      k8s.on_stop(function() while true do end end)
    ]])
    local engine = place:start(cluster.sim(), nil, { "--shutdown-timeout", "1s" })
    engine:kill "TERM"
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.has_match("Cancelled k8s.on_stop function that did not finish in time", engine:err(), 1, true)
    assert.has_match("over the limit handler-cpu (50ms) in the function of k8s.on_stop", engine:err(), 1, true)
  end)
end)
