-- What an engine does for others while children of an audit take both cores: events reach their handlers, and the lease
-- is renewed when it is due.
local cjson = require "cjson"
local engine_at_socket = require "spec.support.engine_at_socket"
local proc = require "spec.support.proc"

local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"
local PODS = sanitized and 3000 or 100000
local SECONDS = 6 -- of audits, one after the other
local UPDATES = 100 -- a second
local P99_MS = 100
local RETRY_S = 0.5
local LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/audited"
local LATE_S = sanitized and 1.5 or 0.5

-- The simulator writes down when it touched a pod.
local ENGINE = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
local late = {}
pods:on_update(function(_, pod)
  late[#late + 1] = k8s.now() * 1e3 - tonumber(pod:annotation "bench/sent-ns") / 1e6
end)
k8s.command("late", function()
  local sorted = late
  late = {}
  table.sort(sorted)
  return { count = #sorted, p99 = sorted[math.ceil(#sorted * 0.99)] or 0, max = sorted[#sorted] or 0 }
end)
k8s.main(function() print "ready" end)
]]

local RULE = [[
k8s.rule {
  id = "rule-%d", title = "limits", severity = "low", kinds = { "pods" },
  check = function(pod, r)
    for _, container in ipairs(pod.spec.containers) do
      if container.name == "none" or pod.metadata.labels["rule-%d"] then r:fail "found" end
    end
  end,
}
]]

local function epoch(time)
  local y, mo, d, h, m, s = time:match "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)Z$"
  return os.time { year = y, month = mo, day = d, hour = h, min = m, sec = 0 } + tonumber(s)
end

describe("an engine under audits", function()
  local at

  before_each(function() at = engine_at_socket.new(ENGINE, { "--pods", tostring(PODS) }) end)
  after_each(function() at:close() end)

  it("handles events at once, and keeps its lease", function()
    at:start { "--leader-elect", "--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s",
      "--leader-elect-retry-period", RETRY_S .. "s", "--leader-elect-resource-name", "audited" }
    local rules = { 'local k8s = require "k8s"\n' }
    for i = 1, 10 do rules[#rules + 1] = RULE:format(i, i) end
    local file = at:write("rules.lua", table.concat(rules))
    local function lease() return at.sim.api:get(LEASE).spec end
      local function late() return cjson.decode(at:ask("call", "-o", "json", "late")) end

    local pod = at.sim.api:get("/api/v1/pods?limit=1").items[1].metadata
    at.sim.api:patch(("/api/v1/namespaces/%s/pods/%s"):format(pod.namespace, pod.name),
      { metadata = { annotations = { ["bench/sent-ns"] = ("0"):rep(19) } } })
    at.sim:play { ["do"] = "touch", resource = "pods", namespace = pod.namespace, name = pod.name,
      every = ("%dms"):format(1000 / UPDATES) }
    late() -- what was before
    local audits, last, worst = 0, epoch(lease().renewTime), 0
    local begun = proc.now()
    while proc.now() < begun + SECONDS do
      local p = at:begin_audit("-f", file, "-o", "json", "--children", "2")
      while not p.exit_code do
        p:pump(proc.now() + 0.05)
        local renewed = epoch(lease().renewTime)
        worst, last = math.max(worst, renewed - last), renewed
        if not (p.streams.out.fd or p.streams.err.fd) then p:wait(60) end
      end
      assert.are.equal(0, p.exit_code, p:err())
      audits = audits + 1
    end
    local seen = late()
    local text = ("%d audits: %d updates, p99 %.1f ms, max %.1f ms; the lease was renewed after %.2f s at most")
      :format(audits, seen.count, seen.p99, seen.max, worst)
    if os.getenv "KUBELUA_TELL" then print(text) end
    assert.is_true(seen.count > UPDATES * SECONDS / 2, text)
    assert.is_true(worst > 0 and worst < RETRY_S * 2 + LATE_S, text)
    assert.are.equal(0, lease().leaseTransitions, text)
    if not sanitized then assert.is_true(seen.p99 < P99_MS, text) end
  end)
end)
