-- spec/support/tally judges what jobs leave behind: nothing that went wrong may look like success.
local temp = require "spec.support.temp"

-- A suite's folder with one job.
local function tally(tap, code, more)
  local files = { ["units/a.tap"] = tap, ["units/a.err"] = "a word on stderr\n", ["units/a.rc"] = code .. "\n" }
  for path, text in pairs(more or {}) do files["units/" .. path] = text end
  local folder = temp.folder(files)
  local suite = temp.run("spec/support/tally suite " .. folder .. "/units")
  local total, exit = temp.run("spec/support/tally total " .. folder .. "/units")
  temp.remove(folder)
  return suite, total, exit
end

local function fails(total, finding, ...)
  local suite, sum, exit = tally(...)
  assert.are.equal(total .. "\n", sum)
  assert.are.equal(1, exit)
  assert.has_match(finding, suite, 1, true)
  return suite
end

describe("tally", function()
  it("counts busted's and cmocka's TAP", function()
    local suite, total, exit = tally("1..2\nnoise\nok 1 - test_a\nnot ok 2 # SKIP test_s\n", 0)
    assert.are.equal("units               1 passed, 0 failed, 1 skipped\n", suite)
    assert.are.equal("1 passed, 0 failed, 1 skipped\n", total)
    assert.are.equal(0, exit)
    total = select(2, tally("ok 1 - a\nok 2 - b\nok 3 - # SKIP c\n1..3\n", 0))
    assert.are.equal("2 passed, 0 failed, 1 skipped\n", total)
  end)

  it("reports how long a suite took, and its longest job", function()
    local suite = tally("1..1\nok 1 - test_a\n", 0, { seconds = "12\n", ["a.seconds"] = "7\n" })
    assert.are.equal("units               1 passed, 0 failed, 0 skipped in 12 s; longest a, 7 s\n", suite)
    suite = tally("1..1\nok 1 - test_a\n", 0, { ["a.seconds"] = "7\n", ["a.cpu"] = "3.5\n" })
    assert.are.equal("units               1 passed, 0 failed, 0 skipped; 3 s of CPU time, longest a, 7 s\n", suite)
  end)

  it("shows a failed test with its output", function()
    local suite = fails("1 passed, 1 failed, 0 skipped", "FAILED a: test_b\n    # 0x1 != 0x2\n    # a.c:8",
      "1..2\nok 1 - test_a\nnot ok 2 - test_b\n# 0x1 != 0x2\n# a.c:8: error: Failure!\n", 1)
    assert.has_match("a word on stderr", suite, 1, true)
  end)

  it("takes a crash for a failure", function()
    fails("1 passed, 1 failed, 0 skipped", "a: 3 tests planned, 1 seen, exit code 139", "1..3\nok 1 - a\n", 139)
  end)

  it("takes output without a plan for a failure", function()
    fails("0 passed, 1 failed, 0 skipped", "a: no plan, exit code 0", "", 0)
    fails("1 passed, 1 failed, 0 skipped", "a: no plan, exit code 1", "ok 1 - a\n", 1)
  end)

  it("takes a bad exit code after passed tests for a failure", function()
    fails("1 passed, 1 failed, 0 skipped", "the exit code is 23", "1..1\nok 1 - a\n", 23)
  end)

  it("takes a job that never ran for a failure", function()
    local tap, jobs = "1..1\nok 1 - a\n", "a build/units/a\nb env X=1 build/units/b\n"
    fails("1 passed, 1 failed, 0 skipped", "FAILED b: it never ran\n", tap, 0, { ["../units.jobs"] = jobs })
    assert.are.equal(0, select(3, tally(tap, 0, { ["../units.jobs"] = "a build/units/a\n" })))
  end)

  it("takes a job that left no exit code for a failure", function()
    fails("1 passed, 1 failed, 0 skipped", "the exit code is -1", "1..1\nok 1 - a\n", "")
  end)

  it("takes a sanitizer's report for a failure", function()
    fails("1 passed, 1 failed, 0 skipped", "sanitizer report sanitizer.42\n    ERROR: leak", "1..1\nok 1 - a\n", 0,
      { ["sanitizer.42"] = "ERROR: leak\n" })
  end)

  it("takes a suite without tests for a failure", function()
    fails("0 passed, 1 failed, 0 skipped", "FAILED the suite has no tests", "1..0\n", 0)
  end)

  it("takes a suite that could not be built for a failure", function()
    fails("1 passed, 1 failed, 0 skipped", "could not be prepared\n    no compiler", "1..1\nok 1 - a\n", 0,
      { ["prepare.rc"] = "1", ["prepare.err"] = "no compiler\n" })
  end)

  it("names jobs that may run again: failed tests, but no crash, no sanitizer's report, and not many", function()
    local function again(files)
      local folder = temp.folder(files)
      local jobs = temp.run("spec/support/tally again " .. folder .. "/s")
      temp.remove(folder)
      return jobs
    end
    local bad = "1..1\nnot ok 1 - b\n"
    local files = { ["s/a.rc"] = "1", ["s/a.tap"] = bad, ["s/b.rc"] = "0", ["s/b.tap"] = "1..1\nok 1 - b\n" }
    assert.are.equal("a\n", again(files))
    files["s/c.rc"], files["s/c.tap"] = "139", "1..2\nok 1 - c\n"
    assert.are.equal("a\n", again(files))
    files["s/d.rc"], files["s/d.tap"], files["s/d.err"] = "1", bad, "x.c:1: runtime error: overflow\n"
    assert.are.equal("a\n", again(files))
    for name in ("efg"):gmatch "." do files["s/" .. name .. ".rc"], files["s/" .. name .. ".tap"] = "1", bad end
    assert.are.equal("", again(files))
    files = { ["s/a.rc"] = "1", ["s/a.tap"] = bad, ["s/sanitizer.7"] = "leak" }
    assert.are.equal("", again(files))
  end)
end)
