-- spec/support/proc.lua: what every spec of whole runs stands on.
local proc = require "spec.support.proc"
describe("proc", function()
  it("waits for lines and takes the exit code", function()
    local p = proc.spawn { "sh", "-c", "echo a; echo b >&2; read x; echo got $x; exit 3" }
    assert.equal("a", p:wait_line "a")
    assert.equal("b", p:wait_error "b")
    p:write "hello\n"
    assert.equal("hello", p:wait_line "got (.*)")
    assert.equal(3, p:wait(2))
  end)
  it("kills, and raises at a deadline", function()
    local p = proc.spawn { "sleep", "100" }
    assert.is_true(p:rss() > 1000)
    p:kill "TERM"
    assert.equal(143, p:wait(2))
    assert.has_error(function() proc.spawn{"sleep","5"}:wait(0.1) end)
  end)
end)
