-- Scripts that read live, for specs: a simulated server with three config maps, and `kubelua exec` on it.
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"

local live = {}

-- What every script here begins with.
live.prelude = [[
  local k8s = require "k8s"
  k8s.reads { "configmaps:*", "nodes:get", "nodez:list", "trees.wood.example:list", "shops:list" }
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

-- `kubelua exec` on a server ("--server=..." or "--kubeconfig=...") of a script whose main is `body`.
function live.start(where, body, ...)
  local script = cluster.script(live.prelude .. "k8s.main(function()\n" .. body .. "\nend)\n")
  return cluster.kubelua { "exec", where, script, ... }
end

-- The same to its end: what it printed; raises when it did not end well.
function live.run(where, body, ...)
  local engine = live.start(where, body, ...)
  assert(engine:wait(30) == 0, engine:report())
  return engine:out()
end

-- What a server must have: map-1 (red), map-2 (green) and map-3 (blue). Their labels are those of the number.
function live.fill(api, labels)
  for i, colour in ipairs { "red", "green", "blue" } do
    api:create(colours.path, colours.map("map-" .. i, colour, labels(i)))
  end
end

-- A simulated server with them, map-2 with even=yes, and what specs ask of it.
function live.sim()
  local sim = cluster.sim()
  live.fill(sim.api, function(i) return { even = i % 2 == 0 and "yes" or "no" } end)
  function sim:start(...) return live.start("--server=" .. self.server, ...) end
  function sim:run(...) return live.run("--server=" .. self.server, ...) end
  function sim:requests() return self.api:get "/sim/stats" end
  local function play(what)
    return function(self, step)
      step["do"], step.resource = what, "configmaps"
      self:play(step)
    end
  end
  sim.fault, sim.inject = play "fault", play "inject"
  return sim
end

return live
