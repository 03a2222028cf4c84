-- An informer that follows namespaces by their labels, against `kubelua sim` where labels, namespaces and pods change
-- at random while lists and watches of both kinds fail: every call of a handler is legal for its key, and at rest the
-- calls, replayed, give the pods that the server has in these namespaces. SEED picks the run, CHANGES their number.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local random_faults = require "spec.support.random_faults"
local replay = require "spec.support.replay"

local every = random_faults.every
local seed = tonumber(os.getenv "SEED") or os.time() % 1000000
local change_count = tonumber(os.getenv "CHANGES") or 300
local spaces, gap_ms, calm_seconds = 12, 25, 120

local script = [[
  local k8s = require "k8s"
  local function show(call, obj, old)
    print(k8s.json.encode {
      kind = "pods", call = call, key = obj:key(), uid = obj:uid(), version = obj:resource_version(),
      old = old and old:resource_version(),
    })
  end
  local pods = k8s.informer("pods", { namespaces = { selector = "team=shop" } })
  pods:add_event_handler {
    OnAdd = function(obj) show("add", obj) end,
    OnUpdate = function(old, new) show("update", new, old) end,
    OnDelete = function(last) show("delete", last) end,
  }
]]

local function namespace(name, team)
  return { apiVersion = "v1", kind = "Namespace", metadata = { name = name, labels = { team = team } } }
end

local function pod(ns, name)
  return { apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = ns },
    spec = { containers = { { name = "a", image = "a" } } } }
end

-- One change of a label, a namespace or a pod. `exists` has the namespaces that are there.
local function random_change(dice, number, exists)
  local ns, kind = "space-" .. dice(1, spaces), dice(1, 100)
  local team = dice(1, 2) == 1 and "shop" or "pay"
  if not exists[ns] then
    exists[ns] = true
    return { ["do"] = "create", object = namespace(ns, team) }
  elseif kind <= 35 then
    return { ["do"] = "label", resource = "namespaces", name = ns, labels = { team = team } }
  elseif kind <= 40 then
    exists[ns] = nil
    return { ["do"] = "delete", resource = "namespaces", name = ns }
  elseif kind <= 65 then
    return { ["do"] = "create", object = pod(ns, "p" .. number) }
  elseif kind <= 85 then
    return { ["do"] = "touch", resource = "pods", namespace = ns, pick = dice(1, 2) }
  end
  return { ["do"] = "delete", resource = "pods", namespace = ns, pick = 1 }
end

local function steps_of(dice)
  local steps, exists = {}, {}
  for number = 1, change_count do
    local step = random_change(dice, number, exists)
    step.at = every(number * gap_ms)
    steps[#steps + 1] = step
  end
  for _, resource in ipairs { "pods", "namespaces" } do
    for _ = 1, math.ceil(change_count / 60) do
      local step = random_faults.fault(dice, resource)
      step.at = every(dice(0, change_count * gap_ms))
      steps[#steps + 1] = step
    end
  end
  return steps
end

-- As several scenarios: an argument of curl has an end.
local function play(sim, steps)
  for first = 1, #steps, 300 do
    local some = { unpack(steps, first, math.min(first + 299, #steps)) }
    sim.api:request("POST", "/sim/scenario", { seed = seed + first, steps = some })
  end
end

-- The pods in the namespaces that have the label now.
local function wanted(sim)
  local named, items = {}, {}
  for _, one in ipairs(sim.api:get("/api/v1/namespaces?labelSelector=team%3Dshop").items) do
    named[one.metadata.name] = true
  end
  for _, one in ipairs(sim.api:get("/api/v1/pods").items) do
    if named[one.metadata.namespace] then items[#items + 1] = one end
  end
  return { items = items }
end

describe("an informer of namespaces by their labels on a server that fails at random #threads", function()
  after_each(cluster.stop_all)

  -- `path`: what begins with it is forbidden.
  local function run(path)
    print(("# SEED=%d CHANGES=%d"):format(seed, change_count))
    local dice = random_faults.dice_of(seed)
    local modes, sim = { "auto", "on", "off" }, cluster.sim()
    for _, verb in ipairs(path and { "list", "watch" } or {}) do
      sim:play { ["do"] = "fault", verb = verb, path = path, what = "status", code = 403, times = 0 }
    end
    local engine = cluster.run(sim.server, cluster.script(script),
      { "--watch-list", modes[dice(1, 3)], "--watch-list-deadline", "1500ms" })
    local calls = replay.new(engine, true)
    local function listen(seconds)
      calls:take()
      engine:pump(proc.now() + seconds)
    end
    play(sim, steps_of(dice))
    local difference
    local ok, err = pcall(function()
      await(function()
        listen(0.1)
        local code, text = sim.api:curl("GET", "/sim/stats")
        return code == 200 and cjson.decode(text).scenarios == 0
      end, "the end of the changes", change_count * gap_ms / 1000 + calm_seconds)
      sim:play { ["do"] = "clear" }
      await(function()
        listen(0.1)
        difference = calls:difference("pods", wanted(sim))
        return not difference
      end, function() return difference .. engine:report() end, calm_seconds)
    end)
    assert.is_true(ok, ("run it again with SEED=%d CHANGES=%d: %s"):format(seed, change_count, tostring(err)))
    local stats = sim.api:get "/sim/stats"
    print(("# %d calls, %d lists, %d watches and watch-lists, %d pods at rest"):format(calls.calls, stats.lists,
      stats.watches + stats.watch_lists, #wanted(sim).items))
    assert.is_true(calls.calls > change_count / 10, "hardly anything happened")
    if path then assert.has_match("Watching each namespace", engine:err(), 1, true) end
    assert.are.equal(0, cluster.terminate(engine))
  end

  it("has what the server has at rest, by calls that are legal", function() run() end)

  it("has it too if only single namespaces may be watched", function() run "/api/v1/pods" end)
end)
