-- The schema bundle is what Kubernetes' own code says.
local temp = require "spec.support.temp"

describe("core/schema/data", function()
  it("is what spec/real/schema writes", function()
    local folder = temp.folder()
    local output, code = temp.run("spec/real/schema " .. folder)
    assert.equal("", output)
    assert.equal(0, code)
    local difference = temp.run("diff -r core/schema/data " .. folder)
    temp.remove(folder)
    assert.equal("", difference)
  end)
end)
