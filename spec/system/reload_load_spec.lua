-- Reloads under load: every event is handled by exactly one generation, nothing is asked of the server, and nobody
-- waits for long. KUBELUA_RELOADS=100 makes it a long run; it prints what it measured. An engine that is 10,000 events
-- behind merges them (I-8). One with a sanitizer is: what it merges is counted, and at a tenth of the rate it must not.
local cjson = require "cjson"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local RELOADS = tonumber(os.getenv "KUBELUA_RELOADS" or 10)
local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"
local RATE, SENT = 10000, math.max(RELOADS * 2500, 50000)

-- Updates of the source have versions that are one apart, in the order in which they are sent. Each third edit changes
-- the handler's code, so that it is another one, which goes on from now on.
local SCRIPT = [[
local k8s = require "k8s"
local seen = k8s.state("seen", { version = 1, init = { count = 0, last = 0, bad = 0, added = 0 } })
local pods = k8s.informer("pods", { fields = { "metadata.name", "metadata.namespace", "metadata.resourceVersion" } })
pods:add_index("path", "metadata.name")
pods:add_index("fn", function(pod, emit) emit(pod.metadata.name:sub(1, 6)) end)
k8s.on_reload { replay = "none" }
pods:add_event_handler {
  OnAdd = function() seen.added = seen.added + 1 end,
  OnUpdate = function(_, pod)
    local version = tonumber(pod:resource_version())
    if seen.last > 0 and version ~= seen.last + 1 then seen.bad = seen.bad + %d end
    seen.last = version
    seen.count = seen.count + 1
  end,
}
k8s.command("seen", function() return { count = seen.count, bad = seen.bad, added = seen.added } end)
-- %d
]]

describe("reloads under load #threads", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Changes that were merged with others of their object.
  local function merged(address)
    local _, page = api.new({ server = "http://" .. address }):curl("GET", "/metrics")
    local sum = tonumber(page:match "\nkubelua_deltas_coalesced_total (%d+)")
    return sum + (tonumber(page:match "\nkubelua_handler_coalesced_total%b{} (%d+)") or 0)
  end

  local function play(rate, sent, merges)
    local path, socket = folder .. "/a.lua", folder .. "/admin.sock"
    local sim = cluster.sim { "--replay", "--pods", "2000" }
    temp.write(path, SCRIPT:format(1, 0))
    local engine = cluster.run(sim.server, path, { "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0" })
    local address = engine:wait_error 'Serving metrics.*address="([%d.:]+)"'
    engine:wait_error "Synced"
    local function ask(...)
      local p = cluster.kubelua { select(1, ...), "--admin-socket", socket, "-ojson", select(2, ...) }
      assert.are.equal(0, p:wait(), p:report())
      return cjson.decode(p.streams.out.text)
    end
    local function requests()
      local stats = sim.api:get "/sim/stats"
      return ("%d lists, %d watch-lists, %d watches"):format(stats.lists, stats.watch_lists, stats.watches)
    end
    -- An update of an object whose OnAdd still waits would be a part of that (I-8).
    await(function() return ask("call", "seen").added == 2000 end, "2000 objects are added")
    local asked = requests()
    local storm = proc.spawn {
      "curl", "-s", "-X", "POST", ("%s/sim/replay/storm?count=%d&rate=%d"):format(sim.server, sent, rate),
    }
    local longest, begun, settled = 0, proc.now(), nil
    for i = 1, RELOADS do
      temp.write(path, SCRIPT:format(1 + math.floor(i / 3), i))
      local one = await(function()
        local status = ask("status").scripts[1]
        assert.are.equal("", status.reloadError)
        return status.generation == i + 1 and status
      end, function() return engine:report() end)
      longest = math.max(longest, one.pauseMicroseconds)
      if i == math.floor(RELOADS / 10) then settled = engine:rss() end
    end
    local took = proc.now() - begun
    storm:wait(120)
    local seen = await(function()
      local answer = ask("call", "seen")
      return answer.count + (merges and merged(address) or 0) >= sent and answer
    end, function() return cjson.encode(ask("call", "seen")) .. ", merged " .. merged(address) end)
    local joined = merged(address)
    assert.are.equal(sent, seen.count + joined)
    if not merges then assert.are.equal(0, joined) end
    if joined == 0 then assert.are.equal(0, seen.bad) end
    assert.are.equal(2000, seen.added)
    assert.are.equal(asked, requests())
    local grown = engine:rss() - settled
    print(("\n    %d reloads in %.1f s during %d events at %d/s: longest pause %.2f ms, memory %+.1f MiB"):format(
      RELOADS, took, sent, rate, longest / 1000, grown / 2 ^ 20))
    if not sanitized then
      assert.is_true(longest < 5000, longest)
      assert.is_true(grown < 8 * 2 ^ 20, grown)
    end
  end

  it("lose nothing, double nothing and request nothing", function() play(RATE, SENT, sanitized) end)

  if sanitized then
    it("lose nothing, and merge nothing, at a tenth of the rate", function() play(RATE / 10, SENT / 2, false) end)
  end
end)
