-- Pages that expire on the simulated API server (spec/support/pages.lua; spec/real/pages_spec.lua has the real one).
local pages = require "spec.support.pages"
local world = require "spec.support.world"

describe("a list in pages on the simulated server #threads", function()
  local w

  after_each(function()
    if w then w.stop() end
  end)

  it("is listed completely when a page expires", function()
    w = world.simulated { "--watch-cache=false", "--gzip=false" }
    pages.check(w, 1) -- besides, pods are listed
  end)
end)
