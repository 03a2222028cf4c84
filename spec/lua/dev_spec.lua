-- ./dev, the workshop: what it says when it is asked for something that is not there.
local temp = require "spec.support.temp"

describe("./dev", function()
  it("names the presets when there is none of a name", function()
    local output, code = temp.run "./dev build nope"
    assert.are.equal(2, code)
    assert.are.equal('./dev: there is no preset "nope"; there are: asan fuzz release tsan\n', output)
  end)

  it("names its verbs' help when there is no such verb", function()
    local output, code = temp.run "./dev nope"
    assert.are.equal(2, code)
    assert.are.equal('./dev: there is no verb "nope"; ./dev help lists them\n', output)
  end)
end)
