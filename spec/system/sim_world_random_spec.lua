-- `kubelua sim --world` at random: rollouts, crashes, drains, and what clients do. At the end an informer that met
-- faults has what the server has, and a world with the same seed and the same requests has the same bytes. SEED picks
-- the first run, RUNS how many, EVENTS how many changes each.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local replay = require "spec.support.replay"

local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"
local seed = tonumber(os.getenv "SEED") or os.time() % 1000000
local runs = tonumber(os.getenv "RUNS") or sanitized and 1 or 2
local events = tonumber(os.getenv "EVENTS") or sanitized and 500 or 2000
local calm_seconds = 90

local apps, batch = "/apis/apps/v1/namespaces/default/", "/apis/batch/v1/namespaces/default/"
local core = "/api/v1/namespaces/default/"

-- What the informers watch, and where it is listed.
local informed = {
  pods = "/api/v1/pods", ["replicasets.apps"] = "/apis/apps/v1/replicasets",
  ["deployments.apps"] = "/apis/apps/v1/deployments", ["jobs.batch"] = "/apis/batch/v1/jobs",
  ["endpointslices.discovery.k8s.io"] = "/apis/discovery.k8s.io/v1/endpointslices", events = "/api/v1/events",
}

-- All lists that a world changes.
local lists = {
  "/api/v1/pods", "/api/v1/nodes", "/api/v1/namespaces", "/api/v1/services", "/api/v1/endpoints", "/api/v1/configmaps",
  "/api/v1/serviceaccounts", "/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes",
  "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets",
  "/apis/apps/v1/controllerrevisions", "/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs",
  "/apis/policy/v1/poddisruptionbudgets", "/apis/discovery.k8s.io/v1/endpointslices", "/api/v1/events",
}

-- A generator of its own for each run. The lower bits of such a generator are poor.
local function dice_of(number)
  local state = number % 2147483647 + 1
  return function(from, to)
    state = state * 48271 % 2147483647
    return from + math.floor(state / 2147483647 * (to - from + 1))
  end
end

local function template(name, policy)
  return { metadata = { labels = { app = name } },
    spec = { restartPolicy = policy, containers = { { name = "c", image = "i:1" } } } }
end

local function workload(kind, name, replicas)
  return { kind = kind, apiVersion = "apps/v1", metadata = { name = name },
    spec = { replicas = replicas, selector = { matchLabels = { app = name } }, template = template(name) } }
end

local function fill(sim)
  for i = 1, 5 do
    local name = "web-" .. i
    sim.api:create(apps .. "deployments", workload("Deployment", name, i))
    sim.api:create(core .. "services", { kind = "Service", apiVersion = "v1", metadata = { name = name },
      spec = { selector = { app = name }, ports = { { port = 80 } } } })
  end
  sim.api:create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", { kind = "PodDisruptionBudget",
    apiVersion = "policy/v1", metadata = { name = "web-5" },
    spec = { minAvailable = 4, selector = { matchLabels = { app = "web-5" } } } })
  sim.api:create(apps .. "statefulsets", workload("StatefulSet", "db", 3))
  sim.api:create(apps .. "daemonsets", workload("DaemonSet", "agent"))
  sim.api:create(batch .. "cronjobs", { kind = "CronJob", apiVersion = "batch/v1", metadata = { name = "tick" },
    spec = { schedule = "* * * * *", jobTemplate = { spec = { template = template("tick", "Never") } } } })
end

-- What a client may do; each is refused now and then, and that is no mistake.
local actions = {
  function(sim, dice)
    sim.api:curl("PATCH", apps .. "deployments/web-" .. dice(1, 5), { spec = { replicas = dice(0, 8) } },
      "application/merge-patch+json")
  end,
  function(sim, dice)
    local image = '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"i:%d"}]'
    sim.api:curl("PATCH", apps .. "deployments/web-" .. dice(1, 5), image:format(dice(1, 4)),
      "application/json-patch+json")
  end,
  function(sim, dice)
    local name, policies = "job-" .. dice(1, 5), { "Background", "Foreground", "Orphan" }
    sim.api:curl("DELETE", batch .. "jobs/" .. name, { kind = "DeleteOptions", apiVersion = "v1",
      propagationPolicy = policies[dice(1, 3)] })
    sim.api:curl("POST", batch .. "jobs", { kind = "Job", apiVersion = "batch/v1", metadata = { name = name },
      spec = { completions = dice(1, 4), parallelism = 2, template = template(name, "Never") } })
  end,
  function(sim, dice)
    local pods = sim.api:get(core .. "pods").items
    if #pods > 0 then sim.api:curl("DELETE", core .. "pods/" .. pods[dice(1, #pods)].metadata.name) end
  end,
  function(sim, dice)
    local name = "web-" .. dice(1, 5)
    sim.api:curl("DELETE", apps .. "deployments/" .. name, { kind = "DeleteOptions", apiVersion = "v1",
      propagationPolicy = dice(1, 2) == 1 and "Foreground" or "Orphan" })
    sim.api:curl("POST", apps .. "deployments", workload("Deployment", name, dice(1, 5)))
  end,
}

