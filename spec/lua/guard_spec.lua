-- The guard of the instruction counts finds what takes more of them than it is expected to.
local temp = require "spec.support.temp"

-- Instructions of all objects of a phase, as made up here, and how many objects there were.
local counts = {
  { "reference", 8000000, 100 }, { "sync", 16000000, 100 }, { "apply", 800000, 100 }, { "handler", 6400000, 400 },
  { "keys-reference", 40000000, 10 }, { "keys-update", 60000000, 10 },
}
-- Instructions of an object by them, in those of the reference of its kind.
local ratios = { sync = 2, apply = 0.1, handler = 0.2, ["keys-update"] = 1.5 }

local function ratios_of(path)
  local found = {}
  for name, ratio in temp.read(path):gmatch "([%l-]+) +([%d.]+)\n" do found[name] = tonumber(ratio) end
  return found
end

-- Dumps as callgrind writes them: one before each phase, which does not count, and one at its end.
local function dumps()
  local files, phases = {}, {}
  local function dump(trigger, total)
    files[#files + 1] = ("# callgrind format\ndesc: Trigger: --dump-before=%s_phase.constprop.0\n\ntotals: %d\n")
      :format(trigger, total)
  end
  for i, phase in ipairs(counts) do
    dump("run", 12345)
    dump("report", phase[2])
    phases[i] = ("%s %d\n"):format(phase[1], phase[3])
  end
  local named = { ["phases.txt"] = table.concat(phases) }
  for i, text in ipairs(files) do named["part." .. i] = text end
  return named
end

describe("bench/guard/run", function()
  local folder, expected

  before_each(function()
    folder = temp.folder(dumps())
    expected = folder .. "/expected"
  end)
  after_each(function() temp.remove(folder) end)

  local function guard(flags)
    return temp.run(("bench/guard/run --expected %s %s"):format(expected, flags or "--counts " .. folder))
  end

  -- Each ratio times `factor` is what is expected, but for what `others` has.
  local function expect(factor, others)
    local lines = {}
    for name, ratio in pairs(ratios) do lines[name] = ratio * factor end
    for name, ratio in pairs(others or {}) do lines[name] = ratio or nil end
    local text = {}
    for name, ratio in pairs(lines) do text[#text + 1] = ("%s %.6f\n"):format(name, ratio) end
    temp.write(expected, table.concat(text))
  end

  it("writes down what an object takes, in units of the reference, and passes by it", function()
    local output, code = guard("--update 'a faster\n parse' --counts " .. folder)
    assert.are.equal(0, code, output)
    assert.has_match("\n# Last reason: a faster parse\n", temp.read(expected), 1, true)
    assert.are.same(ratios, ratios_of(expected))
    output, code = guard()
    assert.are.equal(0, code, output)
    assert.has_match("\nreference +80000 +1 +%- +the unit\n", output)
    assert.has_match("\nhandler +16000 +0.2 +0.2 +ok: %+0.0 %%\n", output)
  end)

  it("fails, and names each phase, when they were a quarter less", function()
    expect(0.75)
    local output, code = guard()
    assert.are.equal(1, code)
    for name in pairs(ratios) do assert.has_match(name:gsub("%-", "%%-") .. "[^\n]+REGRESSION: %+33.3 %%", output) end
    assert.has_match("not as [^\n]+expected has it: sync apply handler keys%-update\n", output)
  end)

  it("names only the phase that got slower", function()
    expect(1, { apply = 0.08 })
    local output, code = guard()
    assert.are.equal(1, code)
    assert.has_match("sync[^\n]+ok", output)
    assert.has_match("expected has it: apply\n", output)
  end)

  it("bears with three percent, and not with more", function()
    expect(1 / 1.029)
    local output, code = guard()
    assert.are.equal(0, code, output)
    assert.has_match("sync[^\n]+ok: %+2.9 %%", output)
    expect(1 / 1.031)
    output, code = guard()
    assert.are.equal(1, code, output)
  end)

  it("reports what got quicker, and passes", function()
    expect(1.5)
    local output, code = guard()
    assert.are.equal(0, code, output)
    assert.has_match("sync[^\n]+%-33.3 %%: the expectation can be tightened", output)
  end)

  it("fails when it does not know what is expected of a phase, or knows one that is not there", function()
    expect(1, { apply = false })
    local output, code = guard()
    assert.are.equal(1, code)
    assert.has_match("apply[^\n]+not expected", output)
    expect(1, { fly = 1 })
    output, code = guard()
    assert.are.equal(1, code)
    assert.has_match('there is no phase "fly"', output, 1, true)
  end)

  it("reports what it cannot read", function()
    local function refused(message, flags)
      local output, code = guard(flags)
      assert.are.equal(2, code)
      assert.has_match(message, output, 1, true)
    end
    refused("what is --upgrade?", "--upgrade")
    refused("what is --counts?", "--counts")
    refused("what is --update?", "--update")
    refused("there is no " .. expected)
    temp.write(expected, "sync fast\n")
    refused 'what is "sync fast"?'
    refused("0 phases and 0 counts in /nonexistent", "--counts /nonexistent")
    temp.write(folder .. "/phases.txt", temp.read(folder .. "/phases.txt") .. "select 100\n")
    refused("7 phases and 6 counts in " .. folder)
  end)

  -- AVX2 is looked up here once more: a guard that took every machine for another one would not be noticed.
  it("counts the phases that bench/guard/expected has, or reports that it cannot on this machine", function()
    local output, code = guard "--update found"
    assert.are.equal(0, code, output)
    if not temp.read("/proc/cpuinfo"):find " avx2[ \n]" then
      assert.are.equal("guard: not run: what is expected is known of x86-64 with AVX2 alone\n", output)
      assert.is_nil(io.open(expected))
      return
    end
    local listed = ratios_of "bench/guard/expected"
    for name, ratio in pairs(ratios_of(expected)) do
      assert.is_true(ratio > 0)
      assert.is_truthy(listed[name], name)
      listed[name] = nil
    end
    assert.is_nil(next(listed))
  end)
end)
