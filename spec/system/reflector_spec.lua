-- How the first list comes and what the engine does when it does not: watch-lists and their faults (B-1, R-30..R-38),
-- 410 in all its forms, 429, versions that are still to come, a server that restarts in the middle.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"
local proc = require "spec.support.proc"

local configmaps, configmap = colours.path, colours.map

describe("the reflector #threads", function()
  local sim, engine

  before_each(function() sim = colours.sim() end)
  after_each(cluster.stop_all)

  local function fault(what, more)
    local step = { ["do"] = "fault", verb = "watch", resource = "configmaps", what = what }
    for key, value in pairs(more or {}) do step[key] = value end
    sim:play(step)
  end

  local function start(...)
    engine = cluster.run(sim.server, cluster.script(colours.script), { "--watch-list-deadline", "500ms", ... })
  end

  local function expect_sync(how)
    assert.are.equal(how, engine:wait_line "^synced by (.*)$")
  end

  -- The cache follows the server.
  local function expect_events()
    sim.api:patch(configmaps .. "/one", { data = { colour = "green" } })
    engine:wait_line("^cache one=green two=blue$", 60)
  end

  local function requests()
    local stats = sim.api:get "/sim/stats"
    return ("%d lists, %d watch-lists, %d watches"):format(stats.lists, stats.watch_lists, stats.watches)
  end

  it("lists by a watch-list, whose stream goes on as the watch", function()
    start()
    expect_sync "watch-list"
    expect_events()
    assert.are.equal("0 lists, 1 watch-lists, 0 watches", requests())
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("lists in pages with --watch-list=off", function()
    start "--watch-list=off"
    expect_sync "list in 1 page"
    expect_events()
    assert.are.equal("1 lists, 0 watch-lists, 1 watches", requests())
  end)

  describe("without an end of the initial events", function()
    local unended = "initial events did not end within 0.5 s"

    for what, why in pairs {
      ["no-end-bookmark"] = unended,
      ["ignore-initial-events"] = unended,
      ["silence"] = unended,
      ["end"] = "the stream ended before the end of the initial events",
      ["cut"] = "the stream ended before the end of the initial events: unexpected EOF",
    } do
      it("lists in the same cycle and reports why: " .. what, function()
        local after = (what == "end" or what == "cut") and 1 or nil
        fault(what, { times = 1, after = after })
        local began = proc.now()
        start()
        local how = engine:wait_line "^synced by (.*)$"
        assert.has_match("list in 1 page; watch-list: " .. why, how, 1, true)
        assert.is_true(proc.now() - began < 10, "took longer than the deadline and some seconds")
        expect_events()
        local says = "Watch%-list failed, falling back to list.*" .. why:gsub("%p", "%%%0") .. ".*remembered=1"
        assert.has_match(says, engine:err())
      end)
    end

    it("lists after a stream that falls silent in its middle", function()
      fault("silence", { after = 1 })
      start()
      expect_sync("list in 1 page; watch-list: " .. unended)
      expect_events()
    end)

    for mode, case in pairs {
      auto = { "remembers it for all informers of the resource, and for those alone", watch_lists = 1 },
      on = { "tries it in each cycle with --watch-list=on", watch_lists = 2 },
    } do
      it(case[1], function()
        fault("no-end-bookmark", { times = 0 })
        start("--watch-list=" .. mode)
        expect_sync("list in 1 page; watch-list: " .. unended)
        sim:play { ["do"] = "expire", resource = "configmaps" }
        expect_events()
        assert.are.equal(case.watch_lists, sim.api:get("/sim/stats").watch_lists)
      end)
    end
  end)

  it("lists at once when the server refuses watch-lists", function()
    fault("status", { code = 422, reason = "Invalid", message = "sendInitialEvents is forbidden" })
    start("--watch-list-deadline", "60s")
    expect_sync "list in 1 page; watch-list: sendInitialEvents is forbidden"
    expect_events()
  end)

  for _, answer in ipairs { { code = 429, retry_after = 1 }, { code = 429 } } do
    it("waits and tries again after 429" .. (answer.retry_after and " with Retry-After" or ""), function()
      fault("status", answer)
      start()
      expect_sync "watch-list"
      assert.are.equal("0 lists, 1 watch-lists, 0 watches", requests())
    end)
  end

  it("comes back from 410 as a response, as an event and as a bare end", function()
    start()
    expect_sync "watch-list"
    fault("status", { code = 410, reason = "Expired", message = "too old" })
    sim:play { ["do"] = "end-watches", resource = "configmaps" } -- the next open is answered 410
    engine:wait_error("too old", 60)
    expect_events()
    sim:play { ["do"] = "inject", resource = "configmaps", what = "error-event", code = 410, reason = "Expired" }
    engine:wait_error("Resource version expired, relisting", 60)
    sim.api:patch(configmaps .. "/one", { data = { colour = "blue" } })
    engine:wait_line("^cache one=blue two=blue$", 60)
    sim:play { ["do"] = "expire", resource = "configmaps" } -- ends, and what it knew is too old
    sim.api:delete(configmaps .. "/two")
    engine:wait_line("^cache one=blue$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  describe("a version that is still to come", function()
    local message = "Too large resource version: 9, current: 5"
    local function status(details)
      return cjson.encode { kind = "Status", apiVersion = "v1", status = "Failure", message = message,
        reason = "Timeout", code = 504, details = details }
    end
    for name, text in pairs {
      ["as a cause with a type"] = status { causes = { { reason = "ResourceVersionTooLarge", message = "x" } } },
      ["as the message of a cause"] = status { causes = { { message = "Too large resource version" } } },
      ["as a message"] = status { retryAfterSeconds = 1 },
    } do
      it("is requested again at once, as the newest: " .. name, function()
        sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "status", code = 504,
          retry_after = 30, text = text }
        local began = proc.now()
        start "--watch-list=off"
        expect_sync "list in 1 page"
        assert.is_true(proc.now() - began < 10, "it waited for Retry-After")
      end)
    end

    it("is an ordinary error without details", function()
      sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "status", code = 504,
        text = status(nil) }
      start "--watch-list=off"
      engine:wait_error "failed to list configmaps"
      expect_sync "list in 1 page"
    end)
  end)

  it("lists again when the server restarts in the middle of a list", function()
    sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "pause", after = 1, ["for"] = "60s" }
    start "--watch-list=off"
    sim.api:get "/sim/stats"
    local port = tonumber(sim.server:match ":(%d+)$")
    await(function() return sim.api:get("/sim/stats").lists == 1 end, "the list")
    sim:kill "KILL"
    sim:wait(20)
    engine:wait_error '"Server unreachable, retrying"'
    sim = cluster.sim({}, port)
    sim.api:create(configmaps, configmap("three", "red"))
    engine:wait_line("^cache three=red$", 60)
    expect_sync "list in 1 page"
  end)

  it("gets over a stream that breaks off inside an object of the initial events", function()
    fault("half-line", { after = 1 })
    start()
    expect_sync("list in 1 page; watch-list: the stream ended before the end of the initial events: " ..
      "unexpected EOF: the stream ended inside an event")
    expect_events()
  end)
end)
