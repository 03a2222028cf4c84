-- The whole binary on the simulated API server: syncing, sharing, ending.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, data)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
end

describe("kubelua run #threads", function()
  after_each(cluster.stop_all)

  it("delivers adds, updates and deletes to a script in order", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap("one", { colour = "red" }))
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("configmaps", { namespace = "default" }):add_event_handler {
        OnAdd = function(obj, ev) print("add", obj:key(), obj.data.colour, ev.initial) end,
        OnUpdate = function(old, new) print("update", new:key(), old.data.colour, new.data.colour) end,
        OnDelete = function(last, ev) print("delete", last:key(), last.data.colour, ev.final_state_unknown) end,
      }
    ]])
    engine:wait_line "^add\tdefault/one\tred\ttrue$"
    sim.api:create(configmaps, configmap("two", { colour = "blue" }))
    engine:wait_line "^add\tdefault/two\tblue\tfalse$"
    sim.api:patch(configmaps .. "/two", { data = { colour = "green" } })
    engine:wait_line "^update\tdefault/two\tblue\tgreen$"
    sim.api:delete(configmaps .. "/two")
    engine:wait_line "^delete\tdefault/two\tgreen\tfalse$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("ends within a second when it is idle", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("pods")
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    assert.are.equal(0, cluster.terminate(engine, 1))
  end)

  it("ends with 130 on SIGINT", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[ require("k8s").main(function() print "here" end) ]])
    engine:wait_line "^here$"
    engine:kill "INT"
    assert.are.equal(130, engine:wait())
  end)

  it("shares one watch between scripts", function()
    local sim = cluster.sim()
    local text = [[
      local k8s = require "k8s"
      local pods = k8s.informer(%q)
      k8s.main(function() print("synced", pods:lister():count()) end)
    ]]
    local engine = cluster.run(sim.server, cluster.script(text:format "pods"),
      { "-f", cluster.script(text:format "po"), "-f", cluster.script(text:format "v1/Pod") })
    for _ = 1, 3 do engine:wait_line "^synced" end
    local stats = sim.api:get "/sim/stats"
    assert.are.equal(1, stats.open_watches)
  end)

  it("goes on after a handler raised, and reports where", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
        if obj:name() == "bad" then print(obj.data.missing.field) end
        print("saw", obj:name())
      end)
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    sim.api:create(configmaps, configmap("bad", { a = "b" }))
    local line = engine:wait_error "Handler failed"
    assert.is_truthy(line)
    sim.api:create(configmaps, configmap("good", { a = "b" }))
    engine:wait_line "^saw\tgood$"
    local log = engine:err():match "[^\n]*Handler failed[^\n]*"
    assert.has_match('key="default/bad"', log, 1, true)
    assert.has_match("%.lua:3:", log)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Handler failed" [^\n]+\n    [^\n]+%.lua:3: in function [^\n]+\n%u%d%d%d%d ', engine:err())
    assert.has_match('"Stopped".* errors=1', engine:err())
  end)

  it("logs last that it has stopped, after the output of scripts", function()
    local sim = cluster.sim()
    for _, name in ipairs { "a", "b", "c" } do sim.api:create(configmaps, configmap(name, { a = "b" })) end
    local engine = cluster.run(sim.server, cluster.script [[
      require("k8s").informer("configmaps", { namespace = "default" }):on_add(function(obj)
        print("told", obj:name())
        error "broken"
      end)
    ]])
    for _ = 1, 3 do engine:wait_line "^told\t[abc]$" end
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"More failures" [^\n]* unreported=2\n', engine:err())
    assert.has_match('\n[^\n]*"Stopped" [^\n]*\n$', engine:err())
  end)

  it("names the function that is to blame when none of its lines is", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("pods", {
        transform = function() return 1 end,
      })
      k8s.informer("configmaps"):add_index("bad", k8s.object.diff)
    ]])
    assert.has_match("%.lua:3%] ", engine:wait_error "([^\n]*Transform failed[^\n]*)")
    sim.api:create(configmaps, configmap("one", { a = "b" }))
    assert.has_match("%.lua%] ", engine:wait_error "([^\n]*Index function failed[^\n]*)")
  end)

  for _, case in ipairs { { "TERM", 3 }, { "INT", 130 } } do
    it("can be ended by " .. case[1] .. " while a handler never returns", function()
      local sim = cluster.sim { "--pods", "1" }
      local stuck = cluster.script [[
        require("k8s").informer("pods"):on_add(function() print "stuck" while true do end end)
      ]]
      local engine = cluster.run(sim.server, stuck, { "--shutdown-timeout", "100ms", "--limit", "handler-cpu=1h" })
      engine:wait_line "^stuck$"
      engine:kill(case[1])
      assert.are.equal(case[2], engine:wait())
      assert.has_match("a script is blocking the engine", engine:err(), 1, true)
    end)
  end

  it("is ended at once by a second signal while a handler never returns", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = cluster.run(sim.server, cluster.script [[
      require("k8s").informer("pods"):on_add(function() print "stuck" while true do end end)
    ]], { "--shutdown-timeout", "1h", "--limit", "handler-cpu=1h" })
    engine:wait_line "^stuck$"
    engine:kill "INT"
    engine:kill "TERM"
    assert.is_truthy(({ [130] = true, [3] = true })[engine:wait()])
    assert.has_match("second signal received", engine:err(), 1, true)
  end)

  it("takes a signal that comes twice for one wish to end", function()
    local sim = cluster.sim { "--pods", "1" }
    local engine = cluster.run(sim.server, cluster.script [[require("k8s").main(function() print "synced" end)]])
    engine:wait_line "^synced$"
    engine:kill "TERM"
    engine:kill "TERM"
    assert.are.equal(0, engine:wait())
  end)

  it("is not delayed by a reader of stdout who does not read", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap("one", { a = "b" }))
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.main(function() for i = 1, 200000 do print(("x"):rep(100)) end k8s.log.info "printed" end)
    ]], { "--limit", "main-cpu=1m" })
    engine.streams.out.fd, engine.held = nil, engine.streams.out.fd -- nobody reads it
    engine:wait_error "printed"
    engine.streams.out.fd = engine.held
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("waits for a kind that has a group, and refuses a bare unknown one", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("gadgets.example.com")
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_error 'Waiting for an unknown kind.* place="[^"]*%.lua:2".*gadgets%.example%.com'
    local refused = cluster.run(sim.server, cluster.script [[ require("k8s").informer "podz" ]],
      { "-f", cluster.script [[ require("k8s").informer "nodez" ]] })
    assert.are.equal(2, refused:wait())
    local function line(kind, meant)
      local form = 'kubelua: [^\n]*%%.lua:1: the server doesn\'t have a resource type "%s", did you mean "%s"%%?\n'
      return form:format(kind, meant)
    end
    -- The last lines, and nothing seems to have started.
    assert.has_match(' "Stopped" [^\n]*\n' .. line("podz", "pods") .. line("nodez", "nodes") .. "$", refused:err())
    assert.has_no_match("Handlers start", refused:err())
    local json = cluster.run(sim.server, cluster.script [[
      require("k8s").informer("podz"):on_add(function() end)
    ]], { "--log-format", "json" })
    assert.are.equal(2, json:wait())
    local last = cjson.decode(json:err():match "([^\n]*)\n$")
    assert.are.same({ "error", "Failed to start", true },
      { last.level, last.msg, last.err:find '%.lua:1: the server .*"podz", did you mean "pods"%?$' ~= nil })
  end)

  it("prints what refuses a script whose path ends another's, and each line once", function()
    local sim = cluster.sim()
    local short = cluster.script [[ for _ = 1, 2 do require("k8s").informer "podz" end ]]
    local long = short:match "^(.*)/" .. short
    temp.write(long, temp.read(short))
    local refused = cluster.run(sim.server, long, { "-f", short })
    assert.are.equal(2, refused:wait())
    local lines = {}
    for place in refused:err():gmatch "\nkubelua: ([^\n]*):1: the server doesn't have" do lines[#lines + 1] = place end
    assert.are.same({ long, short }, lines)
  end)

  it("writes JSON logs in which a key stands once, whatever a script calls its fields", function()
    local engine = cluster.run("http://127.0.0.1:1", cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        k8s.log.info("fields", {
          msg = "a", ts = 1, level = "b", script = "c", script_ = "d", caller = "e", mine = true,
        })
      end)
    ]], { "--log-format", "json" })
    local line = engine:wait_error '^(.*"msg":"fields".*)$'
    local seen = {}
    for key in line:gmatch '[{,]"([^"]+)":' do
      assert.is_nil(seen[key], key .. " comes twice: " .. line)
      seen[key] = true
    end
    local fields = require("cjson").decode(line)
    assert.are.same({ "fields", "a", "b", "c", "d", "e", true }, {
      fields.msg, fields.msg_, fields.level_, fields.script__, fields.script_, fields.caller_, fields.mine,
    })
  end)

  it("names every script that does not load", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script "local x = = 1", { "-f", cluster.script "error 'no'" })
    assert.are.equal(2, engine:wait())
    local _, lines = engine:err():gsub("kubelua: [^\n]*%.lua:1:", "")
    assert.are.equal(2, lines)
  end)

  it("keeps trying a server that is not there", function()
    local engine = cluster.run("http://127.0.0.1:1", cluster.script [[ require("k8s").informer "pods" ]], { "-v", "2" })
    engine:wait_error '"Server unreachable, retrying".*127%.0%.0%.1:1'
    engine:wait_error '"Discovery failed".*127%.0%.0%.1:1'
    engine:wait_error '"Discovery failed".*127%.0%.0%.1:1'
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

describe("kubelua exec #threads", function()
  after_each(cluster.stop_all)

  local function exec(server, text, ...)
    return cluster.kubelua { "exec", cluster.script(text), "--server", server, ... }
  end

  it("runs main on a synced cache and exits with its number", function()
    local sim = cluster.sim { "--pods", "300" }
    local p = exec(sim.server, [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods"):lister()
      k8s.main(function()
        print(pods:count(), #pods:list_all())
        return 7
      end)
    ]])
    p:wait_line "^300\t300$"
    assert.are.equal(7, p:wait())
    assert.are.equal("", p:err())
  end)

  for _, to in ipairs { { ">/dev/full", "No space left on device" }, { ">&-", "Bad file descriptor" } } do
    it("exits with 3 when its output is lost, whatever main returns: " .. to[1], function()
      local sim = cluster.sim()
      local path = cluster.script [[ require("k8s").main(function() print "lost" return 1 end) ]]
      local p = proc.spawn { "sh", "-c", '"$0" exec "$1" --server "$2" ' .. to[1], cluster.binary, path, sim.server }
      assert.are.equal(3, p:wait())
      assert.has_match("stdout: " .. to[2], p:err(), 1, true)
    end)
  end

  it("takes only a number, true or nothing for a good end of main", function()
    local sim = cluster.sim()
    for value, message in pairs { ["false"] = "false", ["'3'"] = "string", ["{}"] = "table" } do
      local p = exec(sim.server, ([[ require("k8s").main(function() return %s end) ]]):format(value))
      assert.are.equal(3, p:wait())
      assert.has_match("k8s.main returned " .. message .. ": an exit code is a whole number", p:err(), 1, true)
    end
    assert.are.equal(0, exec(sim.server, [[ require("k8s").main(function() return true end) ]]):wait())
  end)

  it("reports how many events were not handled when main has returned", function()
    local sim = cluster.sim { "--pods", "20" }
    local p = exec(sim.server, [[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(function() k8s.sleep "1h" end)
      k8s.main(function() end)
    ]])
    assert.are.equal(0, p:wait())
    assert.has_match('"Main returned with unhandled events".* events=20', p:err())
  end)

  it("needs address space, and reports it", function()
    if os.getenv "KUBELUA_PRESET" ~= "release" then
      pending "sanitizers reserve more than any limit allows"
      return
    end
    local path = cluster.script [[ require("k8s").main(function() end) ]]
    local p = proc.spawn { "sh", "-c", 'ulimit -v 8000000; exec "$0" exec "$1" --server http://127.0.0.1:9',
      cluster.binary, path }
    assert.are.equal(2, p:wait())
    assert.are.equal("kubelua exec: cannot reserve 16 GiB of address space for objects: Cannot allocate memory "
      .. "(see ulimit -v)\n", p:err())
  end)

  it("lists in pages of --chunk-size, its live reads too (R-9)", function()
    local sim = cluster.sim { "--pods", "30", "--watch-cache=false" }
    local p = exec(sim.server, [[
      local k8s = require "k8s"
      k8s.reads { "pods:list" }
      local pods = k8s.informer "pods"
      k8s.main(function()
        local pages, other = 0, 0
        for _ in k8s.pages "pods" do pages = pages + 1 end
        for _ in k8s.pages("pods", { chunk_size = 15 }) do other = other + 1 end
        print(pods:status().synced_by, pages, other)
      end)
    ]], "--chunk-size", "7", "--watch-list", "off")
    p:wait_line "^list in 5 pages\t5\t2$"
    assert.are.equal(0, p:wait())
  end)

  it("ends quietly, as by SIGPIPE, when nobody reads its output any more", function()
    local sim = cluster.sim()
    local path = cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        while true do
          print "another line"
          k8s.sleep(0.01)
        end
      end)
    ]]
    local p = proc.spawn { "bash", "-c", '"$0" exec "$1" --server "$2" | head -n 1; echo "${PIPESTATUS[0]}"',
      cluster.binary, path, sim.server }
    assert.are.equal(0, p:wait())
    assert.are.equal("another line\n141\n", p:out())
    assert.are.equal("", p:err())
  end)

  it("exits with 3 when objects were refused, as its response lacks them", function()
    local sim = cluster.sim { "--pods", "3" }
    local p = exec(sim.server, [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods"):lister()
      k8s.main(function() print("found", pods:count()) end)
    ]], "--max-object-size", "1Ki")
    p:wait_line "^found\t0$"
    assert.are.equal(3, p:wait())
    assert.has_match("incomplete: 3 objects were refused", p:err(), 1, true)
  end)

  it("exits with 3 when another function of the script failed, as its response lacks what that had done", function()
    local sim = cluster.sim { "--pods", "3" }
    local p = exec(sim.server, [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods", { transform = function(pod) return pod.no.such end })
      local whole = k8s.informer("pods")
      whole:add_index("bad", function(pod) return pod.no.such end)
      whole:on_add(function(pod) if pod:name():match "0" then error "never mind" end end)
      k8s.main(function() print("found", pods:lister():count()) end)
    ]])
    p:wait_line "^found\t0$"
    assert.are.equal(3, p:wait())
    assert.has_match("incomplete: %d calls of the script's functions failed", p:err())
  end)

  it("exits with 3 when main raises", function()
    local sim = cluster.sim()
    local p = exec(sim.server, [[ require("k8s").main(function() error "broken" end) ]])
    assert.are.equal(3, p:wait())
    assert.has_match("broken", p:err(), 1, true)
  end)

  it("exits with 3 and names who was not synced in time", function()
    local p = exec("http://127.0.0.1:1", [[
      require("k8s").informer "pods"
      require("k8s").main(function() end)
    ]], "--sync-timeout", "300ms")
    assert.are.equal(3, p:wait())
    assert.has_match("informers did not sync within %-%-sync%-timeout: pods: ", p:err())
  end)

  it("exits with 2 for what is wrong with the command line", function()
    for _, case in ipairs {
      { { "exec" }, "no script" },
      { { "exec", "nothing.lua" }, "nothing.lua: No such file" },
      { { "exec", "scripts" }, "scripts is a directory; exec runs one script" },
      { { "exec", "scripts/watch_pods.lua", "--server", "http://127.0.0.1:1" }, "the script does not call k8s.main" },
      { { "run" }, "no script given; use -f FILE" },
      { { "run", "-f", "x.lua", "--severr", "x" }, "did you mean --server" },
      { { "frobnicate" }, "unknown command" },
    } do
      local p = cluster.kubelua(case[1])
      assert.are.equal(2, p:wait())
      assert.has_match(case[2], p:err(), 1, true)
    end
  end)

  it("reports why it cannot start in the format of the log", function()
    local script = cluster.script 'require("k8s").informer("pods", { wher = 1 })'
    for expected, args in pairs {
      ['unknown option "wher"'] = { "-f", script }, ['script "x" not found'] = { "-f", script, "--trust", "x" },
      ["no script given"] = {}, ["unknown flag --nosuch"] = { "--nosuch" },
      ["unexpected argument"] = { "nothing" },
    } do
      local p = cluster.kubelua { "run", "--server", "http://127.0.0.1:1", "--log-format=json", unpack(args) }
      assert.are.equal(2, p:wait(20))
      local found
      for line in p:err():gmatch "[^\n]+" do
        local record = require("cjson").decode(line)
        found = found or record.msg == "Failed to start" and record.err
      end
      assert.has_match(expected, found, 1, true)
    end
  end)
end)
