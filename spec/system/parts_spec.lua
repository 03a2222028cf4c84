-- Long calls in parts: k8s.main and the load phase of a reload give their time to other scripts and go on where they
-- were; nothing else of the script runs between.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local HEAD = [[
  local k8s = require "k8s"
  local function burn(ms)
    local till = os.clock() + ms / 1000
    while os.clock() < till do end
  end
]]

describe("a long call #threads", function()
  local place
  before_each(function() place = scripts_folder.new() end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("of k8s.main goes on where it was, with locals, pcall, iterators and coroutines", function()
    local engine = cluster.kubelua { "exec", "--server=" .. cluster.sim().server, cluster.script(HEAD .. [[
      local ticks = 0
      k8s.every("10ms", function() ticks = ticks + 1 end)
      k8s.main(function()
        k8s.sleep "50ms"
        local before = ticks
        burn(200)
        print("ticks", before > 0, ticks - before)
        print("pcall", pcall(function() burn(50) error("of pcall", 0) end))
        local sum = 0
        for _, v in pairs { 1, 2, 3 } do burn(20) sum = sum + v end
        local own = coroutine.wrap(function() burn(50) coroutine.yield "own" burn(50) return "end" end)
        print("values", sum, own(), own(), select("#", burn(20)))
        table.sort({ 3, 1, 2 }, function(a, b) burn(20) return a < b end)
        local outer = coroutine.wrap(function(...)
          local inner = coroutine.create(function(a)
            burn(30)
            local _, b = pcall(function()
              burn(30) k8s.sleep "1ms" burn(30)
              return coroutine.yield(a + 1, nil)
            end)
            burn(30)
            error("of inner " .. b, 0)
          end)
          local got = { coroutine.resume(inner, (...)) }
          burn(30)
          print("inner", got[2], coroutine.status(inner), coroutine.resume(inner, 5))
          table.sort({ 2, 1 }, function(a, b) return coroutine.wrap(function() burn(30) return a < b end)() end)
          return select("#", coroutine.yield()), ...
        end)
        print("outer", select("#", outer(1, nil)))
        print("end", outer(nil, nil, nil))
        k8s.sleep "1ms"
        burn(50)
        return 7
      end)
    ]]) }
    assert.are.equal(7, engine:wait(120))
    assert.are.equal("ticks\ttrue\t0\npcall\tfalse\tof pcall\nvalues\t6\town\tend\t0\n"
      .. "inner\t2\tsuspended\tfalse\tof inner 5\nouter\t0\nend\t3\t1\tnil\n", engine:out())
  end)

  it("of k8s.main has one limit for all its parts, and its error has line and function", function()
    local engine = cluster.run(cluster.sim().server, cluster.script(HEAD .. [[
      k8s.main(function()
        burn(150)
        k8s.sleep "1ms"
        burn(150)
        print "within"
        burn(5000)
      end)
    ]]), { "--limit", "main-cpu=250ms" })
    engine:wait_line "^within$"
    engine:wait_error "lua:4: over the limit main%-cpu %(250ms%) in main"
    engine:wait_error "in function 'burn'"
  end)

  it("of k8s.main ends at piece-cpu where it cannot give way, as in what a function of C calls", function()
    local engine = cluster.run(cluster.sim().server, cluster.script(HEAD .. [[
      local slow = setmetatable({}, { __tostring = function() burn(3000) return "slow" end })
      k8s.main(function()
        burn(200)
        print "within"
        print(slow)
      end)
    ]]), { "--limit", "piece-cpu=40ms", "--limit", "main-cpu=10s" })
    engine:wait_line "^within$"
    engine:wait_error "lua:4: over the limit piece%-cpu %(40ms%) in one piece of main"
  end)

  it("of k8s.main gives way in queries, in sorts of any list and in modules that it requires", function()
    place:write("_slow.lua", HEAD .. "burn(300) return 'module'")
    place:write("it.lua", HEAD .. [[
      local pods = k8s.informer "pods"
      local ordered = { __lt = function(a, b) burn(10) return a.n < b.n end }
      k8s.main(function()
        print(require "_slow")
        local list = setmetatable({}, { __index = error, __newindex = error })
        for i = 1, 5 do rawset(list, i, setmetatable({ n = -i }, ordered)) end
        table.sort(list)
        print("sorted", list[1].n, list[5].n)
        local query = pods:query():order("metadata.name")
        local began, rows = os.clock()
        repeat rows = query:rows() until os.clock() - began > 0.2
        print("rows", #rows, rows[1].metadata.name < rows[2].metadata.name, query:count())
      end)
    ]])
    local engine = place:start(cluster.sim { "--pods", "2000" }, nil,
      { "--limit", "main-cpu=1m", "--limit", "piece-cpu=30ms" })
    engine:wait_line "^module$"
    engine:wait_line "^sorted\t%-5\t%-1$"
    engine:wait_line("^rows\t2000\ttrue\t2000$", 60)
  end)

  it("of a load phase ends in the generation, is refused with its place, and is dropped for the next edit", function()
    local sim = cluster.sim()
    place:write("it.lua", HEAD .. 'k8s.every("1s", function() end) print "first"')
    place:write("other.lua", HEAD .. [[
      k8s.informer "nodes"
      local last, most = os.clock(), 0
      k8s.every("10ms", function() most = math.max(most, os.clock() - last) last = os.clock() end)
      k8s.command("most", function() local was = most most = 0 return tostring(was) end)
    ]])
    local engine = place:start(sim)
    engine:wait_line "^first$"
    place:write("_mod.lua", "return { name = 'module' }")
    place:write("it.lua", HEAD .. [[
      burn(140)
      local mod = require "_mod"
      burn(10)
      k8s.every("1s", function() end)
      print("second", mod.name)
    ]])
    engine:wait_line "^second\tmodule$"
    engine:wait_error '"Reloaded".*generation=2'
    local most = tonumber((engine.ask("call", "most")))
    if not os.getenv("KUBELUA_PRESET") or os.getenv "KUBELUA_PRESET" == "release" then
      assert.is_true(most < 0.1, most .. " s of CPU time before a timer")
    end

    place:write("_mod.lua", HEAD .. "burn(200) return { name = 'slow' }")
    engine:wait_line "^second\tslow$"
    most = tonumber((engine.ask("call", "most")))
    if not os.getenv("KUBELUA_PRESET") or os.getenv "KUBELUA_PRESET" == "release" then
      assert.is_true(most < 0.1, most .. " s of CPU time before a timer of another script")
    end
    place:write("_mod.lua", "return { name = 'changed' }") -- it is watched, though it was required late
    engine:wait_line "^second\tchanged$"
    place:write("it.lua", HEAD .. 'burn(200)\nerror "broken"')
    engine:wait_error 'Reload refused.*it%.lua:7: broken'
    place:write("it.lua", HEAD .. "burn(400)\nprint 'never shown' k8s.every('1s', function() end) burn(90)")
    await(function() return engine.ask("status", "-o", "json"):find("its load phase", 1, true) end,
      "the load to be under way")
    place:write("it.lua", HEAD .. 'k8s.every("1s", function() end) print "third"')
    engine:wait_line "^third$"
    assert.has_no_match("never shown", engine:out(), 1, true)
    place:write("it.lua", HEAD .. "burn(400) print 'ends while it loads'")
    await(function() return engine.ask("status", "-o", "json"):find("its load phase", 1, true) end,
      "the load to be under way")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("of migrate ends in the generation, and is refused with its place", function()
    place:write("it.lua", HEAD .. [[
      local kept = k8s.state("kept", { version = 1, init = { n = 1 } })
      k8s.every("10ms", function() kept.late = true end)
      k8s.command("read", function() return kept.n .. " " .. tostring(kept.late) end)
    ]])
    place:write("other.lua", HEAD .. [[
      k8s.informer "nodes"
      local last, most = os.clock(), 0
      k8s.every("10ms", function() most = math.max(most, os.clock() - last) last = os.clock() end)
      k8s.command("most", function() local was = most most = 0 return tostring(was) end)
    ]])
    local engine = place:start(cluster.sim())
    local function edit(version, body)
      place:write("it.lua", HEAD .. ([[
        local kept = k8s.state("kept", { version = %d, migrate = function(old, from)
          %s
        end })
        k8s.command("read", function() return kept.n .. " " .. tostring(kept.late) end)
      ]]):format(version, body))
    end
    await(function() return engine.ask("call", "read"):find("1 true", 1, true) end, "the timer")
    engine.ask("call", "most")
    edit(2, "burn(300) old.n = old.n + 10 * from return old")
    engine:wait_error '"Reloaded".*generation=2'
    assert.has_match("^11 true", (engine.ask("call", "read")))
    local most = tonumber((engine.ask("call", "most")))
    if not os.getenv("KUBELUA_PRESET") or os.getenv "KUBELUA_PRESET" == "release" then
      assert.is_true(most < 0.1, most .. " s of CPU time before a timer")
    end

    edit(3, "burn(100)\nerror 'broken'")
    engine:wait_error "Reload refused.*it%.lua:8: broken"
    edit(3, "burn(100) return 7")
    engine:wait_error "Reload refused.*it%.lua:6: k8s%.state: kept: migrate must return a table, not number"
    edit(3, "pcall(burn, 5000)")
    engine:wait_error "Reload refused.*over the limit load%-cpu %(500ms%) in migrate"
    edit(3, "burn(400) return {}")
    await(function() return engine.ask("status", "-o", "json"):find("its state to be copied", 1, true) end,
      "migrate to be under way")
    edit(4, "return { n = old.n }")
    engine:wait_error '"Reloaded".*generation=3'
    assert.has_match("^11 nil", (engine.ask("call", "read")))
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
