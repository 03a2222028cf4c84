-- k8s.state with keep = "file" and `kubelua run --state-dir`: what a script keeps in files.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

-- Commands on a state; `more` are options of it.
local function counts(more, rest)
  return scripts_folder.script("a", ([[
    local kept = k8s.state("seen", { keep = "file", init = { n = 0, list = {} } %s })
    k8s.command("add", function() kept.n = kept.n + 1 kept.list[kept.n] = "item " .. kept.n return kept.n end)
    k8s.command("get", function() return kept.n .. " " .. #kept.list .. " " .. tostring(kept.list[kept.n]) end)
    k8s.command("sync", function()
      local ok, err = kept:sync()
      return ok and "stored" or err.reason .. ": " .. err.message
    end)
  ]]):format(more or "") .. (rest or ""))
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

describe("a state in a file #threads", function()
  local place, sim, dir, path
  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
    dir = place.path .. "/states"
    path = dir .. "/a/seen.state"
    place:write("a.lua", counts())
  end)

  local function start(...) return place:start(sim, nil, { "--state-dir", dir, ... }) end

  local function ask(engine, ...) return (engine.ask("call", ...):gsub("\n$", "")) end

  -- Adds `n` times and waits until it is stored.
  local function add(engine, n)
    for _ = 1, n do ask(engine, "add") end
    assert.are.equal("stored", ask(engine, "sync"))
  end

  local function stop(engine) assert.are.equal(0, cluster.terminate(engine)) end

  local function kill(engine)
    engine:kill "KILL"
    engine:wait()
  end

  it("is there after a stop, without a call of sync", function()
    local engine = start()
    ask(engine, "add")
    ask(engine, "add")
    stop(engine)
    assert.are.equal("2 2 item 2", ask(start(), "get"))
  end)

  it("is there after kill -9 once sync has said so", function()
    local engine = start()
    add(engine, 3)
    kill(engine)
    engine = start()
    assert.are.equal("3 3 item 3", ask(engine, "get"))
    assert.are.equal("stored", ask(engine, "sync"))
  end)

  it("is in the status, with its place, its size, when it was written, and why it cannot be", function()
    local engine = start()
    local function shown() return engine.ask("status"):match "\nSTATE +SCRIPT +KEPT IN.*$" or "" end
    assert.has_match("\nseen +%S*a +" .. path:gsub("%p", "%%%0") .. " +0 +%-\n", shown())
    add(engine, 1)
    local size = #temp.read(path)
    assert.has_match("\nseen +%S*a +" .. path:gsub("%p", "%%%0") .. " +" .. size .. " +%d+s\n", shown())
    local state = engine.script("a").states[1]
    assert.are.same({ "seen", "file", path, true, false, size, "" },
      { state.name, state.keep, state.place, state.read, state.changed, state.bytes, state.error })
    assert.matches("^%d+%-%d+%-%d+T", state.written)
    os.rename(path, path .. ".old")
    temp.write(path, "other")
    ask(engine, "add")
    assert.matches("^Conflict: ", ask(engine, "sync"))
    assert.has_match("\n    changed since\n    .*seen.state was changed by another process", shown())
  end)

  it("is written once the script is quiet", function()
    local engine = start()
    ask(engine, "add")
    await(function() return exists(path) end, function() return engine:report() end)
    kill(engine)
    assert.are.equal("1 1 item 1", ask(start(), "get"))
  end)

  it("goes from one generation to the next, and is written by the last", function()
    local engine = start()
    add(engine, 1)
    ask(engine, "add")
    place:write("a.lua", counts() .. "-- another")
    engine.await("a", function(s) return s.generation == 2 end)
    add(engine, 1)
    kill(engine)
    assert.are.equal("3 3 item 3", ask(start(), "get"))
  end)

  it("is written when its script is removed", function()
    local engine = start()
    ask(engine, "add")
    assert(os.remove(place.path .. "/scripts/a.lua"))
    await(function() return exists(path) end, function() return engine:report() end)
    place:write("a.lua", counts())
    engine.await("a", function(s) return s.generation == 1 end)
    assert.are.equal("1 1 item 1", ask(engine, "get"))
  end)

  it("is read when a generation begins to keep it, and memory wins over an older file", function()
    local engine = start()
    add(engine, 4)
    place:write("a.lua", scripts_folder.script "b")
    engine.await("a", function(s) return s.generation == 2 end)
    place:write("a.lua", counts() .. "-- 3")
    engine.await("a", function(s) return s.generation == 3 end)
    assert.are.equal("4 4 item 4", ask(engine, "get"))
    place:write("a.lua", (counts():gsub('keep = "file", ', ""):gsub("kept:sync%(%)", "true")))
    engine.await("a", function(s) return s.generation == 4 end)
    ask(engine, "add")
    place:write("a.lua", counts() .. "-- 5")
    engine.await("a", function(s) return s.generation == 5 end)
    engine:wait_error "moved aside"
    assert.matches("the script had the state before it was kept", engine:err(), 1, true)
    add(engine, 1)
    kill(engine)
    assert.are.equal("6 6 item 6", ask(start(), "get"))
    assert.is_true(exists(path .. ".aside-1"))
  end)

  it("is converted by migrate", function()
    local engine = start()
    add(engine, 2)
    stop(engine)
    place:write("a.lua", counts(", version = 2, migrate = function(old, v) old.n = old.n + 10 * v return old end"))
    engine = start()
    assert.are.equal("12 2 nil", ask(engine, "get"))
    assert.are.equal("stored", ask(engine, "sync"))
    kill(engine)
    assert.are.equal("12 2 nil", ask(start(), "get"))
  end)

  -- Starts on a file that cannot be used: it must be moved aside, complete, with the reason in the log.
  local function check_aside(text, reason)
    if text then temp.write(path, text) end
    local before = temp.read(path)
    local engine = start()
    await(function() return engine:err():find "it was moved aside" end, function() return engine:report() end)
    assert.matches(reason, engine:err(), 1, true)
    assert.matches(path .. ".aside-1", engine:err(), 1, true)
    assert.are.equal(before, temp.read(path .. ".aside-1"))
    assert.are.equal("0 0 nil", ask(engine, "get"))
    add(engine, 1)
    kill(engine)
    assert.are.equal("1 1 item 1", ask(start(), "get"))
    assert.are.equal(before, temp.read(path .. ".aside-1"))
  end

  describe("that cannot be used is moved aside", function()
    local whole
    before_each(function()
      local engine = start()
      add(engine, 2)
      stop(engine)
      whole = temp.read(path)
    end)

    it("when it was cut off", function() check_aside(whole:sub(1, -2), "bytes long, and it was written with") end)
    it("when it is empty", function() check_aside("", "not a state") end)
    it("when a bit of it changed", function()
      check_aside(whole:sub(1, -3) .. "X" .. whole:sub(-1), "its checksum is wrong")
    end)
    it("when it is no state", function() check_aside("apiVersion: v1\nkind: List\n", "not a state") end)
    it("when a newer program wrote it", function()
      check_aside(whole:gsub("^kubelua%-state 1", "kubelua-state 2"), "stored in format 2, and this program reads 1")
    end)
    it("when it is too large", function()
      check_aside(("x"):rep(8 * 2 ^ 20 + 1), "8388609 bytes exceed the limit of 8388608 bytes")
    end)
    it("when its version is another one and there is no migrate", function()
      place:write("a.lua", counts ", version = 3")
      check_aside(nil, "version changes from 1 to 3 without a migrate function")
    end)
    it("when migrate fails", function()
      place:write("a.lua", counts ', version = 3, migrate = function() error "I cannot" end')
      check_aside(nil, "I cannot")
    end)
  end)

  it("is not overwritten where another process has changed it", function()
    local engine = start()
    add(engine, 1)
    local other = temp.read(path)
    os.rename(path, path .. ".old")
    temp.write(path, other)
    ask(engine, "add")
    assert.matches("^Conflict: .*seen.state was changed by another process", ask(engine, "sync"))
    assert.matches("^Conflict: ", ask(engine, "sync"))
    stop(engine)
    assert.are.equal(other, temp.read(path))
    engine = start()
    assert.are.equal("1 1 item 1", ask(engine, "get"))
    add(engine, 1)
  end)

  it("says why it cannot be stored, and tries again", function()
    local engine = start()
    add(engine, 1)
    local before = temp.read(path)
    -- No file of the process gets larger than that, as on a full disk.
    local function limit(bytes)
      local text, code = temp.run(("prlimit --pid %d --fsize=%s:"):format(engine.pid, bytes))
      assert.are.equal(0, code, text)
    end
    limit(20)
    ask(engine, "add")
    assert.matches("^InternalError: .*seen.state: File too large", ask(engine, "sync"))
    engine:wait_error "Failed to store a state"
    assert.are.equal(before, temp.read(path))
    limit "unlimited"
    engine:wait_error "State is stored again"
    kill(engine)
    assert.are.equal("2 2 item 2", ask(start(), "get"))
  end)

  it("goes to the next leader, who reads what the last one stored", function()
    local function candidate() return start("--leader-elect", "--leader-elect-retry-period=100ms") end
    local first = candidate()
    await(function() return ask(first, "sync") == "stored" end, function() return first:report() end)
    add(first, 2)
    local socket = place.path .. "/other.sock"
    local second = cluster.run(sim.server, place.path .. "/scripts", {
      "--admin-socket", socket, "--state-dir", dir, "--leader-elect", "--leader-elect-retry-period=100ms",
    })
    second:wait_error "Synced"
    local function ask_second(what)
      local p = cluster.kubelua { "call", "--admin-socket", socket, what }
      p:wait()
      return (p.streams.out.text:gsub("\n$", ""))
    end
    ask_second "add"
    assert.are.equal("NotLeader: not stored: the script does not lead", ask_second "sync")
    ask(first, "add")
    stop(first)
    await(function() return ask_second "sync" == "stored" end, function() return second:report() end)
    assert.are.equal("3 3 item 3", ask_second "get")
    stop(second)
  end)

  it("has a largest size, which the error names", function()
    place:write("a.lua", counts("", [[
      k8s.command("grow", function() kept.text = ("x"):rep(9 * 2 ^ 20) end)
      k8s.command("shrink", function() kept.text = nil end)
    ]]))
    local engine = start("--limit", "value-size=32Mi", "--handler-cpu=10s")
    add(engine, 1)
    ask(engine, "grow")
    assert.matches('LimitExceeded: k8s.state: seen: its content exceeds %d+ bytes, the limit of keep = "file"',
      ask(engine, "sync"))
    ask(engine, "shrink")
    add(engine, 1)
    stop(engine)
    assert.are.equal("2 2 item 2", ask(start(), "get"))
  end)

  it("is read but not written in a dry run", function()
    local engine = start()
    add(engine, 1)
    stop(engine)
    local before = temp.read(path)
    engine = start "--dry-run=client"
    assert.are.equal("1 1 item 1", ask(engine, "get"))
    add(engine, 1)
    stop(engine)
    assert.are.equal(before, temp.read(path))
  end)

  it("is of one script: two whose names are one there are refused", function()
    place:write("more/a.lua", counts())
    local engine = cluster.run(sim.server, place.path .. "/scripts", { "-R", "--state-dir", dir })
    assert.are_not.equal(0, engine:wait())
    assert.matches('already keeps its states under the name "a"', engine:err(), 1, true)
  end)

  local function refused(message, ...)
    local engine = cluster.run(sim.server, place.path .. "/scripts", { ... })
    assert.are_not.equal(0, engine:wait())
    assert.matches(message, engine:err(), 1, true)
  end

  it("needs a directory that can be written", function()
    refused('a.lua:4: k8s.state: seen: keep = "file" needs a directory, which --state-dir gives')
    refused("--state-dir: cannot make the directory /proc/x", "--state-dir", "/proc/x")
  end)

  it("that cannot be read refuses the start, and stays", function()
    os.execute("mkdir -p " .. path)
    refused("k8s.state: seen: " .. path .. ": not a regular file", "--state-dir", dir)
    os.execute("rmdir " .. path .. "; touch " .. path .. "; chmod 666 " .. path)
    refused("k8s.state: seen: " .. path .. ": all users may write it", "--state-dir", dir)
    assert.are.equal("", temp.read(path))
  end)
end)
