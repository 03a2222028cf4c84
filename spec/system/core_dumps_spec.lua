-- `kubelua run` leaves no image of its memory behind, which holds Secrets (E-7). Everything here is run as an ordinary
-- user: to root, all of /proc is open.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local cjson = require "cjson"
local temp = require "spec.support.temp"

local LOOPS = [[
local k8s = require "k8s"
k8s.rule { id = "loops", kinds = { "Namespace" }, check = function(obj, r) while true do end end }
]]

local READY = [[
local k8s = require "k8s"
k8s.informer "namespaces"
k8s.main(function() print "ready" end)
]]

local ordinary = { "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups" }
if temp.run "id -u" ~= "0\n" then ordinary = {} end

-- The root of a chroot may be root's alone: then ordinary users run nothing there.
local said, failed = temp.run(table.concat(ordinary, " ") .. " true 2>&1")
assert(failed == 0 or not os.getenv "KUBELUA_REQUIRE_REAL", said) -- CI has such users
local busted_it = it
local function it(name, run)
  busted_it(name, function()
    if failed ~= 0 then return pending(said) end
    run()
  end)
end

local function as_ordinary(words)
  local command = {}
  for _, word in ipairs(ordinary) do command[#command + 1] = word end
  for _, word in ipairs(words) do command[#command + 1] = word end
  return command
end

describe("the memory of kubelua run", function()
  local sim, folder, engine

  before_each(function()
    sim = cluster.sim()
    folder = temp.folder { ["ready.lua"] = READY, ["loops.lua"] = LOOPS }
    -- An ordinary user may have no access to where it was built.
    local install = "chmod 777 %s && chmod 644 %s/*.lua && cp %s %s/kubelua"
    assert.are.equal(0, select(2, temp.run(install:format(folder, folder, cluster.binary, folder))))
  end)

  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function binary() return folder .. "/kubelua" end

  local function start(...)
    engine = cluster.start(as_ordinary {
      binary(), "run", "-s", sim.server, "-f", folder .. "/ready.lua", "--metrics-bind-address", "127.0.0.1:0",
      "--health-probe-bind-address", "0", "--admin-socket", folder .. "/admin.sock", ...,
    })
    engine:wait_line "^ready$"
  end

  local function can_be_read()
    local command = ("%s cat /proc/%d/smaps_rollup >/dev/null"):format(table.concat(ordinary, " "), engine.pid)
    return select(2, temp.run(command)) == 0
  end

  local function core_limit()
    return temp.read(("/proc/%d/limits"):format(engine.pid)):match "Max core file size%s+(%S+)%s+(%S+)"
  end

  local function metrics()
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    local code, text = http:curl("GET", "/metrics")
    assert.are.equal(200, code)
    return text
  end

  it("is read by no other process of the user, and never written to a file", function()
    start()
    assert.is_false(can_be_read())
    assert.are.same({ "0", "0" }, { core_limit() })
  end)

  it("is open to debuggers with --allow-core-dumps", function()
    local before = temp.run "ulimit -Hc"
    start "--allow-core-dumps"
    assert.is_true(can_be_read())
    assert.are.equal(before == "0\n" and "0" or "unlimited", (select(2, core_limit())))
  end)

  it("is measured by process_* all the same", function()
    start()
    local text = metrics()
    for _, name in ipairs {
      "cpu_seconds_total", "start_time_seconds", "resident_memory_bytes", "virtual_memory_bytes", "open_fds", "max_fds",
    } do
      local value = tonumber(text:match("\nprocess_" .. name .. " (%S+)"))
      assert.is_true(value and value > 0, name)
    end
  end)

  it("is measured by kubelua bench all the same", function()
    local bench = cluster.start(as_ordinary {
      binary(), "bench", "--pods", "100", "--runs", "1", "--only", "idle,audit-engine", "--settle", "20ms",
      "-o", "json",
    })
    assert.are.equal(0, bench:wait(60), bench:report())
    local figures = cjson.decode(bench:out()).results[1].figures
    assert.is_true(figures.idle_private_bytes.median > 0)
    assert.is_true(figures.audit_engine_children.median > 0)
  end)

  it("is what a child of kubelua audit --engine has, which still is the first to go when memory is short", function()
    start()
    cluster.start(as_ordinary {
      binary(), "audit", "--engine", "--admin-socket", folder .. "/admin.sock", "-f", folder .. "/loops.lua",
      "--handler-cpu", "60s", "--children", "1",
    })
    local find = ("pgrep -P %d -x kubelua-audit"):format(engine.pid)
    local child = await(function() return tonumber((temp.run(find))) end, "a child")
    await(function() return temp.read(("/proc/%d/oom_score_adj"):format(child)) == "1000\n" end, "a score of 1000")
    assert.is_false(can_be_read())
  end)
end)
