-- Scripts that change while the engine runs: what is noticed, what takes over, and what is refused.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local HEAD, script = scripts_folder.HEAD, scripts_folder.script
local place, folder

local function write(name, text) place:write(name, text) end

local function start(sim, ...) return place:start(sim, ...) end

-- Requests for lists and watches so far.
local function requests(sim)
  local stats = sim.api:get "/sim/stats"
  return ("%d lists, %d watch-lists, %d watches"):format(stats.lists, stats.watch_lists, stats.watches)
end

describe("a script that changes #threads", function()
  local sim
  before_each(function()
    place = scripts_folder.new()
    folder = place.path
    sim = cluster.sim { "--pods", "2" }
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("takes over by itself, without a list or a watch", function()
    write("a.lua", script "one")
    local engine = start(sim)
    engine:wait_line "one add"
    local before = requests(sim)
    write("a.lua", script "two")
    engine:wait_line "two loaded"
    engine:wait_line "two add" -- a handler that changed sees the cache
    local one = engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    assert.is_true(one.fileIsRunning)
    assert.are.equal(before, requests(sim))
    write("a.lua", script "two" .. "-- a comment\n")
    engine.await("a", function(s) return s.generation == 3 end)
    assert.is_nil(engine:out():match "two loaded.*two loaded.*two add")
    assert.are.equal(before, requests(sim))
  end)

  it("keeps a transformed cache, but for another transform", function()
    local function transforming(mark, more)
      return HEAD .. ([[
        local mark = { text = "%s" }
        local pods = k8s.informer("pods", {
          transform = function(pod)
            pod.spec = { mark = mark.text }
            return pod
          end,
        })
        pods:on_add(function(o) print("add " .. o.spec.mark) end)
      ]]):format(mark) .. (more or "")
    end
    write("a.lua", transforming "x")
    local engine = start(sim)
    engine:wait_line "add x"
    local before = requests(sim)
    write("a.lua", transforming("x", 'print "loaded again"'))
    engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    assert.are.equal(before, requests(sim))
    assert.are.equal(2, select(2, engine:out():gsub("add x", "")))
    write("a.lua", transforming "y")
    engine.await("a", function(s) return s.generation == 3 and s.draining == 0 end)
    engine:wait_line "add y"
    assert.are_not.equal(before, requests(sim))
  end)

  it("runs a main that is new, once", function()
    write("a.lua", script("one", ""))
    local engine = start(sim)
    write("a.lua", script("two", 'k8s.main(function() print "main of two" end)'))
    engine:wait_line "^main of two$"
    write("a.lua", script("three", ""))
    engine.await("a", function(s) return s.generation == 3 end)
    write("a.lua", script("four", 'k8s.main(function() print "main of four" end)'))
    assert.equal("skipped", engine.await("a", function(s) return s.generation == 4 end).mainState)
    assert.is_nil(engine:out():match "main of four")
  end)

  it("keeps its state and its metrics, and has the new commands", function()
    local function counting(version, step)
      return script("v" .. version, ([[
        local kept = k8s.state("kept", {
          version = %d, init = { n = 0 }, migrate = function(old, from) return { n = old.n + 100 * from } end,
        })
        local calls = k8s.metric.counter("calls_total", "Calls.")
        k8s.command("count", function()
          kept.n = kept.n + %d
          calls:inc()
          return kept.n
        end)
      ]]):format(version, step))
    end
    write("a.lua", counting(1, 1))
    local engine = start(sim, nil, { "--metrics-bind-address", "127.0.0.1:0" })
    local status = cjson.decode((engine.ask("status", "-ojson")))
    local http = api.new { server = "http://" .. status.engine.metricsAddress }
    local function metric()
      local _, page = http:curl("GET", "/metrics")
      assert.are.equal(1, select(2, page:gsub("\ncalls_total{", "")))
      return page:match '\ncalls_total{script="[^"]+"} (%d+)\n'
    end
    assert.are.equal("1\n", (engine.ask("call", "count")))
    assert.are.equal("1", metric())
    write("a.lua", counting(1, 10))
    engine.await("a", function(s) return s.generation == 2 end)
    assert.are.equal("11\n", (engine.ask("call", "count")))
    assert.are.equal("2", metric())
    write("a.lua", counting(2, 1000))
    engine.await("a", function(s) return s.generation == 3 and s.draining == 0 end)
    assert.are.equal("1111\n", (engine.ask("call", "count")))
    assert.are.equal("3", metric())
    write("a.lua", (counting(3, 1):gsub("return { n", "error 'no way' return { n")))
    engine.await("a", function(s) return s.reloadError:find "a.lua:%d+: no way" end)
    assert.are.equal("2111\n", (engine.ask("call", "count")))
    assert.are.equal("4", metric())
  end)

  it("is noticed when an editor renames, when a module changes, and when a mount swaps a link", function()
    write("lib.lua", 'return "first"')
    os.rename(folder .. "/scripts/lib.lua", folder .. "/scripts/_lib.lua")
    write("a.lua", 'print(require "_lib")')
    write("b.lua", script "b")
    temp.write(folder .. "/mount/..1/c.lua", script "c1")
    os.execute(("cd '%s/mount' && ln -s ..1 ..data && ln -s ..data/c.lua c.lua"):format(folder))
    local engine = start(sim, folder .. "/scripts", { "-f", folder .. "/mount" })
    engine:wait_line "first"
    write("_lib.lua", 'return "second"')
    engine:wait_line "second"
    assert.are.equal(1, engine.script("b").generation)
    write("b.lua~new", script "renamed")
    os.rename(folder .. "/scripts/b.lua~new", folder .. "/scripts/b.lua")
    engine:wait_line "renamed loaded"
    temp.write(folder .. "/mount/..2/c.lua", script "c2")
    os.execute(("cd '%s/mount' && ln -s ..2 ..tmp && mv -T ..tmp ..data"):format(folder))
    engine:wait_line "c2 loaded"
    assert.are.equal(2, engine.script("c").generation)
  end)

  it("may come and go in a directory", function()
    write("a.lua", script "a")
    local engine = start(sim)
    write("new.lua", script "new")
    engine:wait_line "new add"
    os.remove(folder .. "/scripts/new.lua")
    engine:wait_error 'Script stopped because its file was removed" script="[^"]*new"'
    await(function() return not engine.script "new" end, "the script to go")
    write("new.lua", script "again")
    engine:wait_line "again add"
  end)

  it("keeps running when its file, named by itself, is gone", function()
    write("a.lua", script "a" .. 'k8s.every("100ms", function() print "tick" end)')
    local engine = start(sim, folder .. "/scripts/a.lua")
    os.remove(folder .. "/scripts/a.lua")
    engine:wait_error "Script file is missing, the script keeps running"
    engine:wait_line "tick"
    write("a.lua", script "back")
    engine:wait_line "back loaded"
  end)

  local function assert_refused(engine, text, expected)
    local before = engine.script "a"
    write("a.lua", text)
    local one = engine.await("a", function(s) return s.reloadError ~= "" and s.reloadError:find(expected) end)
    assert.are.equal(before.generation, one.generation)
    assert.is_false(one.fileIsRunning)
    assert.is_nil(one.candidate)
  end

  it("is refused when it is broken, and what ran runs on", function()
    local kept = 'kept = k8s.state("n", { version = 1, init = { x = 1 } })\n'
    local ticks = 'k8s.every("100ms", function() print "tick" end)\n'
    write("a.lua", script("a", kept .. ticks))
    local engine = start(sim)
    assert_refused(engine, HEAD .. "\nif then", "a%.lua:3: unexpected symbol")
    assert_refused(engine, HEAD .. 'k8s.informer("pods", { selectr = "x" })', 'a%.lua:2: .*did you mean "selector"')
    assert_refused(engine, HEAD .. 'k8s.informer "wodgets"', 'a%.lua:2: the server [^;]*"wodgets"$')
    assert_refused(engine, HEAD .. '\nk8s.informer "wodgets.example.com"',
      'a%.lua:3: the server [^;]*"wodgets%.example%.com"; a reload does not wait .* kubelua reload, or change the file')
    assert_refused(engine, HEAD .. 'require "missing"', "a%.lua:2: module 'missing' not found")
    assert_refused(engine, HEAD .. scripts_folder.ENDLESS, "a%.lua:2: .*load%-cpu")
    assert_refused(engine, script("x", 'k8s.state("n", { version = 2, migrate = function() error "no" end })'),
      "a%.lua:4: no")
    assert_refused(engine, script("x", 'k8s.state("n", { version = 3 })'),
      "a%.lua:4: k8s%.state: n: version changes from 1 to 3 without a migrate function")
    local out, code = engine.ask("status")
    assert.are.equal(0, code)
    assert.has_match("reload refused:.*a%.lua:4: k8s%.state: n: ", out)
    engine:wait_line "tick"
    write("a.lua", script("a", kept .. ticks)) -- the edit is taken back
    engine.await("a", function(s) return s.reloadError == "" and s.fileIsRunning end)
    assert.are.equal(1, engine.script("a").generation)
  end)

  it("shows by a metric that its file is refused, and reports when the file is what runs again", function()
    write("a.lua", script "a")
    write("b.lua", script "b")
    local engine = start(sim, nil, { "--metrics-bind-address", "127.0.0.1:0" })
    local status = cjson.decode((engine.ask("status", "-ojson")))
    local http = api.new { server = "http://" .. status.engine.metricsAddress }
    local function shows(name, value)
      await(function()
        local _, page = http:curl("GET", "/metrics")
        return page:match('kubelua_script_refused{script="[^"]*/' .. name .. '"} (%d)') == value
      end, function() return engine:report() end)
    end
    shows("a", "0")
    assert_refused(engine, HEAD .. "if then", "a%.lua:2: unexpected symbol")
    shows("a", "1")
    shows("b", "0")
    assert.is_nil(engine:err():find("File matches the running generation again", 1, true))
    write("a.lua", script "a")
    engine:wait_error 'File matches the running generation again" script="[^"]*/a" generation=1'
    shows("a", "0")
    write("new.lua", "x = = 1")
    shows("new", "1")
    write("new.lua", script "new")
    engine:wait_line "new loaded"
    shows("new", "0")
  end)

  it("waits for its new informers, and is refused when they do not come in time", function()
    sim:forbid("nodes", "not for you")
    write("a.lua", script "a")
    local engine = start(sim, nil, { "--reload-timeout", "2s" })
    write("a.lua", script("b", 'k8s.informer "nodes"'))
    local one = engine.await("a", function(s) return s.candidate and s.candidate.waitsFor:find "nodes" end)
    assert.are.equal(1, one.generation)
    assert.are.equal(2, one.candidate.generation)
    one = engine.await("a", function(s) return s.reloadError ~= "" end)
    assert.has_match("not ready within %-%-reload%-timeout: .*nodes.*not for you", one.reloadError)
    sim:play { ["do"] = "clear" }
    local out
    await(function()
      local text, code = engine.ask("reload", "a")
      out = text
      return code == 0
    end, function() return out end)
    assert.has_match("scripts/a: generation 2 runs, after a pause of %d+%.%d%d ms", out)
  end)

  it("has a controller that changed process all objects again, and one that did not none", function()
    local function controller(mark, more)
      return HEAD .. ([[
        k8s.controller { of = "pods", reconcile = function(key) print("%s", key) end }
      ]]):format(mark) .. (more or "")
    end
    local function count(engine, mark) return select(2, engine:out():gsub(mark .. "\t", "")) end
    write("a.lua", controller "one")
    local engine = start(sim)
    await(function() return count(engine, "one") == 2 end, function() return engine:report() end)
    write("a.lua", controller("one", 'print "loaded again"'))
    engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    write("a.lua", controller "two")
    await(function() return count(engine, "two") == 2 end, function() return engine:report() end)
    assert.are.equal(2, count(engine, "one"))
  end)

  it("has a new cache for a transform that kept something while it waited", function()
    sim:forbid("nodes", "not for you")
    local counting = HEAD .. [[
      local n = 0
      local pods = k8s.informer("pods", {
        transform = function(pod)
          if pod.metadata.labels.counts then n = n + 1 end
          pod.spec = { n = n }
          return pod
        end,
      })
      pods:on_add(function(o) print(o:name(), o.spec.n) end)
      print "loaded"
    ]]
    write("a.lua", counting)
    local engine = start(sim)
    write("a.lua", counting .. 'k8s.informer "nodes"')
    engine.await("a", function(s) return s.candidate and s.candidate.waitsFor:find "nodes" end)
    sim.api:create("/api/v1/namespaces/default/pods", {
      apiVersion = "v1", kind = "Pod", metadata = { name = "new", namespace = "default", labels = { counts = "1" } },
      spec = { containers = { { name = "one", image = "one" } } },
    })
    engine:wait_line "new\t1"
    local before = sim.api:get("/sim/stats")
    sim:play { ["do"] = "clear" }
    local one = engine.await("a", function(s) return s.generation == 2 and s.draining == 0 end)
    assert.are.equal("", one.reloadError)
    assert.has_match("loaded\n.*loaded\n.*new\t1\nloaded\n.*new\t1\n", engine:out())
    local after = sim.api:get("/sim/stats")
    assert.are.equal(before.lists + before.watch_lists + 2, after.lists + after.watch_lists)
  end)

  it("is reloaded by command and by signal, and returns by command", function()
    write("a.lua", script "one")
    local engine = start(sim)
    local out, code = engine.ask "reload"
    assert.has_match("scripts/a: unchanged, generation 1 runs", out)
    assert.are.equal(0, code)
    local err
    out, code, err = engine.ask("rollback", "a")
    assert.are.equal("", out)
    assert.are.equal(2, code)
    assert.has_match("no previous generation", err)
    write("a.lua", script "two")
    engine:wait_line "two add"
    out, code = engine.ask("rollback", "a")
    assert.are.equal(0, code)
    local time = "%d+%-%d+%-%d+T%d+:%d+:%d+Z"
    assert.has_match("^%S*scripts/a: generation 3 runs, after a pause of [%d.]+ ms\n", out)
    local hashes = { out:match("\n  it is what generation 1 %(since engine start, (%x+)%) was\n"
      .. "  it replaces generation 2 %(since " .. time .. ", (%x+)%) %(a second rollback returns to it%)\n"
      .. "  %S*a%.lua contains a different version; its next change will be loaded, and kubelua reload "
      .. "loads it as it is\n$") }
    local sum = io.popen(("sha256sum '%s/scripts/a.lua'"):format(folder)):read "*a"
    assert.are.equal(sum:sub(1, 12), hashes[2], out)
    assert.are_not.equal(hashes[1], hashes[2])
    engine:wait_line "one loaded"
    local one = engine.script "a"
    assert.is_false(one.fileIsRunning)
    local expected = "generation 2 was rolled back: .*the file is ignored until it changes"
    assert.has_match(expected, one.reloadError)
    out, code = engine.ask("rollback", "a")
    assert.are.equal(0, code, out)
    assert.has_match("\n  it is what generation 2 %(since " .. time .. ", " .. hashes[2] .. "%) was\n  it replaces "
      .. "generation 3 %(since " .. time .. ", " .. hashes[1] .. "%) [^\n]*\n  %S*a%.lua contains the same; its next "
      .. "change will be loaded\n$", out)
    one = engine.script "a"
    assert.are.equal(4, one.generation)
    assert.is_true(one.fileIsRunning)
    assert.is_false(one.returned)
    assert.are.equal("", one.reloadError)
    engine.ask("rollback", "a")
    engine:kill "HUP" -- as at each rotation of an audit log
    engine:wait_error "Checking all scripts for changes"
    assert.are.equal(5, engine.script("a").generation)
    out, code = engine.ask("reload", "a")
    assert.are.equal(0, code, out)
    engine.await("a", function(s) return s.generation == 6 and s.fileIsRunning end)
    code, err = select(2, engine.ask("reload", "b"))
    assert.are.equal(2, code)
    assert.has_match('script "b" not found; there are [^ ]*/scripts/a\n', err)
    err = select(3, engine.ask("rollback", "aa"))
    assert.has_match('script "aa" not found, did you mean "a"%?; there are [^ ]*/scripts/a\n', err)
    write("a.lua", "x = = y")
    engine.await("a", function(s) return s.reloadError ~= "" end)
    out, code = engine.ask("reload", "a")
    assert.are.equal(3, code)
    assert.has_match("scripts/a: refused, generation 6 runs on: .*a%.lua:1:", out)
  end)

  it("returns by itself when it fails more than before, or goes over its limits", function()
    local ticks = 'k8s.every("50ms", function() %s end)\n'
    write("a.lua", script("good", ticks:format ""))
    local engine = start(sim, nil, { "--handler-cpu", "20ms" })
    write("a.lua", script("bad", ticks:format "error 'broken'"))
    engine:wait_line "bad loaded"
    local one = engine.await("a", function(s) return s.generation == 3 end)
    assert.is_true(one.returned)
    local why = "a%.lua: generation 2 was rolled back: %d+ of %d+ calls failed %(before: 0 of %d+%); "
      .. "first error: %S*a%.lua:%d+: broken; the file is ignored until it changes"
    assert.has_match(why, one.reloadError)
    assert.has_match("returned: .*" .. why, (engine.ask "status"))
    assert.has_match(why, engine:wait_error '"Rolled back to the previous generation" (.*)$')
    write("a.lua", script("slow", ticks:format(scripts_folder.ENDLESS)))
    engine:wait_line "slow loaded"
    one = engine.await("a", function(s) return s.generation == 5 end)
    assert.has_match("is quarantined: ", one.reloadError)
    local said = engine:wait_error '"Quarantined after consecutive calls exceeded a limit; ([^"]*)"'
    assert.are.equal("rolling back to the previous generation (on probation)", said)
    for i = 1, 3 do
      sim.api:create("/api/v1/namespaces/default/configmaps",
        { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "map" .. i, namespace = "default" } })
    end
    local deaf = 'k8s.informer("configmaps", { transform = function() %s end })\n'
    write("a.lua", script("deaf", deaf:format(scripts_folder.ENDLESS)))
    one = engine.await("a", function(s) return s.reloadError:find "transform/configmaps" end)
    assert.has_match("a%.lua: transform/configmaps is quarantined: .*over the limit filter%-cpu", one.reloadError)
    assert.are.equal(5, one.generation) -- it never took over: its cache is of no use
    write("a.lua", script("fine", ticks:format ""))
    engine.await("a", function(s) return s.generation == 6 and s.fileIsRunning end)
  end)
end)
