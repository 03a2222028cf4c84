-- The whole engine against `kubelua sim` that changes and fails at random: afterwards the calls of its handlers,
-- replayed, give what the server has; those of a cache of several namespaces too (B-6). SEED picks the first run, RUNS
-- how many at a time.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local random_faults = require "spec.support.random_faults"
local replay = require "spec.support.replay"

local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"
local seed = tonumber(os.getenv "SEED") or os.time() % 1000000
local runs = tonumber(os.getenv "RUNS") or sanitized and 2 or 4
local resources = { "configmaps", "pods" }
local stormy_seconds, calm_seconds = 8, 90
local dice_of, every, random_fault = random_faults.dice_of, random_faults.every, random_faults.fault

local function configmap(name)
  local metadata = { name = name, namespace = "default" }
  return { apiVersion = "v1", kind = "ConfigMap", metadata = metadata, data = { a = "b" } }
end

-- Objects of both kinds change all the time, come, go, and come again under their old names.
local function changes(dice)
  local steps = {}
  local function add(step) steps[#steps + 1] = step end
  local function times(ms) return math.floor(stormy_seconds * 1000 / ms) end
  for _, resource in ipairs(resources) do
    local touch, label, delete = dice(20, 200), dice(50, 500), dice(200, 1000)
    add { ["do"] = "touch", resource = resource, pick = dice(1, 4), every = every(touch), count = times(touch) }
    add { ["do"] = "label", resource = resource, pick = dice(1, 4), labels = { round = "${n}" }, every = every(label),
      count = times(label) }
    add { ["do"] = "delete", resource = resource, pick = 1, every = every(delete), count = times(delete) }
  end
  local create, again = dice(50, 300), dice(100, 400)
  add { ["do"] = "create", object = configmap "c${n}", every = every(create), count = times(create) }
  add { ["do"] = "create", pods = 1, every = every(create), count = times(create) }
  for i = 0, times(2 * again) - 1 do
    add { ["do"] = "create", object = configmap "phoenix", at = every(2 * again * i) }
    add { ["do"] = "delete", resource = "configmaps", namespace = "default", name = "phoenix",
      at = every(again * (2 * i + 1)) }
  end
  return steps
end

local function scenario(number)
  local dice = dice_of(number)
  local steps = changes(dice)
  for _, resource in ipairs(resources) do
    for _ = 1, dice(4, 10) do
      local step = random_fault(dice, resource)
      step.at = every(dice(0, stormy_seconds * 1000))
      steps[#steps + 1] = step
    end
  end
  return { seed = number, steps = steps }
end

-- How the engine is to list, and whether the server knows watch-lists (B-1).
local function flags_of(dice)
  local modes = { "auto", "on", "off" }
  return { "--watch-list", modes[dice(1, 3)], "--watch-list-deadline", "1500ms", "--io-threads", tostring(dice(1, 3)),
    "-f", "spec/support/scripts/replay_set.lua" }
end

local function break_watch_lists(sim, dice)
  local kinds = { "no-end-bookmark", "ignore-initial-events" }
  local what = kinds[dice(1, 4)]
  if what then sim:play { ["do"] = "fault", verb = "watch", what = what, times = dice(1, 3) } end
end

local function start(number)
  local sim, dice = cluster.sim { "--pods", "60" }, dice_of(number * 7919)
  break_watch_lists(sim, dice)
  local engine = cluster.run(sim.server, "spec/support/scripts/replay.lua", flags_of(dice))
  for i = 1, 10 do sim.api:create("/api/v1/namespaces/default/configmaps", configmap("first" .. i)) end
  sim.api:request("POST", "/sim/scenario", scenario(number))
  return { number = number, sim = sim, engine = engine, replay = replay.new(engine) }
end

-- Reads what all of them print for so long: nobody has to wait for a reader.
local function listen(all, seconds)
  local deadline = proc.now() + seconds
  while proc.now() < deadline do
    for _, run in ipairs(all) do
      run.replay:take()
      run.engine:pump(proc.now() + 0.02)
    end
  end
end

-- The scenarios have ended, and nobody is refused any more.
local function storms_are_over(all)
  for _, run in ipairs(all) do
    local code, text = run.sim.api:curl("GET", "/sim/stats")
    if code ~= 200 or cjson.decode(text).scenarios > 0 then return false end
  end
  return true
end

-- What the cache of some namespaces is to have.
local function some(list)
  local items = {}
  for _, item in ipairs(list.items) do
    local number = item.metadata.namespace:match "^team%-0(%d%d)$"
    if number == "00" or number == "03" or number == "07" or number == "11" then items[#items + 1] = item end
  end
  return { items = items }
end

local function difference(run)
  run.replay:take()
  local text = run.replay:difference("pods of some", some(run.sim.api:get "/api/v1/pods"))
  if text then return "pods of some namespaces: " .. text end
  for _, resource in ipairs(resources) do
    text = run.replay:difference(resource, run.sim.api:get("/api/v1/" .. resource))
    if text then return resource .. ": " .. text end
  end
end

local function wait_until_equal(all, run)
  local text
  await(function()
    text = difference(run)
    if text then listen(all, 0.2) end
    return not text
  end, function() return text .. run.engine:report() end, calm_seconds)
end

describe("the engine on a server that fails at random #threads", function()
  after_each(cluster.stop_all)

  it("delivers the final state of the server to its handlers", function()
    print(("# SEED=%d RUNS=%d"):format(seed, runs))
    local all, calls, lists, watches = {}, 0, 0, 0
    for i = 1, runs do all[i] = start(seed + i - 1) end
    local ok, err = pcall(function()
      await(function()
        listen(all, 0.2)
        return storms_are_over(all)
      end, "the end of the storms", calm_seconds)
      for _, run in ipairs(all) do run.sim:play { ["do"] = "clear" } end
      for _, run in ipairs(all) do
        wait_until_equal(all, run)
        local stats = run.sim.api:get "/sim/stats"
        calls, lists = calls + run.replay.calls, lists + stats.lists
        watches = watches + stats.watches + stats.watch_lists
        assert(cluster.terminate(run.engine) == 0, "the engine did not end well" .. run.engine:report())
      end
    end)
    assert.is_true(ok, ("run it again with SEED=%d: %s"):format(seed, tostring(err)))
    print(("# %d calls, %d lists, %d watches and watch-lists"):format(calls, lists, watches))
    assert.is_true(watches > 4 * runs, "nothing went wrong")
  end)
end)
