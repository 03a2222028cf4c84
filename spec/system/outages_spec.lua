-- The simulated API server ends and comes back (spec/support/outages.lua; spec/real/outages_spec.lua has the real one).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local outages = require "spec.support.outages"
local temp = require "spec.support.temp"
local world = require "spec.support.world"

describe("the simulated API server ends and comes back #threads", function()
  local w, folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    if w then w.stop() end
    temp.remove(folder)
  end)

  outages.specify(it, function()
    w = world.simulated()
    -- It keeps nothing by itself. What is loaded has its uid, and a new version.
    function w.restart()
      temp.write(folder .. "/objects.json", cjson.encode(w.api:get "/api/v1/configmaps"))
      w.sim:kill "KILL"
      w.sim:wait()
      w.sim = cluster.sim({ "--load", folder .. "/objects.json" }, w.sim.server:match ":(%d+)$")
      w.api = w.sim.api
    end
    return w
  end)
end)
