-- A sink on a disk that is full: what was delivered makes room, whether the spool filled the disk or others did.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local DISK = "2m"
-- Events of 1 KB, one after the other; ten larger ones at once for a config map, which wait longer than the spec does.
local SCRIPT = [[
  local k8s = require "k8s"
  local settings = k8s.params {
    to = { type = "string", required = true }, count = { type = "integer", required = true },
  }
  local sink = k8s.sink { name = "out", to = settings.to, type = "t", spool = "8Mi" }
  k8s.main(function()
    for n = 1, settings.count do
      local ok, err
      repeat
        ok, err = sink:publish({ data = ("x"):rep(1000) }, { id = "k1/" .. n, key = "k1", timeout = "2s" })
        if not ok then print("waits " .. err.message) end
      until ok
    end
    print "done"
  end)
  k8s.informer("configmaps"):on_add(function()
    for n = settings.count + 1, settings.count + 10 do
      k8s.after("1ms", function()
        print(sink:publish({ data = ("x"):rep(2000) }, { id = "k1/" .. n, timeout = "5m" }) and "more")
      end)
    end
  end)
]]

describe("a sink on a disk that is full", function()
  local sim, folder, receiver, disk, said, failed
  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    disk = folder .. "/states"
    said, failed = temp.run(("mkdir %s && mount -t tmpfs -o size=%s,mode=0700 none %s 2>&1"):format(disk, DISK, disk))
    receiver = proc.spawn { "python3", "spec/support/sink_receiver.py", folder .. "/log" }
    receiver.host = "127.0.0.1:" .. receiver:wait_line "port (%d+)"
  end)
  after_each(function()
    cluster.stop_all()
    receiver:kill "KILL"
    receiver:wait()
    if failed == 0 then temp.run("umount " .. disk) end
    temp.remove(folder)
  end)

  local function start(count)
    temp.write(folder .. "/it.lua", SCRIPT)
    return cluster.run(sim.server, folder .. "/it.lua", { "--state-dir", disk, "--allow-http", receiver.host,
      "--param", "to=http://" .. receiver.host, "--param", "count=" .. count })
  end

  -- How many events came, of which the first times are in order.
  local function received()
    local last, seen = 0, {}
    local file = io.open(folder .. "/log")
    for line in file and file:lines() or function() end do
      local n = tonumber(line:match "^k1/(%d+)")
      if not seen[n] then
        assert.are.equal(last + 1, n)
        last, seen[n] = n, true
      end
    end
    if file then file:close() end
    return last
  end

  it("that its spool filled before anything was delivered, delivers what it has and goes on", function()
    if failed ~= 0 then return pending("no file system can be mounted here: " .. said) end
    temp.write(folder .. "/log.mode", "down")
    local engine = start(4000) -- twice what there is room for
    assert.matches("No space left on device", engine:wait_line "^(waits .*)$")
    temp.write(folder .. "/log.mode", "ok")
    engine:wait_line("^done$", 60)
    assert.are.equal(0, cluster.terminate(engine), engine:report())
    assert.are.equal(4000, received())
  end)

  it("that others filled, gives the room of what was delivered to what is published", function()
    if failed ~= 0 then return pending("no file system can be mounted here: " .. said) end
    local engine = start(800)
    engine:wait_line("^done$", 60)
    await(function() return received() == 800 end, "all events", 30)
    temp.run("dd if=/dev/zero of=" .. disk .. "/others bs=4k 2>&1")
    sim.api:create("/api/v1/namespaces/default/configmaps", { metadata = { name = "go" } })
    for _ = 1, 10 do engine:wait_line("^more$", 60) end
    assert.are.equal(0, cluster.terminate(engine), engine:report())
  end)
end)
