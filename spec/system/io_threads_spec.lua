-- Objects that threads of --io-threads pack (core/kube/api/packers.h). random_spec.lua has it among all else.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

-- Counts what the handler gets, and each object whose version goes back.
local SCRIPT = [[
local k8s = require "k8s"
local seen, adds, updates, wrong = {}, 0, 0, 0
local function take(obj)
  local version = tonumber(obj:resource_version())
  if (seen[obj:key()] or 0) >= version then wrong = wrong + 1 end
  seen[obj:key()] = version
end
local pods = k8s.informer "pods"
pods:add_event_handler {
  OnAdd = function(obj) adds = adds + 1 take(obj) end,
  OnUpdate = function(_, new) updates = updates + 1 take(new) end,
}
k8s.command("told", function() return string.format("%d %d %d", adds, updates, wrong) end)
k8s.main(function() print("synced " .. pods:lister():count()) end)
]]

-- The sum of all series of a metric.
local function metric(http, name)
  local code, text = http:curl("GET", "/metrics")
  local sum = 0
  assert.are.equal(200, code)
  for labels, value in text:gmatch("\n" .. name .. "(%S*) (%d+)") do
    if labels == "" or labels:find "^{" then sum = sum + value end
  end
  return sum
end

local function told(folder)
  local p = cluster.kubelua { "call", "--admin-socket", folder .. "/admin.sock", "told" }
  assert.are.equal(0, p:wait())
  return p:out():match "(%d+) (%d+) (%d+)"
end

describe("kubelua run --io-threads #threads", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("packs a list and a storm on its threads, in order", function()
    local sim = cluster.sim { "--pods", "300" }
    local engine = cluster.run(sim.server, cluster.script(SCRIPT), { "--io-threads", "3", "--metrics-bind-address",
      "127.0.0.1:0", "--admin-socket", folder .. "/admin.sock" })
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    engine:wait_line "^synced 300$"
    assert.is_true(metric(http, "kubelua_objects_dealt_total") >= 300)
    sim.api:request("POST", "/sim/scenario", { steps = {
      { ["do"] = "touch", resource = "pods", pick = 300, every = "20ms", count = 20 },
    } })
    -- A machine that is busy with other things merges updates, as handlers that are behind do: counted, and none else.
    local adds, updates, wrong
    await(function()
      adds, updates, wrong = told(folder)
      return updates + metric(http, "kubelua_handler_coalesced_total") >= 6000
    end, function() return (updates or "no") .. " updates" .. engine:report() end)
    assert.are.same({ "300", 6000, "0" }, { adds, updates + metric(http, "kubelua_handler_coalesced_total"), wrong })
    assert.is_true(metric(http, "kubelua_objects_dealt_total") >= 6300)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("refuses too many, and stored caches beside threads", function()
    local cases = {
      { { "--io-threads", "17" }, "--io-threads must be at most 16, not 17" },
      { { "--io-threads", "2", "--cache-dir", folder },
        "--cache-dir and --io-threads above 1 are mutually exclusive" },
    }
    for _, case in ipairs(cases) do
      local p = cluster.run("http://127.0.0.1:1", cluster.script "", case[1])
      assert.are.equal(2, p:wait())
      assert.are.equal("kubelua run: " .. case[2] .. "\n", p:err())
    end
  end)
end)
