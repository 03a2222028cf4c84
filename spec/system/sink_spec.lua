-- k8s.sink of a process: what is published is delivered, in order, whatever happens to the engine and the receiver.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local k8s = require "k8s"
  local settings = k8s.params { to = { type = "string", required = true }, from = { type = "integer", default = 1 } }
  local headers = settings.to:find "^http" and { ["X-Key"] = "s3cret" } or nil
  local sink = k8s.sink { name = "out", to = settings.to, type = "t", spool = "8Mi", headers = headers }
  %s
]]

local function lines(path)
  local file, list = io.open(path), {}
  if not file then return list end
  for line in file:lines() do list[#list + 1] = line end
  file:close()
  return list
end

-- Each id that the engine acknowledged is there, and of each key the first time in order. Returns the duplicates.
local function check_order(ids, stored, about)
  local seen, last, twice = {}, {}, 0
  for _, id in ipairs(ids) do
    local key, n = id:match "^(k%d)/(%d+)$"
    if not n then error("what is " .. id) end
    n = tonumber(n)
    if seen[n] then
      twice = twice + 1
    else
      if n <= (last[key] or 0) then error(("%s came after %s; %s"):format(id, last[key], about)) end
      last[key], seen[n] = n, true
    end
  end
  local lost = {}
  for n = 1, stored do
    if not seen[n] then lost[#lost + 1] = n end
  end
  if #lost > 0 then
    error(("%d of %d are lost, from %d to %d; %s"):format(#lost, stored, lost[1], lost[#lost], about))
  end
  return twice
end

describe("a sink #threads", function()
  local sim, folder, log, receiver, to
  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    log = folder .. "/log"
    receiver = proc.spawn { "python3", "spec/support/sink_receiver.py", log }
    receiver.host = "127.0.0.1:" .. receiver:wait_line "port (%d+)"
    to = "http://" .. receiver.host
  end)
  after_each(function()
    cluster.stop_all()
    receiver:kill "KILL"
    receiver:wait()
    temp.remove(folder)
  end)

  local function set_mode(mode) temp.write(log .. ".mode", mode) end

  local function run(body, args)
    local all = {
      "--state-dir", folder .. "/states", "--allow-http", receiver.host, "--allow-sink", "file://" .. folder .. "/",
      "--param", "to=" .. to,
    }
    for _, arg in ipairs(args or {}) do all[#all + 1] = arg end
    -- The name of a script is that of its directory.
    temp.write(folder .. "/it.lua", SCRIPT:format(body))
    return cluster.run(sim.server, folder .. "/it.lua", all)
  end

  local function spool_of() return folder .. "/states/it/out.spool" end

  local function received()
    local ids = {}
    for i, line in ipairs(lines(log)) do ids[i] = line:match "^%S+" end
    return ids
  end

  local function await(what, condition, engine)
    local deadline = proc.now() + proc.patience(20)
    while not condition() do
      assert.is_true(proc.now() < deadline, what .. "\n" .. engine:report())
      engine:pump(proc.now() + 0.05)
    end
  end

  it("has publish wait while the spool is full, and return an error after its timeout", function()
    set_mode "down"
    local engine = run [[
      local data = ("x"):rep(200000)
      k8s.main(function()
        for n = 1, math.huge do
          local ok, err = sink:publish({ data = data }, { id = "k0/" .. n, timeout = "300ms" })
          print(ok and "stored " .. n or err.reason .. " " .. err.message)
          if not ok then k8s.sleep(0.2) end
        end
      end)
    ]]
    local line = engine:wait_line "^(Timeout .*)$"
    assert.matches("sink out: the event was not stored in time: the spool is full %(spool = 8Mi%), as events "
      .. "are not delivered: the server responded 503", line)
    assert.matches("Events wait as they cannot be delivered, retrying.*503", engine:err())
    set_mode "ok"
    engine:wait_line("^stored %d%d%d", 40)
    engine:kill "KILL"
    engine:wait()
    local ids = received()
    assert.is_true(#ids > 20)
  end)

  it("has publish wait while the disk is full, loses nothing that it stored, and goes on", function()
    local engine = run [[
      k8s.main(function()
        for n = 1, 400 do
          while true do
            local ok, err = sink:publish({ data = ("x"):rep(1000) }, { id = "k1/" .. n, key = "k1", timeout = "50ms" })
            if ok then break end
            print("failed " .. err.message)
          end
          print("stored " .. n)
        end
      end)
    ]]
    set_mode "down"
    engine:wait_line "^stored 100$"
    local text, code = temp.run(("prlimit --pid %d --fsize=200000:"):format(engine.pid))
    assert.are.equal(0, code, text)
    assert.matches("the event was not stored in time: .*out.spool: File too large", engine:wait_line "^(failed .*)$")
    assert.matches('Cannot store events, retrying".*sink="out" err="[^"]*File too large', engine:err())
    temp.run(("prlimit --pid %d --fsize=unlimited:"):format(engine.pid))
    engine:wait_line("^stored 400$", 40)
    set_mode "ok"
    await("all events", function() return #received() >= 400 end, engine)
    assert.are.equal(0, cluster.terminate(engine), engine:report())
    check_order(received(), 400, engine:report())
  end)

  it("sets aside an event that is refused, names it, and delivers the others", function()
    set_mode "choosy"
    local engine = run [[
      k8s.main(function()
        for n = 1, 9 do
          assert(sink:publish({ subject = n == 5 and "bad" or nil }, { id = "k1/" .. n, key = "k1" }))
        end
        print "done"
      end)
    ]]
    await("eight events", function() return #received() >= 8 end, engine)
    assert.matches('An event was refused, and is set aside".*id="k1/5".*refused.jsonl.*the server responded 400',
      engine:wait_error "(An event was refused.*)" and engine:err())
    assert.are.equal(0, cluster.terminate(engine), engine:report())
    assert.are.equal(8, #received())
    assert.matches('"id":"k1/5"', temp.read(spool_of() .. "/refused.jsonl"))
  end)

  it("waits as long as Retry-After says, and follows no redirect that would lose the events", function()
    set_mode "moved"
    local engine = run [[
      k8s.main(function()
        assert(sink:publish({}, { id = "k0/1" }))
        print "done"
      end)
    ]]
    engine:wait_error "the server responded 302"
    set_mode "busy 2"
    await("the event", function() return #received() == 1 end, engine)
    local times = {}
    for i, line in ipairs(lines(log .. ".requests")) do times[i] = tonumber(line:match "^%S+") end
    assert.is_true(times[#times] - times[#times - 1] >= 2)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("keeps what was not delivered for the next start, and moves a damaged file aside, which the log names", function()
    set_mode "down"
    local body = [[
      k8s.main(function()
        for n = settings.from, settings.from + 2 do assert(sink:publish({}, { id = "k0/" .. n })) end
        print "done"
      end)
    ]]
    local engine = run(body)
    engine:wait_line "done"
    engine:wait_error "Events wait"
    assert.are.equal(0, cluster.terminate(engine))
    assert.matches('Events stay in the spool until the next start".*events=3', engine:err())
    local path = spool_of() .. "/00000000000000000001.spool"
    local text = temp.read(path)
    local at = text:find("k0/1", 1, true)
    temp.write(path, text:sub(1, at) .. "X" .. text:sub(at + 2))
    set_mode "ok"
    engine = run(body, { "--param", "from=4" })
    engine:wait_error 'A file of the spool is damaged, its events are lost".*keptAs="[^"]*spool.aside%-1"'
    await("three events", function() return #received() == 3 end, engine)
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.same({ "k0/4", "k0/5", "k0/6" }, received())
    assert.are.equal(text:sub(1, at) .. "X" .. text:sub(at + 2), temp.read(path .. ".aside-1"))
  end)

  it("shows in status and metrics what waits, and logs no secret", function()
    set_mode "down"
    local socket = folder .. "/socket"
    local engine = run([[
      k8s.main(function()
        assert(sink:publish({}, { id = "k0/1" }))
        print "done"
      end)
    ]], { "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0", "-v", "9" })
    engine:wait_line "done"
    engine:wait_error "Events wait"
    local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
    local status = temp.run(("%s status --admin-socket %s"):format(binary, socket))
    assert.matches("SINK +SCRIPT +TO +EVENTS +SPOOL +WAITING\n *out +%S+ +http +1 ", status)
    assert.matches("the server responded 503", status)
    local address = engine:err():match 'Serving metrics" address="([^"]+)"'
    local metrics = temp.run("curl -s http://" .. address .. "/metrics")
    assert.matches('\nkubelua_sink_events_total{script="[^"]+",sink="out",result="published"} 1\n', metrics)
    assert.matches('\nkubelua_sink_spool_events{script="[^"]+",sink="out"} 1\n', metrics)
    assert.matches('\nkubelua_sink_failures_total{script="[^"]+",sink="out"} [1-9]', metrics)
    assert.is_nil(engine:err():find("s3cret", 1, true))
    assert.is_nil(status:find("s3cret", 1, true))
  end)

  it("leaves no part of a line in a file that is moved away while the disk is full", function()
    local out = folder .. "/events.jsonl"
    temp.write(out, ("{}\n"):rep(100000)) -- larger than the spool, which has room
    to = "file://" .. out
    local engine = run [[
      k8s.main(function()
        for n = 1, 200 do
          assert(sink:publish({ data = ("x"):rep(300) }, { id = "k0/" .. n }))
          print("stored " .. n)
          k8s.sleep(0.01)
        end
      end)
    ]]
    engine:wait_line "^stored 20$"
    temp.run(("prlimit --pid %d --fsize=%d:"):format(engine.pid, #temp.read(out) + 1000))
    engine:wait_error "Events wait as they cannot be delivered.*events.jsonl: File too large"
    assert(os.rename(out, out .. ".1"))
    temp.run(("prlimit --pid %d --fsize=unlimited:"):format(engine.pid))
    engine:wait_line("^stored 200$", 40)
    await("all events", function() return #lines(out) + #lines(out .. ".1") >= 100200 end, engine)
    assert.are.equal(0, cluster.terminate(engine), engine:report())
    local n = 0
    for _, path in ipairs { out .. ".1", out } do
      for line in temp.read(path):gmatch "[^\n]*\n?" do
        if line ~= "" and line ~= "{}\n" then
          n = n + 1
          assert.matches('^{.*"id":"k0/' .. n .. '".*}\n$', line)
        end
      end
    end
    assert.are.equal(200, n)
  end)

  it("shares a file with another one, and neither cuts off what the other is writing", function()
    local out = folder .. "/events.jsonl"
    to = "file://" .. out
    local engine = run [[
      local other = k8s.sink { name = "other", to = settings.to, type = "t", spool = "8Mi" }
      local keys = k8s.queue { name = "keys", workers = 40 }
      local left = 200
      keys:run(function(key)
        local one = tonumber(key) > 100 and other or sink
        assert(one:publish({ data = ("x"):rep(200000) }, { id = key, timeout = "1m" }))
        left = left - 1
        if left == 0 then print "done" end
      end)
      k8s.main(function() for n = 1, left do keys:add(tostring(n)) end end)
    ]]
    engine:wait_line("^done$", 60)
    assert.are.equal(0, cluster.terminate(engine), engine:report())
    assert.is_nil(engine:err():find("Cut off", 1, true))
    local seen, count = {}, 0
    for line in io.lines(out) do
      local id = line:match '^{"specversion":"1.0",.*"id":"(%d+)".*}$'
      assert.is_nil(seen[id or error(line:sub(1, 100))])
      seen[id], count = true, count + 1
    end
    assert.are.equal(200, count)
  end)

  it("goes on with the settings of the next generation, and with what was stored before", function()
    set_mode "down"
    local engine = run [[
      k8s.main(function() assert(sink:publish({}, { id = "k0/1" })) print "done" end)
    ]]
    engine:wait_line "done"
    engine:wait_error "Events wait"
    local out = folder .. "/other.jsonl"
    temp.write(folder .. "/it.lua", (SCRIPT:format(""):gsub("settings%.to", ('("file://%s")'):format(out))))
    engine:wait_error '"Reloaded'
    await("the event", function() return #lines(out) == 1 end, engine)
    assert.matches('"id":"k0/1"', temp.read(out))
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.same({}, received())
  end)

  it("lets another process have a spool that is empty, and delivers what that one left", function()
    set_mode "down"
    local body = [[
      k8s.command("publish", function(id) return tostring(sink:publish({}, { id = id, timeout = "30s" })) end)
    ]]
    local function start(name)
      local engine = run(body, { "--admin-socket", folder .. "/" .. name })
      engine:wait_error '"Starting"'
      return engine
    end
    local function publish(name, id)
      return (temp.run(("%s call --admin-socket %s/%s publish %s"):format(
        os.getenv "KUBELUA_BIN" or "build/release/kubelua", folder, name, id)))
    end
    local first = start "first"
    assert.matches("true", publish("first", "k0/1"))
    local second = start "second"
    first:kill "KILL"
    first:wait()
    set_mode "ok"
    assert.matches("true", publish("second", "k0/2"))
    await("both events", function() return #received() == 2 end, second)
    assert.are.same({ "k0/1", "k0/2" }, received())
    assert.are.equal(0, cluster.terminate(second))
  end)

  it("publishes nothing in a dry run, and logs what it would publish", function()
    local engine = run([[
      k8s.main(function() print(sink:publish({ subject = "x" }, { id = "k0/1" })) end)
    ]], { "--dry-run=client" })
    engine:wait_line "^true"
    engine:wait_error('Not sent because of %-%-dry%-run=client".*sink="out" id="k0/1"')
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.same({}, received())
  end)

  it("refuses targets that are not allowed, and a script without a directory", function()
    local function refused(target, ...)
      local script = cluster.script(SCRIPT:format "k8s.main(function() end)")
      local engine = cluster.run(sim.server, script, { "--param", "to=" .. target, ... })
      assert.are.equal(2, engine:wait(20), engine:report())
      return engine:err()
    end
    local dir = folder .. "/states"
    assert.matches("the operator does not allow http://127.0.0.1:9.*%-%-allow%-http",
      refused("http://127.0.0.1:9/", "--state-dir", dir))
    assert.matches("events are stored in a directory, which %-%-state%-dir gives", refused(to))
  end)
end)
