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
end)
