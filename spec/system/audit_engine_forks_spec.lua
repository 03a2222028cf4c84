-- `kubelua audit --engine` again and again while every thread of the engine is busy: a child is forked in the middle
-- of whatever the others do, and must not wait for one of them, which is not there in it.
local engine_at_socket = require "spec.support.engine_at_socket"
local proc = require "spec.support.proc"

local preset = os.getenv "KUBELUA_PRESET" or "release"
local AUDITS = preset == "release" and 200 or 40
-- GCC 12's ASan does not take its allocator's locks at a fork, as glibc does: a child may wait for one for ever.
local test = preset == "asan" and pending or it

-- The engine thread writes and says something all the time; requests wait for --kube-api-qps, of which the I/O thread
-- says a word each time.
local BUSY = [[
local k8s = require "k8s"
k8s.writes { "configmaps:apply" }
k8s.informer "pods"
k8s.informer "configmaps"
local n = 0
for i = 1, 8 do
  k8s.every("10ms", function()
    for _ = 1, 20 do
      n = n + 1
      print(os.date("%c"), n, k8s.sha256(tostring(n)))
      k8s.log.info("busy", { n = n })
    end
    k8s.apply({ kind = "configmaps", namespace = "default", name = "busy-" .. i }, { data = { n = tostring(n) } })
  end)
end
k8s.command("ticks", function() return n end)
k8s.main(function() print "ready" end)
]]

-- What takes locks of libraries, at loading and for each object.
local RULE = [[
local k8s = require "k8s"
local digest = k8s.sha256(os.date("%c"))
k8s.rule {
  id = "all", title = "what may hang", severity = "high", kinds = { "pods" },
  uses = { maps = { kind = "configmaps", index = "namespace" } },
  check = function(pod, r, use)
    local at = os.time { year = 2026, month = 1, day = 1 }
    if os.date("%c", at) == k8s.sha256(pod.metadata.name) then r:fail(digest .. #use.maps("default")) end
    if pod.metadata.uid == nil then print(os.date("!%c"), k8s.json.encode(pod)) end
  end,
}
]]

describe("audits of a busy engine", function()
  local at

  before_each(function() at = engine_at_socket.new(BUSY, { "--pods", "20" }) end)
  after_each(function() at:close() end)

  test("none of which hangs", function()
    local engine = at:start { "-v", "3", "--kube-api-qps", "200", "--kube-api-burst", "1",
      "--metrics-bind-address", "127.0.0.1:0" }
    local metrics = engine:wait_error 'Serving metrics" address="([^"]+)"'
    local scrape = proc.spawn { "sh", "-c", ("while curl -s -o /dev/null %s/metrics; do :; done"):format(metrics) }
    local rule = at:write("rule.lua", RULE)
    for i = 1, AUDITS do
      local p = at:begin_audit("-f", rule, "--timeout", "20s")
      local code = p:wait(60)
      assert.are.equal(0, code, ("audit %d: %s"):format(i, p:err()))
      engine:pump(proc.now()) -- what it says is read, so that its threads go on writing
    end
    scrape:kill "KILL"
    scrape:wait()
    at:goes_on()
  end)
end)
