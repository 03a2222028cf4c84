-- Scripts that read live, for specs: a simulated server with three config maps, and `kubelua exec` on it.
local cluster = require "spec.support.cluster"

local live = { configmaps = "/api/v1/namespaces/default/configmaps" }

function live.configmap(name, colour, labels)
  return {
    apiVersion = "v1", kind = "ConfigMap",
    metadata = { name = name, namespace = "default", labels = labels }, data = { colour = colour },
  }
end

-- What every script here begins with.
live.prelude = [[
  local k8s = require "k8s"
  k8s.reads { "configmaps:*", "nodes:get", "nodez:list", "trees.wood.example:list" }
  local function names(list)
    local words = {}
    for i, object in ipairs(list) do words[i] = object:name() end
    return table.concat(words, " ")
  end
  -- A watch from now on.
  local function watch(options)
    local _, version = k8s.list("configmaps", { namespace = "default" })
    options = options or {}
    options.namespace, options.resource_version = "default", version
    return k8s.watch("configmaps", options)
  end
  local function show(ev)
    local object = ev.object
    if ev.type == "ERROR" then print(ev.type, object.kind, object.code, object.reason, object.message)
    else print(ev.type, object:name(), object.data.colour) end
  end
]]

-- A server with map-1 (red), map-2 (green, even=yes) and map-3 (blue).
function live.sim()
  local sim = cluster.sim()
  for i, colour in ipairs { "red", "green", "blue" } do
    local labels = { even = i % 2 == 0 and "yes" or "no" }
    sim.api:create(live.configmaps, live.configmap("map-" .. i, colour, labels))
  end
  return sim
end

-- `kubelua exec` of a script whose main is `body`.
function live.start(sim, body, ...)
  local script = cluster.script(live.prelude .. "k8s.main(function()\n" .. body .. "\nend)\n")
  return cluster.kubelua { "exec", "--server=" .. sim.server, script, ... }
end

-- The same to its end: what it printed; raises when it did not end well.
function live.run(sim, body, ...)
  local engine = live.start(sim, body, ...)
  assert(engine:wait(30) == 0, engine:report())
  return engine:out()
end

return live
