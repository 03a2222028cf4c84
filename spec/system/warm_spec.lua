-- `kubelua run --cache-dir`: an engine that goes on from the caches of the one before it.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"

local MAPS = "/api/v1/namespaces/default/configmaps"

-- Prints each event, with what is special of it.
local TELLS = scripts_folder.HEAD .. [[
  local function tell(what, o, ev)
    local when = (ev.initial and "initial" or "later") .. (ev.warm and " warm" or "")
    print(("%%s %%s %%s"):format(what, o.metadata.name, when))
  end
  k8s.informer("configmaps", { namespace = "default" }):add_event_handler { id = "tells", %s
    OnAdd = function(o, ev) tell("add", o, ev) end,
    OnUpdate = function(_, o, ev) tell("update", o, ev) end,
    OnDelete = function(o, ev) tell("delete", o, ev) end,
  }
  k8s.main(function() print "ready" end)
]]

local function map(name, data, kind)
  return { apiVersion = "v1", kind = kind or "ConfigMap", metadata = { name = name }, data = data or { n = "1" } }
end

describe("an engine with a cache directory", function()
  local place, sim, dir
  before_each(function()
    place = scripts_folder.new()
    dir = place.path .. "/cache"
    sim = cluster.sim()
    for i = 1, 3 do sim.api:create(MAPS, map("map-" .. i)) end
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function begin(more, args, rest)
    place:write("it.lua", TELLS:format(more or "") .. (rest or ""))
    return place:start(sim, nil, { "--cache-dir", dir, "-v1", unpack(args or {}) })
  end

  local function start(...)
    local engine = begin(...)
    engine:wait_line "^ready$"
    return engine
  end

  -- The server puts lists and watches of a resource off, until sim:play { ["do"] = "clear" }.
  local function hold(resource)
    for _, verb in ipairs { "list", "watch" } do
      sim:play { ["do"] = "fault", verb = verb, resource = resource, what = "status", code = 429, times = 0 }
    end
  end

  local function stop(engine)
    assert.are.equal(0, cluster.terminate(engine))
    return engine
  end

  -- The lines of events so far, sorted.
  local function events(engine)
    local lines = {}
    for line in engine:out():gmatch "[^\n]+" do
      if line ~= "ready" then lines[#lines + 1] = line end
    end
    table.sort(lines)
    return lines
  end

  -- Lists that are streamed, too.
  local function lists()
    local stats = sim.api:get "/sim/stats"
    return stats.lists + stats.watch_lists
  end

  local function path() return dir .. "/caches" end

  local function read(name)
    local file = assert(io.open(name, "rb"))
    local bytes = file:read "*a"
    file:close()
    return bytes
  end

  local function write(name, bytes)
    local file = assert(io.open(name, "wb"))
    file:write(bytes)
    file:close()
  end

  -- What the engine has logged by now, as it does at the start.
  local function said(engine, text) assert.has_match(text, engine:err(), 1, true) end

  local function has_all(engine, expected) assert.are.same(expected, events(engine)) end

  local WARM = { "add map-1 initial warm", "add map-2 initial warm", "add map-3 initial warm" }
  local COLD = { "add map-1 initial", "add map-2 initial", "add map-3 initial" }

  local function change()
    sim.api:create(MAPS, map "map-4")
    sim.api:delete(MAPS .. "/map-2")
    sim.api:patch(MAPS .. "/map-3", { data = { n = "3" } })
  end

  -- Changes that come before the first calls are in the adds (below), so they come later here.
  local function begins_with_the_stored_cache()
    hold "configmaps"
    local engine = start()
    has_all(engine, WARM)
    sim:play { ["do"] = "clear" }
    engine:wait_until(function() return #events(engine) >= 6 end, "six events")
    has_all(engine, {
      "add map-1 initial warm", "add map-2 initial warm", "add map-3 initial warm", "add map-4 later",
      "delete map-2 later", "update map-3 later",
    })
    return engine
  end

  it("begins with what the one before had, without a list, and continues the watch", function()
    has_all(stop(start()), COLD)
    local before = lists()
    change()
    local engine = begins_with_the_stored_cache()
    assert.are.equal(before, lists())
    assert.are.equal("stored cache", cjson.decode((engine.ask("status", "-ojson"))).informers[1].syncedBy)
    said(engine, ('"Starting from the stored caches" file="%s" objects=3 informers=1'):format(path()))
  end)

  it("begins with what is cached by its first calls, if changes come before them", function()
    local function needs(kind) return nil, nil, ('k8s.informer "%s"'):format(kind) end
    stop(start(needs "namespaces"))
    local before = lists()
    change()
    hold "pods"
    local engine = begin(needs "pods")
    await(function()
      local names = {}
      for _, o in ipairs(cjson.decode((engine.ask("get", "configmaps", "-ojson"))).items) do
        names[#names + 1] = o.metadata.name .. "=" .. o.data.n
      end
      table.sort(names)
      return table.concat(names, " ") == "map-1=1 map-3=3 map-4=1"
    end, "the changes in the cache")
    has_all(engine, {})
    assert.are.equal(before, lists())
    sim:play { ["do"] = "clear" }
    engine:wait_line "^ready$"
    has_all(engine, { "add map-1 initial warm", "add map-3 initial warm", "add map-4 initial warm" })
  end)

  it("saves now and then, so that a killed one leaves something too", function()
    local engine = start(nil, { "--cache-interval", "1s" })
    engine:wait_error "Caches saved"
    engine:kill "KILL"
    engine:wait()
    has_all(start(), WARM)
  end)

  it("tells a handler that asks for it of changes only, if it was done with the cache", function()
    has_all(stop(start 'initial = "changed",'), COLD)
    sim.api:delete(MAPS .. "/map-1")
    sim.api:patch(MAPS .. "/map-3", { data = { n = "3" } })
    local engine = start 'initial = "changed",'
    engine:wait_until(function() return #events(engine) >= 2 end, "two events")
    has_all(engine, { "delete map-1 later", "update map-3 later" })
    stop(engine)
    -- Another handler, which the last run did not have.
    has_all(start 'initial = "changed", selector = "!none", id = "other",', { WARM[2], WARM[3] })
  end)

  it("holds changes for such a handler until the other informers of the script are synced", function()
    local script = scripts_folder.HEAD .. [[
      local pods = k8s.informer("%s"):lister()
      k8s.informer("configmaps", { namespace = "default" }):add_event_handler { id = "tells", initial = "changed",
        OnUpdate = function(_, o) print(pods:count() > 0, "update " .. o.metadata.name) end,
      }
      k8s.main(function() print "ready" end)
    ]]
    local function run(kind)
      place:write("it.lua", script:format(kind))
      local engine = place:start(sim, nil, { "--cache-dir", dir })
      engine:wait_line "^ready$"
      return engine
    end
    stop(run "namespaces")
    sim.api:patch(MAPS .. "/map-3", { data = { n = "3" } })
    sim.api:create("/api/v1/namespaces/default/pods", {
      apiVersion = "v1", kind = "Pod", metadata = { name = "pod" },
      spec = { containers = { { name = "a", image = "a" } } },
    })
    -- The pods come half a second later than the change.
    for _, verb in ipairs { "list", "watch" } do
      sim:play { ["do"] = "fault", verb = verb, resource = "pods", what = "delay", ["for"] = "500ms", times = 0 }
    end
    local engine = run "pods"
    engine:wait_until(function() return #events(engine) >= 1 end, "one event")
    has_all(engine, { "true\tupdate map-3" })
  end)

  it("refuses initial with a wrong word, and with leader", function()
    for more, message in pairs {
      ['initial = "none",'] = 'initial must be "all" or "changed", not "none"',
      ['initial = "changed", leader = true,'] = 'initial = "changed" cannot be combined with leader = true',
    } do
      place:write("it.lua", TELLS:format(more))
      local p = cluster.run(sim.server, place.path .. "/scripts", { "--cache-dir", dir })
      assert.are.equal(2, p:wait())
      assert.has_match(message, p.streams.err.text, 1, true)
    end
  end)

  it("lists, and compares, when the stored version has expired", function()
    stop(start())
    local before = lists()
    change()
    sim:play { ["do"] = "expire" }
    begins_with_the_stored_cache()
    assert.are.equal(before + 1, lists())
  end)

  it("keeps Secrets off the disk unless they are wanted there", function()
    sim.api:create("/api/v1/namespaces/default/secrets", map("s", { password = "bm90LW9uLXRoZS1kaXNr" }, "Secret"))
    place:write("secrets.lua", scripts_folder.HEAD .. [[
      k8s.informer "secrets"
      k8s.main(function() print "secrets ready" end)
    ]])
    local function run(args)
      local engine = start(nil, args)
      engine:wait_until(function() return engine:out():find "secrets ready" end, "the cache of Secrets")
      stop(engine)
    end
    run()
    assert.is_nil(read(path()):find("bm90LW9uLXRoZS1kaXNr", 1, true))
    run { "--cache-secrets" }
    assert.is_truthy(read(path()):find("bm90LW9uLXRoZS1kaXNr", 1, true))
    assert.has_match("^%-rw%-%-%-%-%-%-%- ", io.popen("ls -l " .. path()):read "*a")
  end)

  it("starts cold, and says why, when the file is not right", function()
    stop(start())
    local good = read(path())
    local function refused(bytes, message)
      write(path(), bytes)
      local engine = start()
      said(engine, '"Starting without the stored caches" err="' .. path())
      said(engine, message)
      has_all(stop(engine), COLD)
      assert.is_true(math.abs(#read(path()) - #good) < 100) -- and is replaced by a good one
    end
    refused(good:sub(1, -2), "incomplete")
    refused("", "incomplete")
    refused(("\0"):rep(#good), "incomplete")
    refused(("x"):rep(#good), "not a file of this kind")
    refused(good:sub(1, 8) .. "\9" .. good:sub(10), "this version reads format")
    local middle = math.floor(#good / 2)
    refused(good:sub(1, middle) .. string.char((good:byte(middle + 1) + 1) % 256) .. good:sub(middle + 2), "damaged")
    write(path(), good)
    os.execute("chmod 666 " .. path())
    local engine = start()
    said(engine, "other users may write it")
    has_all(engine, COLD)
  end)

  it("starts cold when the caches are of another cluster", function()
    stop(start())
    local port = sim.server:match ":(%d+)$"
    sim:kill "KILL"
    sim:wait()
    sim = cluster.sim({}, tonumber(port))
    sim.api:create(MAPS, map "other")
    local engine = start()
    said(engine, "they are of another cluster")
    has_all(engine, { "add other initial" })
  end)

  it("saves also when the cluster was identified late", function()
    sim:play { ["do"] = "fault", verb = "get", resource = "namespaces", what = "status", code = 500, times = 0 }
    local engine = start(nil, { "--cache-interval", "50ms" })
    said(engine, "Caches are not saved yet, the cluster cannot be identified")
    sim:play { ["do"] = "clear" }
    engine:wait_error "Caches saved"
  end)

  it("keeps its caches over a start that fails", function()
    stop(start())
    for flag, value in pairs { ["--audit-log"] = "/proc/none/log", ["--cache-interval"] = "1ms" } do
      local p = cluster.run(sim.server, place.path .. "/scripts", { "--cache-dir", dir, flag, value })
      assert.are.equal(2, p:wait(), p:report())
      assert.has_match(flag .. ": ", p:err(), 1, true)
    end
    has_all(start(), WARM)
  end)

  it("does without when another engine has the directory, and ends when it cannot have one", function()
    start()
    local engine = cluster.run(sim.server, place.path .. "/scripts", { "--cache-dir", dir })
    engine:wait_line "^ready$"
    said(engine, "Another engine uses the cache directory")
    has_all(engine, COLD)
    local p = cluster.run(sim.server, place.path .. "/scripts", { "--cache-dir", "/proc/none/cache" })
    assert.are.equal(2, p:wait())
    assert.has_match("--cache-dir: cannot make the directory /proc/none/cache: No such file or directory",
      p.streams.err.text, 1, true)
  end)

  it("is right after each of many kills at random, in the middle of saves", function()
    local KILLS = tonumber(os.getenv "KUBELUA_WARM_KILLS" or 6)
    local seed = tonumber(os.getenv "SEED") or os.time()
    print("warm_spec: SEED=" .. seed)
    math.randomseed(seed)
    for i = 1, 200 do sim.api:create(MAPS, map("many-" .. i, { text = ("long "):rep(math.random(100)) .. i })) end
    local function versions(items)
      local all = {}
      for _, o in ipairs(items) do
        all[o.metadata.name] = o.metadata.resourceVersion .. cjson.encode(o.data.text or "")
      end
      return all
    end
    local warm = 0
    for _ = 1, KILLS do
      local engine = start(nil, { "--cache-interval", "10ms" })
      local want = versions(sim.api:get(MAPS).items)
      await(function()
        local got = versions(cjson.decode((engine.ask("get", "configmaps", "-ojson"))).items)
        return pcall(assert.are.same, want, got)
      end, "the cache equals the list")
      if engine:err():find("Starting from the stored caches", 1, true) then warm = warm + 1 end
      for _ = 1, math.random(5) do
        sim.api:patch(MAPS .. "/many-" .. math.random(200), { data = { text = "changed " .. math.random(1e6) } })
      end
      local until_ = proc.now() + math.random() * 0.3
      while proc.now() < until_ do engine:pump(until_) end
      engine:kill "KILL"
      engine:wait()
    end
    assert.is_true(warm > 0, "no start was warm")
  end)

  -- From the start to the first event of the watch; what an engine without informers takes is not counted.
  it("costs a small part of a cold start", function()
    local PODS, PART = tonumber(os.getenv "KUBELUA_WARM_PODS" or 20000), tonumber(os.getenv "KUBELUA_WARM_PART" or 5)
    sim:kill "KILL"
    sim = cluster.sim { "--pods", tostring(PODS) }
    local first = sim.api:get("/api/v1/pods?limit=1").items[1].metadata
    place:write("it.lua", scripts_folder.HEAD .. [[
      k8s.informer("pods"):add_event_handler { id = "pods", initial = "changed",
        OnUpdate = function() print "event" end,
      }
      k8s.main(function() print "ready" end)
    ]])
    place:write("idle.lua", scripts_folder.HEAD .. 'k8s.main(function() print "ready" end)')
    local function cost(script, args)
      local engine = cluster.run(sim.server, place.path .. "/scripts/" .. script, args)
      engine:wait_line("^ready$", 120)
      if script == "it.lua" then
        sim:play { ["do"] = "touch", resource = "pods", namespace = first.namespace, name = first.name }
        engine:wait_line "^event$"
      end
      return engine:cpu(), engine
    end
    local idle = cost "idle.lua"
    local cold, engine = cost("it.lua", { "--cache-dir", dir })
    engine:kill "TERM"
    engine:wait(60)
    -- The least of three, as the system may have to make room for large pages first.
    local warm = math.huge
    for _ = 1, 3 do
      local seconds, again = cost("it.lua", { "--cache-dir", dir })
      warm = math.min(warm, seconds)
      again:kill "KILL"
      again:wait()
    end
    local figures = ("%d pods: cold %.2f s, warm %.2f s, idle %.2f s"):format(PODS, cold, warm, idle)
    print("# " .. figures)
    assert.is_true((warm - idle) * PART < cold - idle, figures)
  end)
end)
