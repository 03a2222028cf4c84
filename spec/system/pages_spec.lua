-- Pages that expire on the simulated API server (spec/support/pages.lua; spec/real/pages_spec.lua has the real one).
local cluster = require "spec.support.cluster"
local pages = require "spec.support.pages"
local relay = require "spec.support.relay"

describe("a list in pages on the simulated server #threads", function()
  local between

  after_each(function()
    cluster.stop_all()
    if between then between:stop() end
  end)

  it("is asked for whole when a page expires", function()
    local sim = cluster.sim { "--watch-cache=false", "--gzip=false" }
    between = relay.start(sim.server)
    pages.check {
      api = sim.api,
      relay = between,
      args = { "--server", between.url },
      compact = function() sim:play { ["do"] = "compact" } end,
      lists = function() return sim.api:get("/sim/stats").lists end,
      other_lists = 1, -- of pods
    }
  end)
end)
