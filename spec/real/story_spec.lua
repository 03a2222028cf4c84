-- The same script prints the same events on the real API server as on the simulated one (spec/system/story_spec.lua).
local story = require "spec.support.story"
local world = require "spec.support.world"

describe("the story on the real API server", function()
  local w

  setup(function() w = world.real() end)
  teardown(function()
    if w then w.stop() end
  end)

  it("gives the same words", function()
    local printed, expected = story.run(w)
    assert.are.equal(expected, printed)
  end)
end)
