-- The same script prints the same events on the simulated API server as on the real one (spec/real/story_spec.lua).
local story = require "spec.support.story"
local world = require "spec.support.world"

describe("the story on the simulated API server #threads", function()
  local w

  teardown(function()
    if w then w.stop() end
  end)

  it("uses the same words", function()
    w = world.simulated()
    local printed, expected = story.run(w)
    assert.are.equal(expected, printed)
  end)
end)
