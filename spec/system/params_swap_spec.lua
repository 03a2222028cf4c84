-- A mounted folder of settings is exchanged while 10,000 pods change each second: the script is reloaded once, is told
-- of each change once, and never sees the old value after the new one.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local SECONDS, EVENTS = 6, 10000 -- of changes, and in each second

-- The table of versions is kept over the reload. An update begins at the version that the last call ended with.
local SCRIPT = [[
local k8s = require "k8s"
local settings = k8s.params {
  color = { type = "string", required = true },
  round = { type = "integer", required = true },
}
local state = k8s.state("seen", { init = { last = {}, calls = 0, gaps = 0, doubles = 0, back = 0, round = 0 } })
local pods = k8s.informer "pods"

local function note()
  if settings.round < state.round or settings.color ~= "color-" .. settings.round then state.back = state.back + 1 end
  state.round = settings.round
  state.calls = state.calls + 1
end

pods:add_event_handler { id = "all",
  OnAdd = function(pod)
    if state.last[pod:key()] then state.doubles = state.doubles + 1 end
    state.last[pod:key()] = pod:resource_version()
    note()
  end,
  OnUpdate = function(old, new)
    local last = state.last[new:key()]
    if last ~= old:resource_version() then state.gaps = state.gaps + 1 end
    if tonumber(new:resource_version()) <= tonumber(last) then state.doubles = state.doubles + 1 end
    state.last[new:key()] = new:resource_version()
    note()
  end,
}
k8s.command("behind", function()
  local behind = 0
  for _, pod in ipairs(pods:lister():list_all()) do
    if state.last[pod:key()] ~= pod:resource_version() then behind = behind + 1 end
  end
  return behind
end)
k8s.command("told", function()
  return ("%d doubled, %d gaps, %d back, round %d"):format(state.doubles, state.gaps, state.back, state.round)
end)
k8s.command("calls", function() return state.calls end)
]]

describe("settings in a mounted folder", function()
  local place
  before_each(function() place = scripts_folder.new() end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("are exchanged while 10,000 events a second arrive", function()
    local mounted = place.path .. "/mounted"
    os.execute(([[mkdir -p %s/..1 %s/..2 && cd %s
      for n in 1 2; do echo color-$n > ..$n/color; echo $n > ..$n/round; done
      ln -s ..1 ..data && ln -s ..data/color color && ln -s ..data/round round]]):format(mounted, mounted, mounted))
    place:write("watcher.lua", SCRIPT)
    local sim = cluster.sim { "--pods", "2000" }
    local engine = place:start(sim, nil, { "--params", mounted })
    local function ask(command) return ((engine.ask("call", command)):gsub("\n$", "")) end
    await(function() return ask "behind" == "0" end, "the first list is handled")
    sim:play {
      ["do"] = "touch", resource = "pods", pick = EVENTS / 200, every = "5ms", count = SECONDS * 200,
    }
    await(function() return tonumber(ask "calls") > 2000 + EVENTS end, "changes are handled")
    os.execute(("cd %s && ln -s ..2 ..data_tmp && mv -T ..data_tmp ..data"):format(mounted))
    engine.await("watcher", function(s) return s.generation == 2 end)
    local at_swap = tonumber(ask "calls")
    await(function()
      return sim.api:get("/sim/stats").events >= SECONDS * EVENTS and ask "behind" == "0"
    end, "all is handled")
    assert.are.equal("0 doubled, 0 gaps, 0 back, round 2", ask "told")
    assert.is_true(tonumber(ask "calls") > at_swap)
    engine.await("watcher", function(s) return s.generation == 2 end)
    local _, reloads = engine:err():gsub("Reloaded", "")
    assert.are.equal(1, reloads, engine:err())
  end)
end)
