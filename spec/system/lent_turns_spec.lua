-- Turns of the I/O thread that the engine thread runs while little happens (core/net/lending.h): what may not wait
-- for a handler, a fork and the end.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local proc = require "spec.support.proc"

local LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/kubelua"

-- A pod with the label compute keeps its handler busy for two seconds, once.
local SCRIPT = [[
local k8s = require "k8s"
local updates, has_computed = 0, false
k8s.informer("pods"):add_event_handler {
  OnUpdate = function(_, new)
    updates = updates + 1
    if (new.metadata.labels or {}).compute and not has_computed then
      has_computed = true
      print "computes"
      local limit = os.time() + 2
      while os.time() <= limit do local _ = {} end
      print "has computed"
    end
  end,
}
k8s.command("ticks", function() return updates end)
k8s.main(function() print "ready" end)
]]

local RULE = [[
local k8s = require "k8s"
k8s.rule { id = "all", title = "any pod", severity = "low", kinds = { "pods" },
  check = function(pod, r) if not pod.metadata.name then r:fail "no name" end end }
]]

describe("an engine whose I/O thread lends its turns", function()
  local at, engine, http

  before_each(function()
    at = engine_at_socket.new(SCRIPT, { "--pods", "20" })
    engine = at:start { "--metrics-bind-address", "127.0.0.1:0", "--handler-cpu", "10s", "--leader-elect",
      "--leader-elect-lease-duration", "15s", "--leader-elect-renew-deadline", "10s",
      "--leader-elect-retry-period", "200ms" }
    http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
  end)
  after_each(function() at:close() end)

  local function metric(name)
    local _, page = http:curl("GET", "/metrics")
    return tonumber(page:match("\n" .. name .. " (%d+)\n"))
  end

  local function is_lent()
    local before = metric "kubelua_io_turns_lent_total"
    await(function() return metric "kubelua_io_turns_lent_total" > before + 20 end,
      function() return "turns are lent" .. engine:report() end)
  end

  -- Some updates for a while, far fewer than would keep a thread busy.
  local function begin_updates()
    at.sim.api:request("POST", "/sim/scenario", { steps = {
      { ["do"] = "touch", resource = "pods", pick = 1, every = "10ms", count = 100000 },
    } })
    is_lent()
  end

  local function renewed() return at.sim.api:get(LEASE).spec.renewTime end

  it("renews a lease while a handler computes", function()
    begin_updates()
    local before = metric "kubelua_io_turns_taken_back_total"
    local pod = at.sim.api:get("/api/v1/pods").items[1].metadata
    at.sim.api:request("PATCH", "/api/v1/namespaces/" .. pod.namespace .. "/pods/" .. pod.name,
      { metadata = { labels = { compute = "yes" } } }, "application/merge-patch+json")
    engine:wait_line "^computes$"
    local times, seen = {}, 0
    await(function()
      engine:pump(proc.now())
      local time = renewed()
      if not times[time] and not engine:out():find "has computed" then seen, times[time] = seen + 1, true end
      return engine:out():find "has computed"
    end, "the handler ends")
    assert.is_true(seen >= 4, seen .. " renewals while the handler computed" .. engine:report())
    assert.is_true(metric "kubelua_io_turns_taken_back_total" > before)
    assert.is_nil(engine:err():find "lost", engine:err())
    is_lent()
  end)

  it("forks audits, and goes on to lend", function()
    local rule = at:write("rule.lua", RULE)
    begin_updates()
    for _ = 1, 20 do
      local p = at:begin_audit("-f", rule, "--timeout", "20s")
      assert.are.equal(0, p:wait(60), p:err())
    end
    at:goes_on()
    is_lent()
  end)

  it("gets signals", function()
    begin_updates()
    engine:kill "HUP"
    engine:wait_error '"Checking all scripts for changes"'
    is_lent()
    local begun = proc.now()
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_true(proc.now() - begun < 5)
    assert.are.equal("", at.sim.api:get(LEASE).spec.holderIdentity)
  end)
end)
