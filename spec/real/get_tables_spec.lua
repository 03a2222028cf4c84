-- Tables of the real API server in `kubelua get`; the same as on the simulated one (spec/system/get_tables_spec.lua).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local server_tables = require "spec.support.server_tables"

describe("kubelua get on the real API server", function()
  local server, place

  setup(function()
    server = apiserver.start()
    place = scripts_folder.new()
  end)
  teardown(function()
    cluster.stop_all()
    place:remove()
    server:stop()
  end)

  it("prints its columns of a custom kind", function()
    local world = { api = server:api(), args = { "--kubeconfig", server.kubeconfig, "--context", "admin" } }
    server_tables.fill(world)
    server_tables.prints(server_tables.start(world, place))
  end)
end)
