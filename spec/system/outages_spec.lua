-- The simulated API server ends and comes back (spec/support/outages.lua; spec/real/outages_spec.lua has the real one).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local outages = require "spec.support.outages"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

describe("the simulated API server ends and comes back #threads", function()
  local between, folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    between:stop()
    temp.remove(folder)
  end)

  outages.specify(it, function()
    local sim = cluster.sim()
    between = relay.start(sim.server)
    return {
      api = function() return sim.api end,
      relay = between,
      args = { "--server", between.url },
      -- It keeps nothing by itself. What is loaded has its uid, and a new version.
      restart = function()
        temp.write(folder .. "/objects.json", cjson.encode(sim.api:get "/api/v1/configmaps"))
        sim:kill "KILL"
        sim:wait()
        sim = cluster.sim({ "--load", folder .. "/objects.json" }, sim.server:match ":(%d+)$")
      end,
    }
  end)
end)
