-- Clusters in one engine do not disturb each other: half of them are cut, stopped, refused, forbidden and expired at
-- random, and the others notice nothing. Equal objects of all take the memory of one. `./dev prove clusters` has the
-- long form, with the figures that are promised; here they are wide.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local function number(name, default) return tonumber(os.getenv(name)) or default end

local COUNT, ROUNDS, SECONDS = number("CLUSTERS", 4), number("ROUNDS", 1), number("SECONDS_EACH", 3)
local PODS, SEED = number("PODS", 5000), number("SEED", os.time())
local LAG_MS, CPU_SHARE, MEMORY = number("LAG_MS", 500), number("CPU_SHARE", 1.5), 2.5 -- of the engine's CPU
local TOUCHED, PERIOD = 50, 0.05 -- pods, and how often

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

describe("clusters in one engine", function()
  local folder, socket, engine

  before_each(function()
    folder = temp.folder()
    socket = folder .. "/admin.sock"
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- An engine with a context for each address, called c1, c2, ...
  local function start(text, servers)
    local clusters, contexts, words = {}, {}, { "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0" }
    for i, server in ipairs(servers) do
      clusters[i] = { name = "c" .. i, cluster = { server = server } }
      contexts[i] = { name = "c" .. i, context = { cluster = "c" .. i, user = "nobody" } }
      words[#words + 1], words[#words + 2] = "--context", "c" .. i
    end
    temp.write(folder .. "/config", cjson.encode {
      apiVersion = "v1", kind = "Config", clusters = clusters, contexts = contexts,
      users = { { name = "nobody", user = { token = "t" } } },
    })
    temp.write(folder .. "/a.lua", text)
    engine = cluster.run("--kubeconfig=" .. folder .. "/config", folder .. "/a.lua", words)
  end

  local function call(...)
    local p = cluster.kubelua { "call", "--admin-socket", socket, "-ojson", ... }
    assert.are.equal(0, p:wait(60), p:report())
    return cjson.decode(p:out())
  end

  -- Updates by clusters that became part of a waiting one: a busy machine makes the engine late.
  local function coalesced()
    local address = engine:err():match 'Serving metrics" address="([^"]+)"'
    local counts = {}
    for i, count in temp.run("curl -s http://" .. address .. "/metrics"):gmatch(
      '\nkubelua_handler_coalesced_total{[^}]*handler="c(%d+)"[^}]*} (%d+)') do
      counts[tonumber(i)] = tonumber(count)
    end
    return counts
  end

  -- What was seen since then, with what was coalesced since `before`.
  local function told(before)
    local seen, now = call "seen", coalesced()
    for i = 1, COUNT do seen.updates[i] = seen.updates[i] + (now[i] or 0) - (before[i] or 0) end
    return seen
  end

  local SCRIPT = [[
    local k8s = require "k8s"
    local seen, synced
    local times, clocks -- CPU of the engine at the times of all events, and between them
    local function reset()
      seen = { updates = {}, lag = 0, cpu = 0, slow = 0 }
      times, clocks = { k8s.now() }, { os.clock() }
    end
    reset()
    local function note() times[#times + 1], clocks[#clocks + 1] = k8s.now(), os.clock() end
    k8s.every(0.02, note)
    -- CPU of the engine since then, in ms; and somewhat before, as far as nothing was noted.
    local function cpu_since(time)
      local i = #times
      while i > 1 and times[i] > time do i = i - 1 end
      return (os.clock() - clocks[i]) * 1000
    end
    local all = {}
    local function follow(cluster, i)
      local pods = cluster:informer "pods"
      all[i] = pods
      pods:add_event_handler { id = "c" .. i, OnUpdate = function(_, _, ev)
        local lag = (k8s.now() - ev.time) * 1000
        seen.updates[i] = (seen.updates[i] or 0) + 1
        if i > HEALTHY then return end
        local cpu = cpu_since(ev.time)
        note()
        if lag > seen.lag then seen.lag = lag end
        if cpu > seen.cpu then seen.cpu = cpu end
        if cpu > 100 then seen.slow = seen.slow + 1 end
      end }
    end
    for i = 1, COUNT do follow(k8s.cluster("c" .. i), i) end
    k8s.command("reset", function() reset() return {} end)
    k8s.command("seen", function()
      local synced = 0
      for i = 1, COUNT do synced = synced + (all[i]:has_synced() and 1 or 0) end
      local updates = {}
      for i = 1, COUNT do updates[i] = seen.updates[i] or 0 end
      return { updates = updates, lag = seen.lag, cpu = seen.cpu, slow = seen.slow, synced = synced }
    end)
  ]]

  -- Faults of the others; each ends by itself, or by `calm`.
  local function disturbances(sim)
    return {
      function() sim:kill "STOP" end,
      function() sim:kill "CONT" end,
      function() sim:forbid("pods", "not now") end,
      function() sim:play { ["do"] = "clear" } end,
      function() sim:play { ["do"] = "expire", resource = "pods" } end,
      function() sim:play { ["do"] = "refuse", ["for"] = "500ms" } end,
      function() sim:play { ["do"] = "inject", resource = "pods", what = "cut" } end,
      function() sim:play { ["do"] = "fault", resource = "pods", what = "delay", ["for"] = "1s", times = 3 } end,
      function()
        sim:play {
          ["do"] = "fault", verb = "watch", resource = "pods", what = "status", code = 401, reason = "Unauthorized",
          times = 2,
        }
      end,
    }
  end

  -- A process that stands still takes no steps, and one that refuses connections none either.
  local function disturb(state)
    local which = state.stopped and 2 or math.random(#state.all)
    state.stopped = which == 1
    pcall(state.all[which])
  end

  local function calm(sim, state)
    if state.stopped then sim:kill "CONT" end
    state.stopped = false
    await(function() return (pcall(sim.play, sim, { ["do"] = "clear" })) end, "an end of the disturbances", 30)
  end

  it("go on while others are cut, stopped, refused, forbidden and expired", function()
    local sims, servers, states = {}, {}, {}
    local healthy = math.floor(COUNT / 2)
    math.randomseed(SEED)
    for i = 1, COUNT do
      sims[i] = cluster.sim { "--pods", i <= healthy and "200" or "20" }
      servers[i], states[i] = sims[i].server, { all = disturbances(sims[i]) }
    end
    start(SCRIPT:gsub("HEALTHY", healthy):gsub("COUNT", COUNT), servers)
    await(function() return os.rename(socket, socket) and call("seen").synced == COUNT end, "all caches", 60)
    local times = SECONDS / PERIOD
    -- The same work of the healthy ones each time; CPU and what they saw.
    local function run(is_disturbed)
      call "reset"
      local merged, before = coalesced(), engine:cpu()
      for i = 1, healthy do
        sims[i]:play {
          ["do"] = "touch", resource = "pods", pick = TOUCHED, at = 0, every = PERIOD, count = times,
        }
      end
      local seen
      await(function()
        for i = healthy + 1, is_disturbed and COUNT or 0 do disturb(states[i]) end
        seen = told(merged)
        for i = 1, healthy do
          if seen.updates[i] < TOUCHED * times then return false end
        end
        return true
      end, "the changes", SECONDS * 5 + 60)
      local used = engine:cpu() - before
      for i = healthy + 1, COUNT do calm(sims[i], states[i]) end
      return used, seen
    end
    local calm_cpu, disturbed_cpu = {}, {}
    local worst = { calm = { lag = 0, cpu = 0, slow = 0 }, disturbed = { lag = 0, cpu = 0, slow = 0 } }
    local function note(name, seen)
      worst[name].lag = math.max(worst[name].lag, seen.lag)
      worst[name].cpu = math.max(worst[name].cpu, seen.cpu)
      worst[name].slow = worst[name].slow + seen.slow
    end
    for round = 1, ROUNDS do
      local seen
      calm_cpu[round], seen = run(false)
      note("calm", seen)
      disturbed_cpu[round], seen = run(true)
      note("disturbed", seen)
      await(function() return call("seen").synced == COUNT end, "the others again", 120)
    end
    local a, b = median(calm_cpu), median(disturbed_cpu)
    print(("    %d clusters, %d of them disturbed, seed %d: CPU %.2f s calm, %.2f s disturbed (%+.1f %%)"):format(COUNT,
      COUNT - healthy, SEED, a, b, (b / a - 1) * 100))
    for _, name in ipairs { "calm", "disturbed" } do
      local seen = worst[name]
      print(("    %s: slowest of %d events %.1f ms of the engine's CPU, %d over 100 ms of it (by the clock %.1f ms)")
        :format(name, ROUNDS * healthy * TOUCHED * times, seen.cpu, seen.slow, seen.lag))
    end
    -- The clock tells of other programs, too.
    assert.is_true(worst.disturbed.cpu < LAG_MS, "slowest event")
    assert.is_true(b < a * CPU_SHARE, "CPU")
    -- The others are as good as new.
    call "reset"
    for i = healthy + 1, COUNT do sims[i]:play { ["do"] = "touch", resource = "pods" } end
    local updates
    local ok = pcall(await, function()
      updates = call("seen").updates
      for i = healthy + 1, COUNT do
        if updates[i] < 20 then return false end
      end
      return true
    end, "changes of the others", 90)
    assert.is_true(ok, cjson.encode(updates) .. "\n" .. engine:err())
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)

  it("store equal objects once", function()
    local sim = cluster.sim { "--pods", tostring(PODS) }
    local function memory(count)
      local servers = {}
      for i = 1, count do servers[i] = sim.server end
      start(SCRIPT:gsub("HEALTHY", count):gsub("COUNT", count), servers)
      await(function() return os.rename(socket, socket) and call("seen").synced == count end, "all caches", 600)
      local mib = engine:rss() / 2 ^ 20
      assert.are.equal(0, cluster.terminate(engine, 60))
      return mib
    end
    local one, ten = memory(1), memory(10)
    print(("    %d pods: %.0f MiB in one cluster, %.0f MiB in ten with equal pods, %.2f times"):format(PODS, one, ten,
      ten / one))
    assert.is_true(ten < one * MEMORY)
  end)
end)
