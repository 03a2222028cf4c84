-- The real API server ends and comes back (spec/support/outages.lua; spec/system/outages_spec.lua has the simulated).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local outages = require "spec.support.outages"
local temp = require "spec.support.temp"
local world = require "spec.support.world"

describe("the real API server ends and comes back", function()
  local w, folder

  setup(function()
    folder = temp.folder()
    w = world.real { dir = folder }
    w.keeps_versions = true
    function w.restart()
      w.server:stop()
      w.server = apiserver.start { dir = folder }
      w.api = w.server:api()
    end
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if w then w.stop() end
    temp.remove(folder)
  end)

  outages.specify(it, function() return w end)
end)
