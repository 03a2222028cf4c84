-- k8s.watch in the whole binary: what it tells, how it ends, and who may be slow.
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"
local live = require "spec.support.live"
local proc = require "spec.support.proc"

local configmaps, configmap = colours.path, colours.map

describe("a live watch #threads", function()
  local sim

  before_each(function() sim = live.sim() end)
  after_each(cluster.stop_all)

  it("delivers every event, and ends with a timeout or a close", function()
    local engine = sim:start [[
      local maps = watch()
      print "ready"
      for ev in maps do
        show(ev)
        if ev.type == "DELETED" then maps:close() end
      end
      print(maps())
      for _ in watch { timeout = "50ms" } do print "never" end
      print "end"
    ]]
    engine:wait_line "^ready$"
    sim.api:create(configmaps, configmap("new", "white"))
    sim.api:patch(configmaps .. "/new", { data = { colour = "black" } })
    sim.api:delete(configmaps .. "/new")
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("ready\nADDED\tnew\twhite\nMODIFIED\tnew\tblack\nDELETED\tnew\tblack\n\nend\n", engine:out())
  end)

  it("loses nothing when a stream breaks off, and reports it in the log", function()
    local engine = sim:start [[
      local maps = watch { selector = "even" }
      print "ready"
      for ev in maps do
        show(ev)
        if ev.object:name() == "last" then break end
      end
    ]]
    engine:wait_line "^ready$"
    for i, what in ipairs { "cut", "reset", "end", "error-event", "unknown-type" } do
      sim:inject { what = what, code = 500 }
      sim.api:create(configmaps, configmap("new-" .. i, "white", { even = "no" }))
      engine:wait_line("^ADDED\tnew%-" .. i .. "\twhite$")
    end
    sim.api:create(configmaps, configmap("last", "white", { even = "no" }))
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal(6, select(2, engine:out():gsub("ADDED", "")))
    assert.has_match("Watch failed, retrying", engine:err())
  end)

  -- RW-2
  it("ends with an ERROR whose object is the Status", function()
    local engine = sim:start [[
      local maps = watch()
      print "ready"
      for ev in maps do show(ev) end
      print "end"
    ]]
    engine:wait_line "^ready$"
    sim:inject { what = "error-event", code = 410, reason = "Expired", message = "too old" }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("ready\nERROR\tStatus\t410\tExpired\ttoo old\nend\n", engine:out())
  end)

  it("ends with one when it may not be opened, and tries again when the server is busy", function()
    sim:fault { verb = "watch", what = "status", code = 403, reason = "Forbidden", message = "no" }
    assert.are.equal("ERROR\tStatus\t403\tForbidden\tno\n", sim:run "for ev in watch() do show(ev) end")
    sim:fault { verb = "watch", what = "status", code = 429, retry_after = 1, times = 2 }
    local engine = sim:start [[
      local maps = watch()
      print "ready"
      show(maps())
    ]]
    engine:wait_line "^ready$"
    sim.api:create(configmaps, configmap("new", "white"))
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("ready\nADDED\tnew\twhite\n", engine:out())
  end)

  it("delivers every event to a slow script, from a bounded buffer", function()
    local engine = sim:start [[
      local maps = watch()
      local count, last = 0, 0
      print "ready"
      for ev in maps do
        if count % 500 == 0 then k8s.sleep "300ms" end
        count = count + 1
        local version = tonumber(ev.object:resource_version())
        assert(version > last, "out of order")
        last = version
        if count == 4000 then break end
      end
      print(count)
    ]]
    engine:wait_line "^ready$"
    sim:play { ["do"] = "touch", resource = "configmaps", namespace = "default", name = "map-1", count = 4000 }
    assert.are.equal(0, engine:wait(60), engine:err())
    assert.are.equal("ready\n4000\n", engine:out())
  end)

  it("is let go of when a loop over it is left, be it a hundred times", function()
    local engine = sim:start [[
      for i = 1, 150 do
        for _ in watch { timeout = "1h" } do break end
        if i == 1 then print "first" end
      end
      print "end"
      k8s.sleep "1h"
    ]]
    local function touch()
      sim:play { ["do"] = "touch", resource = "configmaps", namespace = "default", name = "map-1" }
    end
    local deadline = proc.now() + 60
    while not engine:out():find "end\n" and proc.now() < deadline do
      touch()
      engine:pump(proc.now() + 0.01)
    end
    assert.has_match("end\n", engine:out())
    assert.is_true(sim:requests().open_watches <= 100)
  end)

  it("is limited in number while it is referenced", function()
    local out = sim:run [[
      local held = {}
      print(pcall(function() for i = 1, 200 do held[i] = watch() end end))
      print(#held)
    ]]
    assert.has_match("false\t[^\n]*:%d+: k8s%.watch: too many at once %(maximum 100%)\n100\n", out)
  end)

  -- RW-1
  it("refuses a version that is none", function()
    local out = sim:run [[
      for _, version in ipairs { "0", "", "x", "01", "5 " } do
        print((select(2, pcall(k8s.watch, "cm", { resource_version = version })):gsub("^.-:%d+: ", "")))
      end
      print((select(2, pcall(k8s.watch, "cm")):gsub("^.-:%d+: ", "")))
    ]]
    local says = "k8s.watch: resource_version must be that of a list or an object, not "
    assert.are.equal(says .. '"0"\n' .. says .. '""\n' .. says .. '"x"\n' .. says .. '"01"\n' .. says .. '"5 "\n' ..
      says .. '""\n', out)
  end)

  it("works in pcall and in the script's own coroutines", function()
    local engine = sim:start [[
      print(pcall(k8s.get, "cm", "default/map-1"))
      local pages = coroutine.wrap(function()
        for page in k8s.pages("cm", { chunk_size = 1 }) do
          for _, map in ipairs(page) do coroutine.yield(map:name()) end
        end
      end)
      print(pages(), pages(), pages())
      local events = coroutine.wrap(function() for ev in watch() do coroutine.yield(ev.object:name()) end end)
      print "ready"
      print(select(2, pcall(events)), events())
      print((select(2, pcall(load, function() k8s.list "cm" end)):gsub("^.-:%d+: ", "")))
    ]]
    engine:wait_line "^ready$"
    for i = 1, 2 do sim.api:create(configmaps, configmap("new-" .. i, "white")) end
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("true\tConfigMap default/map-1\nmap-1\tmap-2\tmap-3\nready\nnew-1\tnew-2\n" ..
      "k8s.list may not be called in a reader function of load\n", engine:out())
  end)

  it("is waited for by one at a time", function()
    local engine = cluster.run(sim.server, cluster.script(live.prelude .. [[
      local shared
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_update(function() print("first", shared().type) end, { id = "first" })
      maps:on_update(function()
        print("second", (select(2, pcall(shared)):gsub("^.-:%d+: ", "")))
        shared:close()
      end, { id = "second" })
      k8s.main(function()
        shared = watch { field_selector = "metadata.name=none" }
        print "ready"
      end)
    ]]))
    engine:wait_line "^ready$"
    sim.api:patch(configmaps .. "/map-1", { data = { colour = "black" } })
    engine:wait_line "^second\tk8s.watch: another coroutine is already waiting$"
    engine:wait_error "Handler failed" -- closed under the first: nothing came
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("goes on beside the caches of other scripts", function()
    local one = cluster.script(live.prelude .. [[
      k8s.main(function()
        local maps = watch()
        print "ready"
        for ev in maps do show(ev) end
      end)
    ]])
    local two = cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_update(function(_, new) print("cache", new:name(), new.data.colour) end)
      k8s.main(function() print "synced" end)
    ]]
    local engine = cluster.run(sim.server, one, { "-f", two })
    engine:wait_line "^ready$"
    if not engine:out():find "synced" then engine:wait_line "^synced$" end
    sim.api:patch(configmaps .. "/map-1", { data = { colour = "black" } })
    engine:wait_until(function()
      return engine:out():find "MODIFIED\tmap%-1\tblack" and engine:out():find "cache\tmap%-1\tblack"
    end, "the watch and the cache")
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
