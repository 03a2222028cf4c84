-- `kubelua sim` keeps the promises that the real API server keeps (spec/support/promises.lua).
local cluster = require "spec.support.cluster"
local promises = require "spec.support.promises"

describe("the simulated API server #threads", function()
  after_each(cluster.stop_all)

  promises.specify(it, function()
    local sim = cluster.sim()
    return { api = sim.api, expire = function() sim:play { ["do"] = "expire" } end }
  end)
end)
