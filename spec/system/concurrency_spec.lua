-- Handlers at rest, through the whole binary: calls of several objects that wait at once.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, data)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" },
    data = data or { a = "0" },
  }
end

describe("a handler with concurrency", function()
  after_each(cluster.stop_all)

  it("has calls of several objects wait at once, in order for each, and never two of one", function()
    local sim = cluster.sim()
    for i = 1, 4 do sim.api:create(configmaps, configmap("m" .. i)) end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      local under_way, most, seen = {}, 0, {}
      local function work(map)
        local name, calls = map:name(), 0
        assert(not under_way[name], "two at once: " .. name)
        under_way[name] = true
        for _ in pairs(under_way) do calls = calls + 1 end
        most = math.max(most, calls)
        k8s.sleep(tonumber(map.data.a) % 3 == 0 and "20ms" or "5ms")
        assert(tonumber(map.data.a) >= (seen[name] or 0), "out of order: " .. name)
        seen[name] = tonumber(map.data.a)
        under_way[name] = nil
        if map.data.a == "20" then print("last", name, most) end
      end
      maps:add_event_handler {
        concurrency = 3, OnAdd = work, OnUpdate = function(_, map) work(map) end,
      }
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    for round = 1, 20 do
      for i = 1, 4 do sim.api:patch(configmaps .. "/m" .. i, { data = { a = tostring(round) } }) end
    end
    local most = 0
    for _ = 1, 4 do most = math.max(most, tonumber(engine:wait_line "^last\tm%d\t(%d)$")) end
    assert.are.equal(3, most)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* errors=0', engine:err())
  end)

  it("shows how many of its calls wait", function()
    local sim = cluster.sim()
    for i = 1, 5 do sim.api:create(configmaps, configmap("m" .. i)) end
    local socket = temp.name() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("configmaps"):on_add(function() k8s.sleep "1h" end, { id = "slow", concurrency = 3 })
    ]], { "--admin-socket", socket })
    await(function()
      local status = cluster.kubelua { "status", "-o", "wide", "--admin-socket", socket }
      status:wait()
      return status:out():find("pending: slow 2 (busy 3 of 3)", 1, true)
    end, "three busy calls")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is named when its number is none, with the script's line", function()
    local sim = cluster.sim()
    for value, message in pairs {
      ["0"] = "on_add: concurrency must be a whole number from 1 to 1000, not 0",
      ["1001"] = "on_add: concurrency must be a whole number from 1 to 1000, not 1001",
      ["2.5"] = "on_add: concurrency must be a whole number from 1 to 1000, not 2.5",
      ["'2'"] = "on_add: concurrency must be a number, not string",
    } do
      local engine = cluster.run(sim.server, cluster.script([[
        local k8s = require "k8s"
        k8s.informer("pods"):on_add(print, { concurrency = ]] .. value .. " })"))
      assert.are.equal(2, engine:wait())
      assert.has_match(".lua:2: " .. message, engine:err(), 1, true)
    end
  end)
end)

