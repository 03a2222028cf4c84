-- k8s.event on a simulated server (spec/real/events_spec.lua: the same on a real one), and what becomes of events
-- that cannot be sent.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local events = require "spec.support.events"

describe("k8s.event on the simulated server #threads", function()
  local sim

  after_each(cluster.stop_all)

  events.specify(it, function()
    sim = cluster.sim()
    return { api = sim.api, args = { "--server", sim.server } }
  end)

  it("refuses what is no event", function()
    sim = cluster.sim()
    local engine = events.run({ args = { "--server", sim.server } }, [[
      local map = { kind = "ConfigMap", namespace = "default", name = "a" }
      local function try(...)
        local _, why = pcall(k8s.event, ...)
        print((tostring(why):gsub("^.-:%d+: ", "")))
      end
      try(nil, "Normal", "Seen", "hello")
      try({ kind = "ConfigMap" }, "Normal", "Seen", "hello")
      try({ kind = "ConfigMap", nmae = "a" }, "Normal", "Seen", "hello")
      try(map, "normal", "Seen", "hello")
      try(map, "Normal", "", "hello")
      try(map, "Normal", "Seen")
      try(map, "Normal", "Seen", "%d", "x")
      try(map, "Normal", "a\0b", "hello")
      try(k8s.get("ns", "default").metadata, "Normal", "Seen", "hello")
      for _, field in ipairs { "apiVersion", "kind", "namespace", "name", "uid", "resourceVersion" } do
        local about = { kind = "ConfigMap", namespace = "default", name = "a" }
        about[field] = ("x"):rep(1025)
        try(about, "Normal", "Seen", "hello")
      end
      try({ kind = "ConfigMap", namespace = "default", name = ("x"):rep(1024) }, "Normal", "Seen", "hello")
    ]])
    assert.are.equal([[
k8s.event: expected a view or { kind, namespace, name }, not nil
k8s.event: a reference needs kind and name
k8s.event: unknown option "nmae", did you mean "name"?
k8s.event: the type must be "Normal" or "Warning", not "normal"
k8s.event: the reason must be one word of at most 128 bytes, such as PodEvicted
k8s.event: the message must be a string, not nil
k8s.event: bad argument #2 to 'format' (number expected, got string)
k8s.event: the reason must not contain a NUL byte
k8s.event: expected a complete object, not a part of one
k8s.event: apiVersion has 1025 bytes, the maximum is 1024
k8s.event: kind has 1025 bytes, the maximum is 1024
k8s.event: namespace has 1025 bytes, the maximum is 1024
k8s.event: name has 1025 bytes, the maximum is 1024
k8s.event: uid has 1025 bytes, the maximum is 1024
k8s.event: resource version has 1025 bytes, the maximum is 1024
nil
]], engine:out())
    local bad = cluster.run(sim.server, cluster.script [[
      require("k8s").event({ kind = "Pod", name = "a" }, "Normal", "Seen", "hello")
    ]])
    assert.are.equal(2, bad:wait(20))
    assert.is_truthy(bad:err():find "k8s.event may not be called while the script is loading")
  end)

  it("keeps nothing with --dry-run", function()
    sim = cluster.sim()
    local world = { api = sim.api, args = { "--server", sim.server } }
    local body = [[ k8s.event({ kind = "Pod", namespace = "default", name = "a" }, "Normal", "Seen", "hello") ]]
    local engine = events.run(world, body, "--dry-run=client")
    assert.is_truthy(engine:err():find('%-%-dry%-run=client".*event="Seen".*message="hello"'), engine:report())
    assert.are.equal(0, #events.of(world, "a"))
    events.run(world, body)
    assert.are.equal(1, #events.of(world, "a"))
  end)

  -- EV-1: the handlers go on, whatever becomes of the events.
  it("never blocks a script, and counts what becomes of the events", function()
    sim = cluster.sim()
    sim:play {
      ["do"] = "fault", verb = "create", resource = "events", what = "status", code = 403, reason = "Forbidden",
      message = "events is forbidden", times = 0,
    }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        for i = 1, 2500 do k8s.event({ kind = "Pod", name = "p-" .. i }, "Normal", "Seen", "hello") end
        print "done"
      end)
    ]], { "--metrics-bind-address", "127.0.0.1:0" })
    engine:wait_line "done"
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    local count = {}
    await(function()
      local _, text = http:curl("GET", "/metrics")
      for result, n in text:gmatch 'kubelua_events_total{result="([^"]+)"} (%d+)' do count[result] = tonumber(n) end
      return count.failed and count.failed + count.dropped == 2500
    end, function() return engine:report() end)
    assert.is_true(count.failed >= 1000)
    assert.are.equal(0, count.created)
    engine:wait_error '"Failed to write event".*err="events is forbidden'
    assert.are.equal(0, cluster.terminate(engine))
    local _, said = engine:err():gsub("Failed to write event", "")
    assert.are.equal(1, said)
  end)
end)
