-- Pages that expire on the real API server (spec/support/pages.lua; spec/system/pages_spec.lua has the simulated one).
local pages = require "spec.support.pages"
local world = require "spec.support.world"

describe("a list in pages on the real API server", function()
  local w

  setup(function()
    w = world.real {
      flags = { "--watch-cache-sizes=configmaps#0", "--feature-gates=APIResponseCompression=false" },
    }
  end)
  teardown(function()
    if w then w.stop() end
  end)

  it("is listed completely when a page expires", function() pages.check(w, 0) end)
end)
