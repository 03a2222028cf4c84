-- `kubelua top`: which scripts and handlers take a running engine's time.
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

-- Takes CPU in a handler, and in a filter; the second handler waits.
local BUSY = scripts_folder.HEAD .. [[
  local maps = k8s.informer "configmaps"
  local function work(seconds)
    local until_ = os.clock() + seconds
    while os.clock() < until_ do end
  end
  maps:add_event_handler { id = "works", OnUpdate = function() work(0.02) end }
  maps:add_event_handler { id = "waits", OnUpdate = function() k8s.sleep(0.3) end }
  maps:add_event_handler { id = "filters", filter = function() work(0.004) return true end, OnUpdate = function() end }
  maps:add_event_handler { id = "fails", OnUpdate = function() error "no" end }
  k8s.main(function() print "ready" end)
]]

local IDLE = scripts_folder.HEAD .. 'k8s.informer("configmaps"):on_add(function() end)'

describe("kubelua top", function()
  local place, engine, sim
  before_each(function()
    place = scripts_folder.new()
    place:write("busy.lua", BUSY)
    place:write("idle.lua", IDLE)
    sim = cluster.sim()
    for i = 1, 3 do
      sim.api:create("/api/v1/namespaces/default/configmaps",
        { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "map-" .. i } })
    end
    engine = place:start(sim)
    engine:wait_line "^ready$"
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  -- Cells of the row whose first cell ends so.
  local function cells(out, name)
    for line in out:gmatch "[^\n]+" do
      local list = {}
      for cell in line:gmatch "%S+" do list[#list + 1] = cell end
      if list[1] and list[1]:sub(-#name) == name then return list end
    end
    error(name .. " is not in\n" .. out)
  end

  local function number(cell) return assert(tonumber((cell:match "^[%d.]+")), cell) end

  it("shows what changed between two moments, by script and handler", function()
    sim:play { ["do"] = "touch", resource = "configmaps", pick = "all", every = "100ms" }
    local out, code = engine.ask("top", "--interval", "2s")
    assert.are.equal(0, code)
    assert.has_match("^kubelua %S+  up %S+  cpu %d+%.%d%%  memory %S+  http://[^\n]+\n\n"
      .. "SCRIPT +CPU +EVENTS/S +LATENCY +CALL +PENDING +ERRORS/S +MEMORY\n", out)
    assert.has_match("\n\nCACHE +OBJECTS +MEMORY +EVENTS/S\nconfigmaps +3 ", out)
    assert.is_true(out:find "/busy " < out:find "/idle ")
    assert.is_true(number(cells(out, "works")[2]) > 5, out)
    assert.is_true(number(cells(out, "filters")[2]) > 1, out)
    assert.is_true(number(cells(out, "waits")[2]) < number(cells(out, "works")[2]), out)
    -- It waits, and so its calls are long, and events pend.
    local call, unit = cells(out, "waits")[5]:match "^([%d.]+)(%a+)$"
    assert.is_true(tonumber(call) * ({ ms = 1, s = 1000 })[unit] >= 300, out)
    assert.is_true(number(cells(out, "waits")[6]) > 0, out)
    assert.is_true(number(cells(out, "fails")[7]) > 0, out)
    assert.are.equal("0.0%", cells(out, "idle")[2])
    assert.is_true(number(cells(out, "configmaps")[4]) > 5, out)
  end)

  it("sorts as it is told, and ends without an engine", function()
    local out = engine.ask("top", "--interval", "100ms", "--sort-by", "name", "--once")
    local names = {}
    for name in out:match("\nSCRIPT[^\n]*\n(.-)\n\n"):gmatch "([^\n]-) +%d+%.%d%%" do
      names[#names + 1] = name:match "%S+$"
    end
    for i, name in ipairs { "busy", "fails", "filters", "waits", "works", "idle" } do
      assert.has_match(name .. "$", names[i])
    end
    local _, code, err = engine.ask("top", "--interval", "1ms")
    assert.are.same({ 2, "kubelua top: --interval must be at least 100 ms\n" }, { code, err })
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(2, select(2, engine.ask "top"))
  end)
end)
