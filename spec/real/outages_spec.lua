-- The real API server ends and comes back (spec/support/outages.lua; spec/system/outages_spec.lua has the simulated).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local outages = require "spec.support.outages"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

describe("the real API server ends and comes back", function()
  local server, between, folder

  setup(function()
    folder = temp.folder()
    server = apiserver.start { dir = folder }
    between = relay.start(server.url)
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if between then between:stop() end
    if server then server:stop() end
    temp.remove(folder)
  end)

  outages.specify(it, function()
    return {
      api = function() return server:api() end,
      relay = between,
      args = { "--kubeconfig", server.kubeconfig, "--server", between.url },
      keeps_versions = true,
      restart = function()
        server:stop()
        server = apiserver.start { dir = folder }
      end,
    }
  end)
end)
