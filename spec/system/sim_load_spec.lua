-- The simulator's own limits: watchers that lose nothing, memory, the first byte of a list, the time of a start. CI has
-- a short form of what `./dev prove sim` shows in full, with KUBELUA_SIM_FULL. What is measured several times counts by
-- its shortest time: what else runs on the machine adds to the others.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local full = os.getenv "KUBELUA_SIM_FULL"
local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"
-- Other specs run beside these in CI, so that times there tell of disasters alone.
local slack = full and 1 or 10
local watchers, rate, seconds = 20, 1000, full and 30 or 2
local pods = full and 100000 or 5000

describe("the simulator under load #threads", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("sends each of 20 watchers all of 1,000 changes a second", function()
    if sanitized then return pending "a sanitizer is slower than the changes" end
    local count, counters = rate * seconds, {}
    local sim = cluster.sim { "--pods", "1000" }
    local version = sim.api:get("/api/v1/pods?limit=1").metadata.resourceVersion
    for i = 1, watchers do
      local url = ("%s/api/v1/pods?watch=1&resourceVersion=%s"):format(sim.server, version)
      counters[i] = proc.spawn { "sh", "-c",
        ("curl --silent --no-buffer '%s' | luajit spec/support/count-events %d"):format(url, count) }
    end
    await(function() return sim.api:get("/sim/stats").open_watches == watchers end, "open watches")
    local cpu = sim:cpu()
    sim.api:request("POST", "/sim/scenario", {
      { ["do"] = "touch", resource = "pods", pick = 1, every = "1ms", count = count, patient = false },
    })
    local slowest, longest = 0, 0
    for _, counter in ipairs(counters) do
      local events, missing, took, delay =
        counter:wait_line("^(%d+) (%d+) (%S+) (%S+)$", seconds * 4 + 20)
      assert.are.same({ tostring(count), "0" }, { events, missing })
      slowest, longest = math.max(slowest, tonumber(took)), math.max(longest, tonumber(delay))
    end
    print(("# %d watchers, %d changes of 9.4 KB each, none lost: %.0f a second to the slowest, longest delay %.0f ms, "
      .. "%.0f us of the simulator's CPU an event"):format(watchers, count, count / slowest, longest,
      (sim:cpu() - cpu) / count / watchers * 1e6))
    assert.is_true(slowest < seconds * (full and 1.05 or 4), ("%.1f s for %d s"):format(slowest, seconds))
  end)

  it("holds 100,000 pods in 1.5 GB, and begins a list within 50 ms", function()
    if sanitized then return pending "a sanitizer's own memory would be measured" end
    local sim = cluster.sim { "--pods", tostring(pods) }
    local first = math.huge
    for _ = 1, 5 do
      local p = proc.spawn { "curl", "--silent", "--output", "/dev/null", "--write-out", "%{time_starttransfer}\n",
        sim.server .. "/api/v1/pods" }
      first = math.min(first, tonumber(p:wait_line("^(%S+)$", 60)) * 1000)
      p:wait(60)
    end
    print(("# %d pods: %.0f MB, first byte of a list after %.1f ms"):format(pods, sim:peak_rss() / 1e6, first))
    assert.is_true(sim:peak_rss() < 1.5e9 * pods / 1e5 + (full and 0 or 50e6))
    assert.is_true(first < 50 * slack, ("%.1f ms"):format(first))
  end)

  it("is ready within 30 ms, with 1,000 pods within 100 ms", function()
    if sanitized then return pending "a sanitizer starts slowly" end
    local function start(...)
      local fastest = math.huge
      for _ = 1, full and 10 or 3 do
        local begin = proc.now()
        cluster.sim { ... }
        fastest = math.min(fastest, (proc.now() - begin) * 1000)
        cluster.stop_all()
      end
      return fastest
    end
    local empty = start()
    local sim = cluster.sim { "--pods", "1000" }
    local list = proc.spawn { "curl", "--silent", "--output", folder .. "/pods.json", sim.server .. "/api/v1/pods" }
    assert.are.equal(0, list:wait(30))
    cluster.stop_all()
    local loaded, generated = start("--load", folder .. "/pods.json"), start("--pods", "1000")
    print(("# ready after %.1f ms, with 1,000 generated pods %.1f ms, with 1,000 loaded ones %.1f ms")
      :format(empty, generated, loaded))
    assert.is_true(empty < 30 * slack, ("%.1f ms"):format(empty))
    assert.is_true(generated < 100 * slack, ("%.1f ms"):format(generated))
    assert.is_true(loaded < 100 * slack, ("%.1f ms"):format(loaded))
  end)
end)
