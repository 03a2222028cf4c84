-- The simulator and a real server for all tests of a describe: both_servers.begin(setup, teardown), with busted's
-- functions of these names. Gives { real, sim }, which are there once the tests run, and `ask` of same_answers.lua.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local same = require "spec.support.same_answers"

local both_servers = {}

function both_servers.begin(setup, teardown)
  local both, ask = {}, nil
  setup(function()
    both.real = apiserver.start()
    both.sim = cluster.sim {}
    ask = same.new(both.real:api(), both.sim.api)
  end)
  teardown(function()
    cluster.stop_all()
    both.real:stop()
  end)
  return both, function(...) return ask(...) end
end

return both_servers
