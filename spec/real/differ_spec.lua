-- The differ itself (spec/real/differ): two real servers answer alike, and a spoilt answer is found.
local temp = require "spec.support.temp"

local function differ(arguments)
  local folder = temp.folder()
  local output, code = temp.run(("build/real/differ --out '%s' %s"):format(folder, arguments))
  temp.remove(folder)
  return output, code
end

describe("the differ", function()
  setup(function()
    local output, code = temp.run "spec/real/build-differ"
    assert(code == 0, output)
  end)

  it("finds no difference between two real servers", function()
    local output, code = differ "--self --seeds 1-20"
    assert.equal(0, code, output)
    assert.matches("seeds 1%-20: 800 requests in %d+ s; 0 differences of 0 categories, in 0 of 20 seeds", output)
  end)

  it("finds each spoilt answer", function()
    local output, code = differ "--spoil 12 --seeds 1-12"
    assert.equal(0, code, output)
    assert.matches("all but 0 found: map%[.*an event less:1", output)
    local _, ways = output:match("map(%b[])"):gsub(":1", "")
    assert.is_true(ways >= 10, output) -- the sequences of some seeds have nothing to spoil in that way
  end)
end)
