-- k8s.controller on the real API server; the same story as on the simulated one (spec/system/controller_spec.lua).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local controllers = require "spec.support.controllers"

describe("k8s.controller on the real API server", function()
  local server

  setup(function() server = apiserver.start() end)
  teardown(function() server:stop() end)
  after_each(cluster.stop_all)

  it("receives events of its objects, of the owners of what they own, and of what a mapping names", function()
    controllers("--kubeconfig=" .. server.kubeconfig, server:api())
  end)
end)
