-- k8s.regex in the whole binary: the CPU time of a call ends its searches, and check reads its patterns.
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"

describe("k8s.regex", function()
  after_each(cluster.stop_all)

  it("ends with the CPU time of its call, whatever pcall is around", function()
    local sim = cluster.sim()
    local p = cluster.kubelua { "exec", "-s", sim.server, "--limit", "main-cpu=50ms", cluster.script [[
      local k8s = require "k8s"
      local slow = k8s.regex "(a+)+$"
      k8s.main(function()
        for _ = 1, 10000 do pcall(slow.match, slow, string.rep("a", 40) .. "b") end
      end)
    ]] }
    assert.are.equal(3, p:wait(60), p:report())
    assert.has_match("over the limit main-cpu (50ms)", p:err(), 1, true)
  end)
end)

describe("kubelua check", function()
  it("reports patterns that are wrong, also in functions", function()
    local place = checks.new()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.main(function()
  print(k8s.regex "a(":match "a", k8s.regex "a(b)":match "ab")
end)
]])
    local code, out = place:run("-f", place.path)
    assert.are.equal(1, code)
    assert.are.equal("a.lua:3: error: k8s.regex: missing closing parenthesis at offset 2\n", out)
    place:remove()
  end)
end)
