-- State of a script that changes: a large one goes to the next generation in parts, so that it stops nobody, and what
-- a generation drops is there for the next (E-3).
local scripts_folder = require "spec.support.scripts_folder"

local script = scripts_folder.script
local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"
local ENTRIES = 200000

describe("the state of a script that changes #threads", function()
  local sim, place
  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
  end)

  -- How much CPU time the engine's thread used at most between two ticks of 10 ms, since it was asked last.
  local NEIGHBOUR = script("neighbour", [[
    local last, most = os.clock(), 0
    k8s.every("10ms", function()
      local now = os.clock()
      last, most = now, math.max(most, now - last)
    end)
    k8s.command("most", function()
      local answer = most
      most = 0
      return answer
    end)
  ]])

  -- Fills its state in parts, as each call has a limit of its own; counts the ticks of a timer in it.
  local LARGE = script("large", [[
    local kept = k8s.state("kept", { init = { entries = {}, count = 0, ticks = 0 } })
    k8s.every("10ms", function()
      kept.ticks = kept.ticks + 1
      local entries, from = kept.entries, kept.count
      local to = math.min(from + 2000, ENTRIES)
      for i = from + 1, to do entries["default/pod-" .. i] = i end
      kept.count = to
    end)
    k8s.command("count", function() return kept.count end)
    k8s.command("whole", function()
      local count = 0
      for key, i in pairs(kept.entries) do
        if key == "default/pod-" .. i then count = count + 1 end
      end
      return count
    end)
  ]]):gsub("ENTRIES", ENTRIES)

  it("goes on in parts that delay nobody", function()
    place:write("neighbour.lua", NEIGHBOUR)
    place:write("a.lua", LARGE)
    local engine = place:start(sim, nil, { "--handler-cpu=10s" })
    engine.await("a", function() return engine.ask("call", "count") == ENTRIES .. "\n" end)
    engine.ask("call", "most")
    place:write("a.lua", LARGE .. "-- another")
    local one = engine.await("a", function(s) return s.generation == 2 end)
    local most = tonumber((engine.ask("call", "most")))
    assert.are.equal(ENTRIES .. "\n", (engine.ask("call", "whole")))
    print(("\n    %d entries: pause %.1f ms, a neighbour %.1f ms late"):format(ENTRIES, one.pauseMicroseconds / 1000,
      most * 1000))
    if not sanitized then
      assert.is_true(most < 0.1, most)
    end
  end)

  it("is there for the generation after the one that dropped it", function()
    local COUNT = script("counts", [[
      local kept = k8s.state "n"
      k8s.command("count", function() kept.n = (kept.n or 0) + 1 return kept.n end)
    ]])
    place:write("a.lua", COUNT)
    local engine = place:start(sim)
    assert.are.equal("1\n", (engine.ask("call", "count")))
    place:write("a.lua", script "drops")
    engine.await("a", function(s) return s.generation == 2 end)
    place:write("a.lua", COUNT)
    engine.await("a", function(s) return s.generation == 3 end)
    assert.are.equal("2\n", (engine.ask("call", "count")))
  end)
end)
