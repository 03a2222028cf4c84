-- Pages that expire on the real API server (spec/support/pages.lua; spec/system/pages_spec.lua has the simulated one).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local pages = require "spec.support.pages"
local relay = require "spec.support.relay"

describe("a list in pages on the real API server", function()
  local server, between

  setup(function()
    server = apiserver.start {
      flags = { "--watch-cache-sizes=configmaps#0", "--feature-gates=APIResponseCompression=false" },
    }
    between = relay.start(server.url)
  end)
  teardown(function()
    cluster.stop_all()
    if between then between:stop() end
    if server then server:stop() end
  end)

  it("is asked for whole when a page expires", function()
    pages.check {
      api = server:api(),
      relay = between,
      args = { "--kubeconfig", server.kubeconfig, "--server", between.url },
      compact = function() server:compact() end,
      lists = function() return #server:requests { verb = "list", resource = "configmaps", user = "admin" } end,
      other_lists = 0,
    }
  end)
end)
