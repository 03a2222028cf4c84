-- An engine that was started from a terminal ends with it: otherwise it would keep its ports and its socket, unseen.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"

describe("a terminal that is closed #threads", function()
  local sim, folder, terminal
  before_each(function()
    sim, folder = cluster.sim { "--pods", "1" }, temp.folder()
  end)
  after_each(function()
    terminal:kill "KILL"
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Starts an engine on a terminal of its own, which goes when `terminal` is killed; its log is a file.
  local function start(prefix)
    local script = cluster.script "print 'loaded'"
    local flags = "--admin-socket 0 --metrics-bind-address 0 --health-probe-bind-address 0"
    local command = ("cd %s; echo $$ >pid; %sexec %s run -f %s -s %s %s 2>log"):format(folder, prefix, binary, script,
      sim.server, flags)
    terminal = proc.spawn { "script", "-qec", command, "/dev/null", env = { SHELL = "/bin/sh" } }
    terminal:wait_line "^loaded"
    return temp.read(folder .. "/pid"):match "%d+"
  end

  local function log() return temp.read(folder .. "/log") end

  it("ends the engine as SIGTERM does", function()
    local pid = start ""
    temp.run("kill -HUP " .. pid)
    await(function() return log():find("Checking all scripts for changes", 1, true) end, log)
    assert.has_no_match("Stopping", log(), 1, true)
    terminal:kill "KILL"
    await(function() return log():find('"Stopped" ', 1, true) end, log)
    assert.has_match('"Terminal closed"', log(), 1, true)
    assert.has_match('"Stopping" signal="SIGTERM"', log(), 1, true)
  end)

  it("does not end an engine that was started without SIGHUP, as by nohup", function()
    local pid = start "trap \"\" HUP; "
    terminal:kill "KILL"
    temp.run("kill -HUP " .. pid)
    await(function() return log():find("Checking all scripts for changes", 1, true) end, log)
    assert.has_no_match("Stopping", log(), 1, true)
    temp.run("kill -TERM " .. pid)
    await(function() return log():find('"Stopped" ', 1, true) end, log)
  end)
end)