describe("a handler with debounce", function()
  after_each(cluster.stop_all)

  it("is notified of many changes as of one, of deletes at once, and of nothing more at the end", function()
    local sim = cluster.sim()
    for _, name in ipairs { "burst", "gone" } do sim.api:create(configmaps, configmap(name)) end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      local first = {}
      maps:add_event_handler {
        debounce = "300ms",
        OnAdd = function(map, ev) print("add", map:name(), map.data.a, ev.initial) end,
        OnUpdate = function(old, new, ev)
          print("update", new:name(), old.data.a .. ">" .. new.data.a, ev.coalesced)
        end,
        OnDelete = function(map) print("delete", map:name(), map.data.a) end,
      }
      maps:on_update(function(_, map)
        if map:name() == "burst" then first[map.data.a] = k8s.now() end
      end)
      maps:on_update(function(_, map)
        local at = map:name() == "burst" and first[map.data.a]
        if at then print(k8s.now() - at >= 0.299 and "late" or "early", map.data.a) end
      end, { debounce = "300ms" })
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    assert.has_match("add\tburst\t0\ttrue\n", engine:out(), 1, true)
    for i = 1, 5 do sim.api:patch(configmaps .. "/burst", { data = { a = tostring(i) } }) end
    sim.api:patch(configmaps .. "/gone", { data = { a = "6" } })
    sim.api:delete(configmaps .. "/gone")
    sim.api:create(configmaps, configmap("new", { a = "7" }))
    sim.api:patch(configmaps .. "/new", { data = { a = "8" } })
    engine:wait_line "^add\tnew\t8\tfalse$"
    sim.api:create(configmaps, configmap "never")
    sim.api:delete(configmaps .. "/never")
    sim.api:patch(configmaps .. "/new", { data = { a = "9" } })
    engine:wait_line "^update\tnew\t8>9\tfalse$"
    sim.api:patch(configmaps .. "/burst", { data = { a = "10" } }) -- behind all that waits still
    engine:wait_line "^update\tburst\t5>10\tfalse$"
    engine:wait_line "^late\t10$"
    local lines = {}
    for line in engine:out():gmatch "[^\n]+" do lines[#lines + 1] = line:gsub("\t", " ") end
    table.sort(lines)
    assert.are.same({
      "add burst 0 true", "add gone 0 true", "add new 8 false", "delete gone 6", "late 10", "late 5", "synced",
      "update burst 0>5 true", "update burst 5>10 false", "update new 8>9 false",
    }, lines)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* eventsUnhandled=0 ', engine:err())
  end)

  it("keeps counts right of objects that change and go before the change is delivered (I-8)", function()
    local sim = cluster.sim()
    for i = 1, 10 do
      local map = configmap("m" .. i)
      map.metadata.labels = { colour = "red" }
      sim.api:create(configmaps, map)
    end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local counts = { red = 0, blue = 0 }
      local function count(map, n) counts[map:label "colour"] = counts[map:label "colour"] + n end
      k8s.informer("configmaps", { namespace = "default" }):add_event_handler {
        debounce = "2s",
        OnAdd = function(map) count(map, 1) end,
        OnUpdate = function(old, new) count(old, -1) count(new, 1) end,
        OnDelete = function(last, ev)
          local before = ev.previous or last
          count(before, -1)
          print("deleted", before:label "colour" .. ">" .. last:label "colour", counts.red, counts.blue)
        end,
      }
      k8s.main(function() print("synced", counts.red, counts.blue) end)
    ]])
    engine:wait_line "^synced\t10\t0$"
    for i = 1, 10 do
      sim.api:patch(configmaps .. "/m" .. i, { metadata = { labels = { colour = "blue" } } })
      sim.api:delete(configmaps .. "/m" .. i)
    end
    for left = 9, 0, -1 do
      assert.are.equal(("deleted\tred>blue\t%d\t0"):format(left), engine:wait_line "^deleted\t.*$")
    end
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* errors=0', engine:err())
  end)

  it("counts events that were not delivered at the end", function()
    local sim = cluster.sim()
    for i = 1, 3 do sim.api:create(configmaps, configmap("m" .. i)) end
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_update(function() print "never" end, { debounce = "1h" })
      maps:on_update(function(_, map) print("told", map:name()) end)
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    for i = 1, 3 do sim.api:patch(configmaps .. "/m" .. i, { data = { a = "1" } }) end
    for _ = 1, 3 do engine:wait_line "^told\tm%d$" end
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* eventsUnhandled=3 ', engine:err())
    assert.has_no_match("never", engine:out(), 1, true)
  end)
end)

describe("handlers at rest when their script changes", function()
  after_each(cluster.stop_all)

  -- The handler is the same in both, what it calls is not. A call for "one" waits until "two" says go.
  local function script(mark, options)
    return ([[
      local k8s = require "k8s"
      function tell(...) print("%s", ...) end
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:add_event_handler {
        id = "it", %s,
        OnUpdate = function(_, map)
          if map:name() ~= "one" then return end
          tell("begins", map.data.a)
          while not maps:lister():get("default/two").data.go do k8s.sleep "10ms" end
          tell("ends", map.data.a)
        end,
        OnDelete = function(map, ev) tell("deleted", map:name(), ev.coalesced) end,
      }
    ]]):format(mark, options)
  end

  local function write(path, text)
    local file = assert(io.open(path .. ".new", "w"))
    file:write(text)
    file:close()
    assert(os.rename(path .. ".new", path))
  end

  it("have the next one go on with events that debounce delays", function()
    local sim = cluster.sim()
    for _, name in ipairs { "one", "two" } do sim.api:create(configmaps, configmap(name)) end
    local path = cluster.script(script("first", "debounce = '1h'"))
    local engine = cluster.run(sim.server, path, { "-f", cluster.script [[
      require("k8s").informer("configmaps", { namespace = "default" }):on_update(function(_, map)
        print("changed", map:name())
      end)
    ]] })
    engine:wait_error '"Synced"'
    for _, name in ipairs { "one", "two" } do
      sim.api:patch(configmaps .. "/" .. name, { data = { a = "1" } })
      engine:wait_line("^changed\t" .. name .. "$")
    end
    write(path, script("second", "debounce = '1h'"))
    engine:wait_error '"Reloaded".* handlersKept=1 .* eventsDropped=0 '
    sim.api:delete(configmaps .. "/one")
    engine:wait_line "^second\tdeleted\tone\ttrue$" -- with the update that had waited
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".* eventsUnhandled=1 ', engine:err())
  end)

  it("have the next one wait for the old one's calls of the same object", function()
    local sim = cluster.sim()
    for _, name in ipairs { "one", "two" } do sim.api:create(configmaps, configmap(name)) end
    local path = cluster.script(script("first", "concurrency = 2"))
    local engine = cluster.run(sim.server, path)
    engine:wait_error '"Synced"'
    sim.api:patch(configmaps .. "/one", { data = { a = "1" } })
    engine:wait_line "^first\tbegins\t1$"
    sim.api:patch(configmaps .. "/one", { data = { a = "2" } })
    write(path, script("second", "concurrency = 2"))
    engine:wait_error '"Reloaded".* handlersKept=1 '
    sim.api:patch(configmaps .. "/two", { data = { go = "yes" } })
    for _, line in ipairs { "first\tends\t1", "second\tbegins\t2", "second\tends\t2" } do
      engine:wait_line("^" .. line .. "$")
    end
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
