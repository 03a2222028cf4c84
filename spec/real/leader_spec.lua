-- Elections between engines on a real API server (spec/support/leaders.lua; spec/system/leader_spec.lua has the
-- simulated one).
local leaders = require "spec.support.leaders"
local world = require "spec.support.world"

describe("engines on the real API server", function()
  local w
  setup(function() w = world.real() end)
  teardown(function() if w then w.stop() end end)
  leaders.specify(it, function() return w end)
end)
