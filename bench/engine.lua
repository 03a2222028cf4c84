-- bench/engine.lua [PODS [FLAG ...]]: what the engine costs on the simulated server: first sync, relist, a storm of
-- updates, memory. Run by `./dev bench`. Whole-process figures of one run; the server's own CPU is shown beside them.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

local pods = tonumber(arg[1] or 10000)
local updates = 50000

local script = cluster.script [[
  local k8s = require "k8s"
  local pods, seen = k8s.informer "pods", 0
  pods:add_event_handler {
    OnAdd = function(obj, ev) if not ev.initial then print("added", obj:name()) end end,
    OnUpdate = function(old, new)
      seen = seen + 1
      if new:annotation "bench/last" then print("last", seen) end
    end,
  }
  k8s.main(function() print("synced", pods:lister():count()) end)
]]

local idle_script = cluster.script [[ require("k8s").main(function() print "idle" end) ]]

local function row(what, format, ...) print(("%-46s " .. format):format(what, ...)) end

-- CPU of engine and server, and the time, that `act` takes until it returns.
local function measured(engine, sim, act)
  local cpu, server, start = engine:cpu(), sim:cpu(), proc.now()
  act()
  return engine:cpu() - cpu, sim:cpu() - server, proc.now() - start
end

local sim = cluster.sim { "--pods", tostring(pods), "--gzip=false" } -- as the peers are measured
local idle = cluster.run(sim.server, idle_script)
idle:wait_line "^idle$"
row("idle process, resident", "%.1f MB", idle:rss() / 2 ^ 20)
local idle_rss = idle:rss()
cluster.terminate(idle)

local start = proc.now()
local engine = cluster.run(sim.server, script, { unpack(arg, 2) })
engine:wait_line("^synced\t" .. pods .. "$", 600)
row(("first sync of %d pods, wall"):format(pods), "%.2f s", proc.now() - start)
row("first sync, CPU per pod", "%.1f us", engine:cpu() / pods * 1e6)
row("resident per pod beyond the idle process", "%.0f bytes", (engine:rss() - idle_rss) / pods)

local before = engine:rss()
local cpu, server_cpu, wall = measured(engine, sim, function()
  sim:play { ["do"] = "expire", resource = "pods" }
  -- The list is behind the engine as soon as it knows of something new.
  sim.api:create("/api/v1/namespaces/default/pods", {
    apiVersion = "v1", kind = "Pod", metadata = { name = "marker", namespace = "default" },
    spec = { containers = { { name = "c", image = "i" } } },
  })
  engine:wait_line("^added\tmarker$", 600)
end)
row("relist of unchanged pods, CPU per pod", "%.1f us (server %.1f us)", cpu / pods * 1e6, server_cpu / pods * 1e6)
row("relist, wall with the back-off", "%.2f s", wall)
row("relist, growth of resident memory", "%.1f %%", (engine:rss() - before) / before * 100)

cpu, server_cpu, wall = measured(engine, sim, function()
  sim:play { ["do"] = "touch", resource = "pods", pick = 1, count = updates }
  local _, first = next(sim.api:get("/api/v1/pods?limit=1").items)
  sim.api:patch(("/api/v1/namespaces/%s/pods/%s"):format(first.metadata.namespace, first.metadata.name),
    { metadata = { annotations = { ["bench/last"] = "yes" } } })
  engine:wait_line("^last\t", 600)
end)
row(("storm of %d updates, events per second"):format(updates), "%.0f", updates / wall)
row("storm, CPU per event", "%.1f us (server %.1f us)", cpu / updates * 1e6, server_cpu / updates * 1e6)
assert(cluster.terminate(engine) == 0)
cluster.stop_all()
