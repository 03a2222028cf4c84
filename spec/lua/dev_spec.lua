-- ./dev, the workshop: what it says when it is asked for something that is not there.
local temp = require "spec.support.temp"

describe("./dev", function()
  it("names the presets when there is none of a name", function()
    local output, code = temp.run "./dev build nope"
    assert.are.equal(2, code)
    assert.are.equal('./dev: there is no preset "nope"; there are: asan fuzz release tsan\n', output)
  end)

  it("shows how far a build is on one line of a terminal, and elsewhere what is wrong alone", function()
    local folder = temp.folder { cmake = [=[
#!/bin/sh
[ "$1" = --build ] || exit 0
printf '[1/2] Building a.o\na.c:1: warning: odd\n[2/2] Linking kubelua\n'
[ ! -e "$0.fails" ] || { echo 'FAILED: kubelua'; exit 1; }
]=] }
    finally(function() temp.remove(folder) end)
    local build = ("PATH=%s:$PATH ./dev build release"):format(folder)
    temp.run("chmod +x " .. folder .. "/cmake")
    local output, code = temp.run(build)
    assert.are.equal("a.c:1: warning: odd\nThe binary is build/release/kubelua.\n", output)
    assert.are.equal(0, code)
    local back = "\r\27[K"
    local shown = temp.run(("script -qec '%s' /dev/null </dev/null"):format(build))
    assert.are.equal(table.concat({
      "", "[1/2] Building a.o", "a.c:1: warning: odd\r\n", "[2/2] Linking kubelua",
      "The binary is build/release/kubelua.\r\n",
    }, back), shown)
    temp.write(folder .. "/cmake.fails", "")
    output, code = temp.run(build)
    assert.are.equal("a.c:1: warning: odd\nFAILED: kubelua\n", output)
    assert.are.equal(1, code)
  end)

  it("names its verbs' help when there is no such verb", function()
    local output, code = temp.run "./dev nope"
    assert.are.equal(2, code)
    assert.are.equal('./dev: there is no verb "nope"; ./dev help lists them\n', output)
  end)

  it("runs one unit or one spec file, and shows its output", function()
    local output, code = temp.run "./dev test base_size_spec"
    assert.has_match("%[  PASSED  %]", output)
    assert.are.equal(0, code)
    output, code = temp.run "./dev test size_spec.c"
    assert.has_match("%[  PASSED  %]", output)
    assert.are.equal(0, code)
  end)

  it("tests a change before a commit, and fails where one check does", function()
    local folder = temp.folder()
    local quick = "cd " .. folder .. "/clone && ./dev quick"
    assert.are.equal(0, select(2, temp.run("git clone -q . " .. folder .. "/clone")))
    temp.write(folder .. "/clone/scripts/added.lua", "local unused = 1\n")
    local output, code = temp.run(quick)
    temp.remove(folder)
    assert.has_match("lint       FAILED", output, 1, true)
    assert.has_match("unused variable", output)
    assert.are.equal(1, code)
  end)

  it("names what is near when there is no test of a name", function()
    local output, code = temp.run "./dev test base_siz"
    assert.are.equal(2, code)
    assert.has_match('no suite, unit or spec file is called "base_siz"; there are: base_size_spec\n', output, 1, true)
  end)

  it("lists the long proofs", function()
    local output, code = temp.run "./dev prove nope"
    assert.are.equal(2, code)
    assert.has_match('there is no proof "nope"; there are:\n', output, 1, true)
    assert.has_match("\n  reloads   100 reloads", output, 1, true)
  end)
end)
