-- `kubelua repl --engine`: a prompt on the caches of a running engine, which goes on whatever is typed there.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local keys = require "spec.support.keys"
local temp = require "spec.support.temp"
local unix = require "spec.support.unix"

local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"

local SCRIPT = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
local ticks = 0
k8s.every("10ms", function() ticks = ticks + 1 end)
k8s.command("ticks", function() return ticks end)
k8s.informer("services", { namespace = "default" })
k8s.informer("services", { namespace = "other" })
k8s.informer("configmaps", { transform = function(map) return map end })
k8s.main(function() print "ready" end)
]]

describe("kubelua repl --engine #threads", function()
  local at, folder, sim, engine, socket

  before_each(function()
    at = engine_at_socket.new(SCRIPT, { "--pods", "30" })
    folder, sim, socket = at.folder, at.sim, at.socket
  end)
  after_each(function()
    keys.stop_all()
    at:close()
  end)

  local function start(args) engine = at:start(args) end

  local function prompt() return cluster.kubelua { "repl", "--engine", "--admin-socket", socket } end

  local function lines(text)
    local p = prompt()
    p:write(text)
    p:close_input()
    local code = p:wait()
    return p:out(), p:err(), code
  end

  local function terminal()
    local p = keys.open(("%s repl --engine --admin-socket %s"):format(cluster.binary, socket),
      { XDG_STATE_HOME = folder, NO_COLOR = "1" })
    p.sees "caches of the engine %d+%. Type help"
    p.sees "kubelua> "
    return p
  end

  local function ticks() return at:ticks() end

  local function prompts()
    return cjson.decode(at:ask("status", "-o", "json")).prompts
  end

  local function until_prompts(count)
    for _ = 1, 400 do
      if #prompts() == count then return end
    end
    error(("%d prompts instead of %d"):format(#prompts(), count))
  end

  it("reads what the engine's scripts have in their caches, and follows the cluster", function()
    start()
    local p = prompt()
    p:write "caches\n"
    p:wait_line "^pods +30$"
    p:wait_line "^services in default +0$"
    p:write "pods:count()\n"
    p:wait_line "^30$"
    local name = sim.api:get("/api/v1/pods").items[1].metadata
    sim.api:delete(("/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0"):format(name.namespace, name.name))
    p:write "while pods:count() == 30 do k8s.sleep '5ms' end print 'one less'\n"
    p:wait_line "^one less$"
    p:write 'pods:query():group("status.phase"):count()\n'
    p:wait_line "^%- count: 29$"
    p:write 'kind "services in other"\n'
    p:wait_line "^# no services in other$"
    p:write '#k8s.list("pods")\nx = 7\nx * 6\n'
    p:wait_line "^29$"
    p:wait_line "^42$"
    p:close_input()
    assert.equal(0, p:wait())
    assert.equal("", p:err())
  end)

  it("watches a cache, and merges what nobody takes", function()
    start()
    -- A small one: each of its 1,500 changes is checked, merged and stored by the simulator.
    local name = sim.api:create("/api/v1/namespaces/default/pods", {
      metadata = { name = "small", labels = { app = "small" } },
      spec = { containers = { { name = "main", image = "main:1" } } },
    }).metadata
    local key = name.namespace .. "/" .. name.name
    local p = prompt()
    p:write(('w, key = pods:watch(pods:query():namespace(%q)), %q print "watching"\n'):format(name.namespace, key))
    p:wait_line "^watching$"
    sim:play { ["do"] = "label", resource = "pods", namespace = name.namespace, name = name.name, every = "1ms",
      count = 1500, labels = { round = "${n}" } }
    p:write "function round(o) return tonumber(o.metadata.labels.round or 0) end\n"
    p:write "last = 0 while round(pods[key]) < 1499 do k8s.sleep '10ms' end\n"
    p:write "n = 0 for e, o in w, 'now' do n = n + 1 last = round(o) end print(n <= 1002, n > 500, last >= 1499)\n"
    p:wait_line "^true\ttrue\ttrue$"
    p:write "for event, object in pods:watch() do print(event, object:name()) break end\n"
    p:write "for event, object in w do print 'the watch before' break end\n" -- there is one at a time
    until_prompts(1)
    sim:play { ["do"] = "touch", resource = "pods", namespace = name.namespace, name = name.name, every = "10ms" }
    p:wait_line("^update\t")
    p:wait_line "^the watch before$"
    p:close_input()
    assert.equal(0, p:wait())
    assert.equal("", p:err())
  end)

  it("makes no cache of its own, and reports which there are", function()
    start()
    local _, err, code = lines 'deploy\nservices\nconfigmaps\nkind "pds"\npodz\nnothing.there\nk8s.patch{}\n'
    assert.equal([[
repl:1: deployments.apps: the engine has no cache of this kind; use k8s.list("deployments.apps") to query the server
repl:1: services: the engine has 2 caches of this kind: kind "services in default", kind "services in other"
repl:1: configmaps, transformed by watch: caches with a transform are private to their script
repl:1: the server doesn't have a resource type "pds", did you mean "pods"?
repl:1: not a global or kind: the server doesn't have a resource type "podz", did you mean "pods"?
repl:1: attempt to index global 'nothing' (a nil value)
repl:1: attempt to call field 'patch' (a nil value); HAS NO k8s.patch; type help for a list
]], (err:gsub("transformed by [^:]*", "transformed by watch")
      :gsub("if this is a field of k8s: the REPL is read%-only and has no", "HAS NO")))
    assert.equal(3, code)
  end)

  it("ends a line that is over a limit, while scripts go on", function()
    if os.getenv "KUBELUA_PRESET" == "tsan" then
      return pending "ThreadSanitizer keeps a timer's signal back from a thread that only computes"
    end
    -- Memory runs out long before the CPU time does, under a sanitizer too.
    start { "--script-memory", "8Mi", "--limit", "main-cpu=700ms" }
    local before = ticks()
    local out, err, code = lines [[
while true do pcall(function() while true do end end) end
local t = {} while true do t[#t + 1] = ("x"):rep(1e5) .. #t end
1 + 1
]]
    assert.equal("2\n", out)
    assert.equal([[
repl:1: over the limit main-cpu (700ms) in the prompt
repl:1: over the limit script-memory (8Mi) in the prompt
]], err)
    assert.equal(3, code)
    assert.is_true(ticks() > before)
  end)

  it("sends what is printed at once, however much it is, in its order", function()
    start()
    local p = prompt()
    p:write 'print "first" k8s.sleep "1h"\n'
    p:wait_line "^first$"
    p:kill "KILL"
    local out = lines 'for i = 1, 300 do print(i, ("x"):rep(9999)) if i % 20 == 0 then k8s.sleep "1ms" end end\n'
    local count = 0
    for number in out:gmatch "(%d+)\tx+\n" do
      count = count + 1
      assert.equal(count, tonumber(number))
    end
    assert.equal(300, count)
    assert.equal(300 * 10001 + 9 + 2 * 90 + 3 * 201, #out)
  end)

  it("keeps a bounded part of what is not read", function()
    start()
    local p = prompt()
    p:write 'print "begins"\n'
    p:wait_line "^begins$"
    local before = engine:rss()
    p:kill "STOP"
    p:write 'while true do print(("x"):rep(1e5)) k8s.sleep "0ms" end\n'
    p:kill "CONT"
    p:wait_line("^x+$", 20)
    p:kill "STOP"
    for _ = 1, 2000 do
      if not prompts()[1].busy then break end
    end
    assert.is_false(prompts()[1].busy)
    if not sanitized then assert.is_true(engine:rss() - before < 60 * 2 ^ 20) end -- those free late
    p:kill "CONT"
    p:wait_error("^the client does not read its output %(over 16 MiB buffered%)$", 20)
    p:write "1 + 1\n"
    p:wait_line("^2$", 20)
    p:close_input()
    assert.equal(3, p:wait())
  end)

  it("answers before the engine has reached its server", function()
    local args = { "--admin-socket", socket, "--history", "pods" }
    engine = cluster.run("http://127.0.0.1:1", folder .. "/watch.lua", args)
    engine:wait_error "Server unreachable, retrying"
    local unknown = "the kinds of the server are not known yet"
    local out, err = lines 'pods\nkind "po"\n1 + 1\n'
    assert.equal("2\n", out)
    assert.equal(("repl:1: pods: %s\nrepl:1: po: %s\n"):format(unknown, unknown), err)
    for _, words in ipairs { { "get", "pods" }, { "history", "pods/default/web" } } do
      local p = cluster.kubelua { words[1], "--admin-socket", socket, words[2] }
      assert.equal(2, p:wait())
      assert.has_match(unknown, p:err(), 1, true)
    end
    local query = cluster.kubelua { "query", "--admin-socket", socket, "pods:count()" }
    assert.equal(1, query:wait())
    assert.equal("kubelua query: pods: " .. unknown .. "\n", query:err())
    assert.equal(0, cluster.terminate(engine))
  end)

  it("reports that a line is too long, and goes on", function()
    start()
    local out, err = lines('"' .. ("x"):rep(70000) .. '"\n1 + 1\n')
    assert.equal("2\n", out)
    assert.equal("a line must not exceed 64 KiB\n", err)
  end)

  it("has globals of its own for each prompt, up to eight of them", function()
    start()
    local all = {}
    for i = 1, 8 do
      all[i] = prompt()
      all[i]:write(("x = %d\nx\n"):format(i))
    end
    for i = 1, 8 do all[i]:wait_line(("^%d$"):format(i)) end
    assert.equal(8, #prompts())
    local _, err, code = lines "1\n"
    assert.equal(("kubelua repl: %s: too many REPL sessions (maximum 8)\n"):format(socket), err)
    assert.equal(2, code)
    all[1]:close_input()
    assert.equal(0, all[1]:wait())
    until_prompts(7)
    assert.equal("1\n", (lines "1\n"))
  end)

  it("frees a prompt whose process was killed, in the middle of a line too", function()
    start()
    local idle, waits, computes = prompt(), prompt(), prompt()
    waits:write 'pods:count() print "waits" k8s.sleep "1h"\n'
    waits:wait_line "^waits$"
    computes:write 'print "computes" while true do k8s.sleep "0ms" end\n'
    computes:wait_line "^computes$"
    until_prompts(3)
    for _, p in ipairs { idle, waits, computes } do p:kill "KILL" end
    until_prompts(0)
    for _ = 1, 3 do engine:wait_error "REPL session ended" end
    assert.equal("30\n", (lines "pods:count()\n"))
  end)

  it("notifies prompts that the engine stops", function()
    start()
    local idle, busy = prompt(), terminal()
    idle:write "1\n"
    idle:wait_line "^1$"
    busy:write 'print "waits" k8s.sleep "1h"\r'
    busy.sees "\nwaits"
    assert.equal(0, cluster.terminate(engine, 20))
    busy.sees "kubelua repl: the engine is shutting down"
    assert.equal(3, busy:wait())
    idle:wait_error "^kubelua repl: the engine is shutting down$"
    assert.equal(3, idle:wait())
    local _, err, code = lines "1\n"
    assert.equal("kubelua repl: no engine is listening on " .. socket .. "\n", err)
    assert.equal(2, code)
  end)

  it("names the engine that was killed", function()
    start()
    local p = prompt()
    p:write "1\n"
    p:wait_line "^1$"
    engine:kill "KILL"
    p:wait_error "^kubelua repl: the engine closed the connection$"
    assert.equal(3, p:wait())
  end)

  it("completes kinds with a cache, fields, methods and names of caches", function()
    start()
    local p = terminal()
    p:write "po\t:cou\t()\r"
    p.sees "\n30"
    p.sees "kubelua> "
    p:write "x = pods()[1]\r"
    p.sees "kubelua> "
    p:write "x.metad\t.\t"
    p.sees "name +namespace"
    p:write "\21kind \"services in d\t\"\r" -- ^U first
    p.sees "# no services in default"
    p:write "dep\t\21print 'end'\r"
    p.sees "\nend"
    p.sees "kubelua> "
    p:write "\4"
    assert.equal(0, p:wait())
  end)

  it("ends a line by ^C, and goes on", function()
    start()
    local p = terminal()
    p:write 'print "begins" while true do pcall(k8s.sleep, "1ms") end\r'
    p.sees "\nbegins"
    local before = ticks()
    while ticks() == before do end
    p:write "\3"
    p.sees "interrupted"
    keys.interrupt(p)
    assert.equal(0, keys.leave(p))
  end)

  it("detaches from an engine that a script blocks, at the second ^C", function()
    local stick = 'k8s.command("stick", function() print "stuck" while true do end end)\n'
    temp.write(folder .. "/watch.lua", SCRIPT .. stick)
    start { "--trust", folder .. "/watch.lua" }
    local p = terminal()
    cluster.kubelua { "call", "--admin-socket", socket, "stick" }
    engine:wait_line "^stuck$"
    for _ = 1, 20 do -- the first ^C may come before the line is run, and drops it then
      p:write "1 + 1\r"
      if pcall(p.sees, "the engine does not respond", 1) then break end
      p:write "\3"
    end
    assert.equal(3, p:wait())
  end)

  it("refuses clients that are not prompts, and goes on", function()
    start()
    local one = '{"v":1,"method":"eval","params":{"id":1,"text":"k8s.sleep \\"1h\\""}}\n'
    local told = '{"v":1,"error":"expected one eval at a time, complete or cancel"}'
    for text, answer in pairs {
      ['{"v":1,"method":"status"}\n'] = told,
      [one .. one] = told,
      ["\0\255\n"] = '^{"v":1,"error":"',
      ['{"v":2}\n'] = "version 2 of the admin protocol",
      [("x"):rep(70000)] = '{"v":1,"error":"the request exceeds 64 KiB"}',
    } do
      local c = unix.connect(socket)
      c:write '{"v":1,"method":"repl"}\n'
      assert.has_match('"pid":%d+', c:line())
      c:write(text)
      local line = c:line()
      while line and line:find("interrupted", 1, true) do line = c:line() end
      assert.is_truthy(line:find(answer, 1, answer:sub(1, 1) ~= "^"), line)
      assert.is_nil(c:line())
      c:close()
    end
    until_prompts(0)
    assert.equal("30\n", (lines "pods:count()\n"))
  end)

  it("buffers at most 16 MiB for a prompt that does not read", function()
    start()
    local c = unix.connect(socket)
    c:write '{"v":1,"method":"repl"}\n'
    c:line()
    local fill = "many = {} for i = 1, 400 do many[('n'):rep(250) .. i] = i end"
    c:write(('{"v":1,"method":"eval","params":{"id":1,"text":%s}}\n'):format(cjson.encode(fill)))
    assert.has_match('"end":"done"', c:line())
    local before = engine:rss()
    for id = 2, 601 do -- 100 KB each
      c:write(('{"v":1,"method":"complete","params":{"id":%d,"text":"many."}}\n'):format(id))
    end
    for _ = 1, 100 do at:ask("call", "ticks") end -- some turns of the loop each
    if not sanitized then assert.is_true(engine:rss() - before < 40 * 2 ^ 20) end -- those free late
    for id = 2, 601 do assert.has_match('"id":' .. id .. ",", c:line(), 1, true) end
    c:close()
    until_prompts(0)
  end)

  it("takes no flag of a connection beside --engine, but leaves the environment's alone", function()
    start()
    local line = "^kubelua repl: with %-%-engine, which uses the connection of the engine: unknown flag %-[^\n]*\n$"
    for _, flag in ipairs { "-s=http://127.0.0.1:1", "--context=x", "-nshop" } do
      local p = cluster.kubelua { "repl", "--engine", "--admin-socket", socket, flag }
      p:close_input()
      assert.equal(2, p:wait())
      assert.has_match(line, p:err())
    end
    local env = { KUBELUA_SERVER = "http://127.0.0.1:1" }
    local p = cluster.kubelua { "repl", "--engine", "--admin-socket", socket, env = env }
    p:close_input()
    assert.equal(0, p:wait(), p:err())
  end)

  it("takes --engine or --from", function()
    local p = cluster.kubelua { "repl", "--engine", "--from", "x" }
    assert.equal(2, p:wait())
    assert.equal("kubelua repl: --from and --engine are mutually exclusive\n", p:err())
  end)
end)
