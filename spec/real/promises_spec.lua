-- What kubelua and its simulator take for promised, the real API server keeps (spec/support/promises.lua).
local apiserver = require "spec.support.apiserver"
local promises = require "spec.support.promises"

describe("the real API server", function()
  local server

  setup(function() server = apiserver.start() end)
  teardown(function()
    if server then server:stop() end
  end)

  promises.specify(it, function()
    return { api = server:api(), expire = function() server:expire() end }
  end)
end)
