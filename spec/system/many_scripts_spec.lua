-- Many scripts on one kind: each is told of each change, and what a change costs the engine grows little with them. All
-- of it, and the figures, with a hundred: ./dev prove scripts
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local SCRIPTS = tonumber(os.getenv "KUBELUA_MANY_SCRIPTS" or 12)
local strict = os.getenv "KUBELUA_MANY_SCRIPTS" ~= nil
local PODS, UPDATES, SECONDS = strict and "10000" or "500", strict and 2000 or 400, strict and 10 or 1
local TRIES = strict and 3 or 1

local EVENT_US, SOON_SHARE = 100, 0.99 -- of the engine thread for an update with all its handlers; within 5 ms

local SCRIPT = scripts_folder.HEAD .. [[
  local count = 0
  k8s.informer("pods"):add_event_handler { id = "counts", OnUpdate = function() count = count + 1 end }
  k8s.command("count-%d", function() return count end)
]]

describe("scripts on one kind", function()
  local place, sim, engine, metrics

  setup(function()
    place = scripts_folder.new()
    for i = 1, SCRIPTS do place:write(("script-%03d.lua"):format(i), SCRIPT:format(i)) end
    sim = cluster.sim { "--pods", PODS }
    engine = place:start(sim, nil, { "--metrics-bind-address", "127.0.0.1:0" })
    metrics = engine:err():match 'Serving metrics" address="([^"]+)"'
    engine:wait_until(function()
      return not engine.ask("status"):find("waiting", 1, true) or nil
    end, "all handlers have their initial objects")
  end)
  teardown(function()
    cluster.stop_all()
    place:remove()
  end)

  local function engine_thread_us()
    local file = assert(io.open(("/proc/%d/task/%d/schedstat"):format(engine.pid, engine.pid)))
    local ns = file:read "*n"
    file:close()
    return ns / 1e3
  end

  -- Changes that the server has made, and of all handlers the updates so far, and those within 5 ms of their arrival.
  local function progress()
    local page = temp.run("curl -s http://" .. metrics .. "/metrics")
    local function sum(suffix, labels)
      local total = 0
      local pattern = 'kubelua_event_latency_seconds_' .. suffix .. '{script="[^"]*",handler="counts"' .. labels
      for value in page:gmatch(pattern .. "} (%d+)") do total = total + tonumber(value) end
      return total
    end
    local list = temp.run("curl -s '" .. sim.server .. "/api/v1/pods?limit=1'")
    return {
      cpu = engine_thread_us(),
      all_cpu = engine:cpu() * 1e6,
      handled = sum("count", ""),
      soon = sum("bucket", ',le="0.005"'),
      made = tonumber(cjson.decode(list).metadata.resourceVersion),
    }
  end

  -- Until so many changes were made, and each handler was told of each.
  local function settle(first, changes)
    local deadline = proc.now() + proc.patience()
    local now
    repeat
      temp.run "sleep 0.1"
      now = progress()
      local made = now.made - first.made
    until made >= changes and now.handled >= SCRIPTS * made or proc.now() > deadline
    return now
  end

  it("are each told of each change, of which a hundred cost little", function()
    local first, good = progress(), 0
    for i = 1, TRIES do
      local from = progress()
      sim:play { ["do"] = "touch", resource = "pods", pick = UPDATES / 200, every = "5ms", count = SECONDS * 200 }
      local to = settle(first, i * SECONDS * UPDATES)
      local events = to.made - from.made
      local us, share = (to.cpu - from.cpu) / events, (to.soon - from.soon) / (to.handled - from.handled)
      if strict then
        print(("%d scripts, %d updates at %d a second: %.1f us of the engine thread for each (%.2f us a handler), "
          .. "%.1f us of all threads; %.2f %% of the calls within 5 ms"):format(SCRIPTS, events, UPDATES, us,
          us / SCRIPTS, (to.all_cpu - from.all_cpu) / events, 100 * share))
      end
      if us < EVENT_US and share > SOON_SHARE then good = good + 1 end
      assert.are.equal(SECONDS * UPDATES, events)
      assert.are.equal(SCRIPTS * (to.made - first.made), to.handled)
    end
    assert.is_true(not strict or good > TRIES / 2)
    assert.are.equal(tostring(TRIES * SECONDS * UPDATES) .. "\n", (engine.ask("call", "count-" .. SCRIPTS)))
  end)
end)
