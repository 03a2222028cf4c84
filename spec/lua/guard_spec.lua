-- The guard of the instruction counts finds what takes more of them than it is expected to.
local temp = require "spec.support.temp"

-- Ratios by phase.
local function read(path)
  local ratios = {}
  for line in io.lines(path) do
    local name, ratio = line:match "^(%l+) +([%d.]+)$"
    if name then ratios[name] = tonumber(ratio) end
  end
  return ratios
end

describe("bench/guard/run", function()
  local folder, path, found, counts

  local function guard(flags) return temp.run(("bench/guard/run %s --expected %s"):format(flags, path)) end

  -- What was found, each times `factor`, is what is expected.
  local function expect(factor)
    local lines = {}
    for name, ratio in pairs(found) do lines[#lines + 1] = ("%s %.6f\n"):format(name, ratio * factor) end
    temp.write(path, table.concat(lines))
  end

  setup(function()
    folder = temp.folder()
    path = folder .. "/expected"
    local output, code = guard "--update"
    assert.are.equal(0, code, output)
    counts = not output:find("not run", 1, true)
    found = counts and read(path)
  end)

  teardown(function() temp.remove(folder) end)

  local function it_counts(name, test)
    it(name, function()
      if not counts then return pending "this machine has no AVX2" end
      test()
    end)
  end

  it_counts("passes by what was just found, for the phases that bench/guard/expected has", function()
    local output, code = guard "--again"
    assert.are.equal(0, code, output)
    local listed = read "bench/guard/expected"
    for name, ratio in pairs(found) do
      assert.is_true(ratio > 0)
      assert.is_truthy(listed[name], name)
      listed[name] = nil
    end
    assert.is_nil(next(listed))
  end)

  it_counts("fails, and names each phase, when they were a quarter less", function()
    expect(0.75)
    local output, code = guard "--again"
    assert.are.equal(1, code)
    for name in pairs(found) do assert.has_match(name .. "[^\n]+REGRESSION: %+33", output) end
  end)

  it_counts("bears with less than a fifth", function()
    expect(1 / 1.18)
    local output, code = guard "--again"
    assert.are.equal(0, code, output)
    assert.has_match("sync[^\n]+ok: %+1[78]", output)
  end)

  it_counts("tells of what got quicker, and passes", function()
    expect(1.5)
    local output, code = guard "--again"
    assert.are.equal(0, code, output)
    assert.has_match("sync[^\n]+%-33.3 %%: the expectation can be tightened", output)
  end)

  it_counts("fails when it does not know what is expected of a phase, or knows one that is not there", function()
    local ratio = found.apply
    found.apply = nil
    expect(1)
    local output, code = guard "--again"
    assert.are.equal(1, code)
    assert.has_match("apply[^\n]+not expected", output)
    found.apply, found.fly = ratio, 1
    expect(1)
    output, code = guard "--again"
    found.fly = nil
    assert.are.equal(1, code)
    assert.has_match('there is no phase "fly"', output, 1, true)
  end)

  it("says what it cannot read", function()
    local output, code = temp.run "bench/guard/run --upgrade"
    assert.are.equal(2, code)
    assert.has_match("what is --upgrade?", output, 1, true)
    if not counts then return end
    temp.write(path, "sync fast\n")
    output, code = guard "--again"
    assert.are.equal(2, code)
    assert.has_match('what is "sync fast"?', output, 1, true)
  end)
end)
