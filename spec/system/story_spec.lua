-- The same script prints the same events on the simulated API server as on the real one (spec/real/story_spec.lua).
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"
local story = require "spec.support.story"

describe("the story on the simulated API server #threads", function()
  local between

  teardown(function()
    cluster.stop_all()
    if between then between:stop() end
  end)

  it("is told in the same words", function()
    local sim = cluster.sim()
    between = relay.start(sim.server)
    local printed, expected = story.run {
      api = sim.api,
      relay = between,
      args = { "--server", between.url },
      expire = function() sim:play { ["do"] = "expire" } end,
    }
    assert.are.equal(expected, printed)
  end)
end)
