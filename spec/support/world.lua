-- A server with a relay before it, the same to a spec whether it is simulated or real. A world has `api` (requests with
-- all rights, straight to the server), `relay`, `args` (connection flags of the engine, through the relay), compact()
-- (pages expire), expire() (every version does), lists() (of config maps so far) and stop().
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"

local world = {}

-- A simulated one; args of `kubelua sim`. It counts the lists of every kind.
function world.simulated(args)
  local w = { sim = cluster.sim(args) }
  w.api, w.relay = w.sim.api, relay.start(w.sim.server)
  w.args = { "--server", w.relay.url }
  function w.compact() w.sim:play { ["do"] = "compact" } end
  function w.expire() w.sim:play { ["do"] = "expire" } end
  function w.lists() return w.api:get("/sim/stats").lists end
  function w.stop()
    cluster.stop_all()
    w.relay:stop()
  end
  return w
end

-- A real one; options of apiserver.start.
function world.real(options)
  local w = { server = apiserver.start(options) }
  w.api, w.relay = w.server:api(), relay.start(w.server.url)
  w.args = { "--kubeconfig", w.server.kubeconfig, "--server", w.relay.url }
  function w.compact() w.server:compact() end
  function w.expire() w.server:expire() end
  function w.lists() return #w.server:requests { verb = "list", resource = "configmaps", user = "admin" } end
  function w.stop()
    cluster.stop_all()
    w.relay:stop()
    w.server:stop()
  end
  return w
end

return world
