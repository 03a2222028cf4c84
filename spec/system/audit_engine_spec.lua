-- `kubelua audit --engine`: rules asked about the caches of a running engine, by children that it forks; whatever
-- becomes of these, the engine goes on.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local keys = require "spec.support.keys"
local temp = require "spec.support.temp"
local unix = require "spec.support.unix"

local preset = os.getenv "KUBELUA_PRESET" or "release"
local sanitized = preset ~= "release"

local ENGINE = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
k8s.informer "configmaps"
k8s.informer("services", { fields = { "spec" } })
local ticks, seen = 0, 0
pods:on_update(function() seen = seen + 1 end)
k8s.every("10ms", function() ticks = ticks + 1 end)
k8s.command("ticks", function() return ticks end)
k8s.command("seen", function() return seen end)
k8s.rule {
  id = "own", title = "of the engine", severity = "high", kinds = { "pods" },
  check = function(obj, r) if obj.metadata.name == "bad" then r:fail("is bad") end end,
}
k8s.main(function() print "ready" end)
]]

local function rule(id, check, more)
  return ([[
local k8s = require "k8s"
k8s.rule { id = "%s", title = "a title", severity = "high", kinds = { "pods" }, %s
  check = function(obj, r, use, params) %s end }
]]):format(id, more or "", check)
end

local NAMED = rule("named",
  [[if obj.metadata.name:match("^bad") then r:fail("is bad", { path = "metadata.name" }) end]])

local function pod(name)
  return { apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default" },
    spec = { containers = { { name = "c", image = "app" } } } }
end

local function map(name, data)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
end

