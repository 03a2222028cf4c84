-- The same script prints the same events on the real API server as on the simulated one (spec/system/story_spec.lua).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"
local story = require "spec.support.story"

describe("the story on the real API server", function()
  local server, between

  setup(function()
    server = apiserver.start()
    between = relay.start(server.url)
  end)

  teardown(function()
    cluster.stop_all()
    if between then between:stop() end
    if server then server:stop() end
  end)

  it("is told in the same words", function()
    local printed, expected = story.run {
      api = server:api(),
      relay = between,
      args = { "--kubeconfig", server.kubeconfig, "--server", between.url },
      expire = function() server:expire() end,
    }
    assert.are.equal(expected, printed)
  end)
end)