local whats = { "cut", "half-line", "end", "reset", "close", "no-metadata", "error-event", "invalid-json" }

-- A fault of watches and lists, for all clients.
local function fault(dice)
  local kinds = { "pods", "replicasets", "deployments", "jobs", "endpointslices" }
  local resource, kind = kinds[dice(1, #kinds)], dice(1, 8)
  if kind <= 5 then
    return { ["do"] = "inject", resource = resource, what = whats[dice(1, #whats)], after = dice(0, 3), code = 410 }
  elseif kind == 6 then
    return { ["do"] = "fault", resource = resource, verb = "watch", what = "status", code = 429, retry_after = 0 }
  end
  return kind == 7 and { ["do"] = "expire", resource = resource } or { ["do"] = "end-watches" }
end

-- Moves the world on until so many changes have happened.
local function play(sim, number, on_step)
  local dice, first = dice_of(number * 7919), sim.api:get("/sim/stats").version
  fill(sim)
  while sim.api:get("/sim/stats").version - first < events do
    sim.api:request("POST", "/sim/clock?step=" .. dice(20, 120) .. "s")
    for _ = 1, dice(1, 3) do actions[dice(1, #actions)](sim, dice) end
    sim:play(fault(dice))
    on_step()
  end
  sim.api:request("POST", "/sim/clock?step=10s")
  sim:play { ["do"] = "clear" }
  return sim.api:get("/sim/stats").version - first
end

local function start(number)
  return cluster.sim {
    "--world", "--world-seed", tostring(number), "--world-clock", "stopped", "--world-nodes", "4", "--world-rate",
    "rollouts=6/m,crashes=20/m,drains=1/m",
  }
end

local function bytes(sim)
  local texts = {}
  for i, path in ipairs(lists) do texts[i] = path .. "\n" .. select(2, sim.api:curl("GET", path)) end
  return table.concat(texts, "\n")
end

-- Where two texts differ first.
local function first_difference(a, b)
  local at = 1
  while a:byte(at) == b:byte(at) do at = at + 1 end
  return ("%q is not %q"):format(a:sub(math.max(1, at - 300), at + 100), b:sub(math.max(1, at - 20), at + 100))
end

local function informed_run(number)
  local sim = start(number)
  local engine = cluster.run(sim.server, "spec/support/scripts/replay_world.lua", {})
  local calls = replay.new(engine)
  engine:wait_line("synced", 60)
  local count = play(sim, number, function() calls:take() end)
  local text
  await(function()
    calls:take()
    for kind, path in pairs(informed) do
      text = calls:difference(kind, sim.api:get(path))
      if text then return false end
    end
    return true
  end, function() return tostring(text) .. engine:report() end, calm_seconds)
  assert(cluster.terminate(engine) == 0, "the engine did not end well" .. engine:report())
  return bytes(sim), count, calls.calls
end

describe("kubelua sim --world at random #threads", function()
  after_each(cluster.stop_all)

  it("is seen whole by informers, and is the same again", function()
    print(("# SEED=%d RUNS=%d EVENTS=%d"):format(seed, runs, events))
    local all, all_calls = 0, 0
    for number = seed, seed + runs - 1 do
      local ok, err = pcall(function()
        local before, count, calls = informed_run(number)
        local again = start(number)
        play(again, number, function() end)
        local after = bytes(again)
        assert(before == after, before ~= after and first_difference(before, after))
        all, all_calls = all + count, all_calls + calls
      end)
      cluster.stop_all()
      assert.is_true(ok, ("run it again with SEED=%d RUNS=1: %s"):format(number, tostring(err)))
    end
    print(("# %d changes, %d handler calls, all worlds twice the same"):format(all, all_calls))
    assert.is_true(all >= events * runs)
  end)
end)