describe("kubelua audit --engine", function()
  local at, folder, sim, engine, socket

  before_each(function()
    at = engine_at_socket.new(ENGINE, { "--pods", "300" })
    folder, sim, socket = at.folder, at.sim, at.socket
  end)
  after_each(function() at:close() end)

  local function write(name, text) return at:write(name, text) end

  local function create(object)
    sim.api:create(("/api/v1/namespaces/default/%ss"):format(object.kind:lower()), object)
  end

  local function start() engine = at:start() end

  local function begin(...) return at:begin_audit(...) end

  -- Exit code, report and what was said.
  local function audit(...)
    local p = begin("-o", "json", ...)
    local code = p:wait(60)
    return code, p:out() ~= "" and cjson.decode(p:out()) or nil, p:err()
  end

  local function goes_on() at:goes_on() end

  local function children()
    local p = assert(io.popen("pgrep -P " .. engine.pid .. " -x kubelua-audit"))
    local pids = {}
    for pid in p:lines() do pids[#pids + 1] = tonumber(pid) end
    p:close()
    return pids
  end

  local function until_children(count)
    return await(function()
      local pids = children()
      return #pids == count and pids
    end, count .. " children")
  end

  -- One that has ended and that nobody has waited for is a zombie.
  local function alive(pid)
    local file = io.open("/proc/" .. pid .. "/stat")
    local is_alive = file and not file:read("*a"):match "%) Z"
    if file then file:close() end
    return is_alive
  end

  -- The 19th field, counted behind the name.
  local function nice(pid)
    local file = assert(io.open("/proc/" .. pid .. "/stat"))
    local value = file:read("*a"):match("%) " .. ("%S+ "):rep(16) .. "(%-?%d+)")
    file:close()
    return tonumber(value)
  end

  it("prints what rules print, without orders to the terminal", function()
    create(pod "bad-one")
    start()
    local code, _, err = audit("-f",
      write("loud.lua", rule("loud", [[if obj.metadata.name == "bad-one" then print "a\27[2Jb" end]])))
    assert.equal(0, code, err)
    assert.matches("a\u{FFFD}[2Jb\n", err, 1, true)
    assert.not_matches("\27", err, 1, true)
  end)

  it("lists and explains the rules of the engine's scripts", function()
    start()
    local p = begin("--explain", "own")
    assert.equal(0, p:wait(60), p:err())
    assert.matches("^own: of the engine\n\nSeverity:   high\nKinds:      pods\nFile:       .-watch.lua:10\n\nTo acc",
      p:out())
    p = begin("--list-rules", "-o", "json")
    assert.equal(0, p:wait(60), p:err())
    local own = { id = "own", title = "of the engine", severity = "high", category = "" }
    assert.are.same({ own }, cjson.decode(p:out()))
    p = begin("--explain", "won")
    assert.equal(2, p:wait(60))
    assert.equal('kubelua audit: no rule "won", did you mean "own"?\n', p:err())
  end)

  it("reports the findings of rules, whichever child evaluates the object", function()
    create(pod "bad-1")
    create(pod "bad-2")
    start()
    for _, count in ipairs { "1", "3" } do
      local code, report, err = audit("-f", write("rules.lua", NAMED), "--children", count)
      assert.are.equal(1, code, err)
      local row = report.results[1]
      row.uid = nil
      assert.are.same({ rule = "named", severity = "high", result = "fail", apiVersion = "v1",
        kind = "Pod", namespace = "default", name = "bad-1", message = "is bad", path = "metadata.name",
        fingerprint = row.fingerprint }, row)
      assert.matches("^%x+$", row.fingerprint)
      assert.are.same({ 2, 302, 300, "bad-2" },
        { #report.results, report.summary.objects, report.summary.results.pass, report.results[2].name })
      assert.matches("302 objects by " .. count .. " child%l*; the engine paused for [%d.]+ ms", err)
    end
  end)

  it("evaluates the rules of the engine's own scripts without -f", function()
    create(pod "bad")
    start()
    local code, report = audit()
    assert.are.same({ 1, 1, "own", "bad" }, { code, #report.results, report.results[1].rule, report.results[1].name })
  end)

  it("lets rules use other kinds, take parameters and require modules, none of which the engine has on disk", function()
    create(map("known", { team = "red" }))
    create(pod "bad")
    start()
    temp.remove(folder .. "/watch.lua")
    write("helper.lua", "return { team = function(map) return map.data.team end }")
    local text = rule("team", [[
      if obj.metadata.name ~= params.name then return end
      for _, map in ipairs(use.maps("default")) do r:fail(require("helper").team(map)) end]],
      [[uses = { maps = { kind = "configmaps", index = "namespace" } }, params = { name = "none" },]])
    local code, report, err = audit("-f", write("rules.lua", 'require "helper"\n' .. text), "--param", "name=bad")
    assert.are.equal(1, code, err)
    assert.are.same({ 1, 1, "red" }, { code, #report.results, report.results[1].message }, err)
  end)

  it("names kinds that the engine has no complete cache of, and is incomplete then", function()
    start()
    write("rules.lua", NAMED)
    write("secrets.lua", rule("secret", "", ""):gsub('"pods"', '"secrets"'))
    local code, report, err = audit("-f", folder .. "/rules.lua", "-f", folder .. "/secrets.lua")
    assert.are.same({ 3, 300 }, { code, report.summary.objects })
    assert.are.same({ {
      rule = "secret", reason = "the engine does not have all objects of secrets, which the rule checks" } },
      report.summary.notAsked)
    assert.matches("kubelua audit: secrets: the engine has no cache for it; not evaluated, or not for this kind: "
      .. "secret\n", err)
    local uses = rule("svc", [[r:fail "x"]], [[uses = { svc = { kind = "services" } },]])
    code, report, err = audit("-f", write("uses.lua", uses))
    assert.are.same({ 3, 0 }, { code, #report.results })
    assert.matches("services: the engine's cache is filtered or contains partial objects; .*: svc\n", err)
  end)

  it("names many kinds that the engine has no cache of in one line", function()
    start()
    local kinds = '"pods", "secrets", "nodes", "events", "endpoints", "limitranges"'
    local code, _, err = audit("-f", write("many.lua", (rule("many", "", ""):gsub('"pods"', kinds))))
    assert.are.equal(3, code)
    assert.matches("kubelua audit: secrets: [^\n]*: many\n.*limitranges: [^\n]*: many\n", err)
    code, _, err = audit("-f", write("many.lua", (rule("many", "", ""):gsub('"pods"', kinds .. ', "resourcequotas"'))))
    assert.are.equal(3, code)
    assert.has_match("kubelua audit: 6 kinds, each: the engine has no cache for it; rules about them are not "
      .. "evaluated, or not for these kinds: secrets, nodes, events, endpoints, limitranges, resourcequotas\n", err)
    assert.is_nil(err:find "many")
  end)

  local LOOP = rule("loop", [[if obj.metadata.namespace then while true do end end]])

  it("ends a child by --timeout; the engine does not notice", function()
    start()
    local p = begin("-f", write("loop.lua", LOOP), "--handler-cpu", "10s", "--timeout", "1s")
    goes_on()
    assert.are.equal(3, p:wait(60))
    assert.matches("child %d+ %(1 of %d+%) exceeded %-%-timeout %(1s%): the result is incomplete\n", p:err())
    goes_on()
  end)

  it("ends a rule that loops by its limit; the engine does not notice", function()
    if preset == "tsan" then pending "ThreadSanitizer keeps back the signals by which a call's CPU is watched" end
    start()
    local loop = write("loop.lua", LOOP)
    local code, report = audit("-f", loop, "--handler-cpu", "1ms")
    assert.are.same({ 3, 300 }, { code, report.summary.results.error })
    assert.matches("over the limit handler%-cpu", report.results[1].message)
    goes_on()
  end)

  it("ends a child that needs too much memory, and a rule that does", function()
    start()
    local bomb = write("bomb.lua", rule("bomb", [[local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e4) .. i end]]))
    local code, report = audit("-f", bomb, "--script-memory", "4Mi", "--handler-cpu", "5s")
    assert.are.same({ 3, 300 }, { code, report.summary.results.error })
    assert.matches("over the limit script%-memory", report.results[1].message)
    if sanitized then return end -- their allocators go on where the system refuses
    local p = begin("-f", bomb, "--script-memory", "4Gi", "--handler-cpu", "50s", "--child-memory", "64Mi")
    assert.are.equal(3, p:wait(60))
    assert.matches("result is incomplete", p:err())
    goes_on()
  end)

  describe("while a rule loops", function()
    local p

    before_each(function()
      start()
      p = begin("-f", write("loop.lua", rule("loop", "while true do end")), "--handler-cpu", "60s", "--children", "2")
      until_children(2)
    end)

    it("yields to the engine, as far as --nice says", function()
      for _, pid in ipairs(until_children(2)) do assert.are.equal(10, nice(pid)) end
      p:kill "KILL"
      until_children(0)
      p = begin("-f", folder .. "/loop.lua", "--handler-cpu", "60s", "--children", "1", "--nice", "0")
      local pid = until_children(1)[1]
      await(function() return nice(pid) == 0 end, "a child that is not nice")
    end)

    it("reports which child was killed, and the findings of the others", function()
      local pids = until_children(2)
      os.execute("kill -9 " .. pids[1])
      os.execute("kill -9 " .. pids[2])
      assert.are.equal(3, p:wait(60))
      assert.matches("child " .. pids[1] .. " %(%d of 2%) was killed by SIGKILL: the result is incomplete\n", p:err())
      engine:wait_error "Audit child process was killed, the result is incomplete"
      goes_on()
      assert.are.equal(0, (audit("-f", write("rules.lua", NAMED))))
    end)

    it("kills the children when the audit is killed", function()
      p:kill "KILL"
      until_children(0)
      assert.are.equal(0, (audit("-f", write("rules.lua", NAMED))))
    end)

    it("refuses another audit, and names whose the first is", function()
      local code, _, err = audit("-f", write("rules.lua", NAMED))
      assert.are.equal(2, code)
      assert.matches("another audit is running (client pid " .. p.pid .. "); only one is allowed at a time\n", err, 1,
        true)
    end)

    it("ends with the engine", function()
      local pids = until_children(2)
      assert.are.equal(0, cluster.terminate(engine))
      assert.are.equal(3, p:wait(60))
      for _, pid in ipairs(pids) do assert.is_falsy(alive(pid)) end
    end)

    it("does not outlive an engine that was killed", function()
      local pids = until_children(2)
      engine:kill "KILL"
      for _, pid in ipairs(pids) do
        await(function() return not alive(pid) end, "the child " .. pid .. " ends")
      end
    end)
  end)

  it("waits for no order that does not come, and lets the next audit begin", function()
    start()
    local session = unix.connect(socket)
    session:write '{"v":1,"method":"audit","params":{"children":1}}\n'
    assert.matches('"server"', session:line())
    assert.matches("no audit request received within 5 s", session:line())
    assert.is_nil(session:line())
    session:close()
    assert.are.equal(0, (audit("-f", write("rules.lua", NAMED))))
  end)

  -- Whatever becomes of an audit: events reach their handlers, the lease stays where it is and is renewed, and the
  -- status knows of no error.
  it("leaves the engine alone when a child is killed, or a rule loops for ever", function()
    engine = at:start { "--leader-elect", "--leader-elect-lease-duration", "2s", "--leader-elect-renew-deadline", "1s",
      "--leader-elect-retry-period", "200ms", "--leader-elect-resource-name", "audited" }
    create(pod "one")
    local function lease() return sim.api:get "/apis/coordination.k8s.io/v1/namespaces/default/leases/audited".spec end
    local function is_untouched(round)
      local seen, renewed = tonumber(at:ask("call", "seen")), lease().renewTime
      sim.api:patch("/api/v1/namespaces/default/pods/one", { metadata = { labels = { round = tostring(round) } } })
      await(function() return tonumber(at:ask("call", "seen")) == seen + 1 end, "the update is handled, once")
      await(function() return lease().renewTime > renewed end, "the lease is renewed")
      goes_on()
      local status = cjson.decode(at:ask("status", "-o", "json"))
      local script, process = status.scripts[1], status.engine
      assert.are.same({ true, "", 0, 0 }, { process.ready, process.lagging, script.errors, #script.quarantined })
      return { process.pid, lease().holderIdentity, lease().leaseTransitions, script.generation }
    end
    local before = is_untouched(0)
    local loop = write("loop.lua", rule("loop", "while true do end"))
    local p = begin("-f", loop, "--handler-cpu", "60s", "--children", "2")
    local pids = until_children(2)
    assert.are.same(before, is_untouched(1))
    os.execute("kill -9 " .. pids[1])
    assert.are.same(before, is_untouched(2))
    os.execute("kill -SEGV " .. pids[2])
    assert.are.equal(3, p:wait(60))
    assert.are.same(before, is_untouched(3))
    p = begin("-f", loop, "--handler-cpu", "60s", "--timeout", "1s")
    assert.are.equal(3, p:wait(60))
    assert.are.same(before, is_untouched(4))
    assert.are.equal(0, #children())
    assert.are.equal(0, (audit("-f", write("rules.lua", NAMED))))
  end)

  it("goes on to handle events during an audit", function()
    start()
    local loop = write("loop.lua", rule("loop", "while true do end"))
    local p = begin("-f", loop, "--handler-cpu", "60s", "--children", "2")
    until_children(2)
    create(pod "one")
    sim.api:patch("/api/v1/namespaces/default/pods/one", { metadata = { labels = { a = "b" } } })
    await(function() return tonumber(at:ask("call", "seen")) > 0 end, "an update is handled")
    assert.are.equal(2, #children())
    p:kill "KILL"
  end)

  it("shows on a terminal how far it is, and takes that away", function()
    start()
    local slow = write("slow.lua", rule("slow", "local t = os.clock() while os.clock() < t + 0.004 do end"))
    local p = keys.open(("%s audit --engine --admin-socket %s -f %s --children 1 -o json >%s/out.json")
      :format(cluster.binary, socket, slow, folder), { TERM = "xterm" })
    p.sees "Auditing %[#+%-+%] %d+ %%, %d+ of 300 objects, %d+/s, %d+ s left"
    p.sees("300 objects by 1 child", 60)
    keys.stop_all()
  end)

  it("refuses what makes no sense", function()
    for args, message in pairs {
      [{ "--from", "x.json" }] = "%-%-engine and %-%-from are mutually exclusive",
      [{ "--context", "prod" }] = "%-%-context cannot be combined with %-%-engine",
      [{ "-s", "http://127.0.0.1:1" }] = "%-%-server cannot be combined with %-%-engine",
      [{ "-f", folder .. "/none.lua" }] = "none.lua",
      [{ "-f", write("broken.lua", "x =") }] = "broken.lua:1: unexpected symbol",
      [{ "-f", write("empty.lua", "") }] = "none of the scripts has a rule",
      [{ "-f", write("rules.lua", NAMED) }] = "no engine is listening on",
      [{ "-f", folder .. "/rules.lua", "--nice", "20" }] = "%-%-nice must be at most 19, not 20",
      [{ "-f", folder .. "/rules.lua", "--timeout", "10001h" }] = "%-%-timeout must be at most 10000h, or 0 for none",
    } do
      local code, _, err = audit(unpack(args))
      assert.are.equal(2, code)
      assert.matches(message, err)
    end
  end)
end)
