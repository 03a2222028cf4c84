-- spec/support/shard_history: what `./dev prove shards` asks of the logs of engines that share objects.
local history = require "spec.support.shard_history"

local MAY = { failover = 14.8, handover = 6, list = 5, kept = 3 }

-- Logs of engines with one object, in slot 2806: "WHAT TIME [VERSION or SLOTS]" in each; a call lasts 5 ms.
local function read(logs)
  local all = history.new()
  for member, events in ipairs(logs) do
    local lines = {}
    for _, event in ipairs(events) do
      local what, at, version = event:match "^(%a+) ([%d.]+) ?([%d,-]*)$"
      if what == "call" then
        lines[#lines + 1] = ("b %f m1 %s\ne %f m1 %s\n"):format(at, version, at + 0.005, version)
      elseif what == "lost" then
        lines[#lines + 1] = ("l %f m1 %d\n"):format(at, 1)
      elseif what == "share" then
        lines[#lines + 1] = ("s %f %s\n"):format(at, version)
      else
        lines[#lines + 1] = ("b %f m1 %s\n"):format(at, version) -- cancelled
      end
    end
    all:read(member, table.concat(lines))
  end
  all:sort()
  return all
end

local function written(at) return { { name = "m1", uid = "a", version = 7, at = at } } end

local function moments(text)
  local list = {}
  for what, member, at in text:gmatch "(%a+) (%d) (%d+)" do
    list[#list + 1] = { what = what, at = tonumber(at), member = member ~= "0" and tonumber(member) or nil }
  end
  return list
end

local function waits(logs, at, befell) return read(logs):waits(written(at), moments(befell), MAY) end

describe("the history of a group that shares objects", function()
  it("has the window of ADR 11, and slots of the hash that servers have", function()
    assert.are.near(14.8, history.failover(6), 1e-9)
    assert.are.near(37, history.failover(15), 1e-9)
    assert.are.near(6, history.handover(6), 1e-9)
    assert.are.near(15, history.handover(15), 1e-9)
    assert.are.equal(0xaf6, history.slot "a") -- 0xaf63dc4c8601ec8c
    assert.are.equal(0x859, history.slot "foobar") -- 0x85944171f73967e8
    local texts = history.texts()
    assert.are.equal(4095, history.slot(texts[4095]))
    assert.are.equal(4096, #texts + 1)
  end)

  local FAILED = "settled 0 50 kill 1 105 start 2 120"

  it("finds no wait within what is stated", function()
    local found = waits({ { "call 10 5" }, { "share 134.5 0-1,2806", "call 139.4 7" } }, 110, FAILED)
    assert.are.same({}, found.late)
    assert.are.near(29.405, found.all, 1e-6)
    assert.are.near(14.5, found.failover, 1e-6)
    assert.are.near(4.905, found.list, 1e-6)
    assert.are.equal(0, found.kept)
    assert.are.equal("the longest wait of a change 29.4 s, and since the group was disturbed last: failover 14.5 s (at "
      .. "most 14.8), handover 0.0 s (at most 6.0), list 4.9 s (at most 5.0), kept 0.0 s (at most 3.0)",
      history.describe(found, MAY))
  end)

  it("finds a change that waited too long for an owner since something befell the group", function()
    local found = waits({ { "call 10 5" }, { "share 130 0-2805", "share 135 2000-4095", "call 138 7" } }, 110, FAILED)
    assert.are.equal(1, #found.late)
    assert.are.equal("m1, in slot 2806 of 4096: a change waited 15.0 s for an owner of its slot after the start, and "
      .. [[may 14.8 s:
     -5.000 s kill of 1
     +0.000 s version 7 is written
    +10.000 s start of 2
    +20.000 s 2 does not own its slot
    +25.000 s 2 owns its slot
    +28.000 s 2 is called for version 7
    +28.005 s 2 has handled version 7]], found.late[1])
  end)

  it("finds one that waited too long for the list of its new owner", function()
    local logs = { { "call 10 5" }, { "share 121 0-4095", "share 122 0-2805", "share 123 2806", "call 128.1 7" } }
    local found = waits(logs, 110, FAILED)
    assert.are.equal(1, #found.late)
    assert.has_match("m1, in slot 2806 of 4096: a change waited 5.1 s for the list and the calls of its new replica,",
      found.late[1], 1, true)
  end)

  it("finds one that waited too long before something befell the group", function()
    local found = waits({ { "call 10 5" }, { "call 131 7" } }, 110, "settled 0 50 kill 1 130")
    assert.are.equal(1, #found.late)
    assert.has_match("a change waited 20.0 s for an owner of its slot, and may 14.8 s", found.late[1], 1, true)
  end)

  it("lets a change wait less where replicas only join and leave", function()
    local logs = { { "call 10 5" }, { "share 116.2 0-4095", "call 117 7" } }
    assert.are.same({}, waits(logs, 110, "settled 0 50 kill 3 60 start 2 105").late)
    local found = waits(logs, 110, "kill 3 40 settled 0 50 end 1 105 start 2 106")
    assert.are.equal(1, #found.late)
    assert.has_match("a change waited 6.2 s for the next owner of its slot, and may 6.0 s", found.late[1], 1, true)
  end)

  it("counts calls that ended, with the version or a later one", function()
    local found = waits({ { "call 10 5", "cancelled 111 7" }, { "call 115 6", "call 120 8" } }, 110,
      "settled 0 50 kill 1 112")
    assert.are.near(10.005, found.all, 1e-6)
    local all = read { { "call 10 5", "cancelled 111 7" } }
    assert.are.equal(1, all.cancelled)
    assert.are.equal(7, all:unhandled(written(110)).version)
  end)

  it("lets a change wait for what befalls others only if its owner changes", function()
    local logs = { { "call 10 5", "call 114 7" }, {} }
    local found = waits(logs, 110, "settled 0 50 kill 2 105")
    assert.are.equal(1, #found.late)
    assert.has_match("a change waited 4.0 s for its replica, which kept it, and may 3.0 s", found.late[1], 1, true)
    assert.are.near(4.005, found.kept, 1e-6)
    assert.are.same({}, waits(logs, 110, "settled 0 50 cut 1 60 kill 2 105").late)
    table.insert(logs[1], 2, "lost 112")
    assert.are.same({}, waits(logs, 110, "settled 0 50 kill 2 105").late)
  end)

  it("finds two owners of an object", function()
    assert.has_error(function() read({ { "cancelled 10 5", "call 12 6" }, { "call 11 5" } }):check_owners(0) end)
    assert.has_error(function() read({ { "call 10 5" }, { "call 10.002 5" } }):check_owners(9) end,
      "m1: 2 began at 10.002000, 1 ended at 10.005000")
    read({ { "call 10 5" }, { "call 10.006 5" } }):check_owners(1)
  end)
end)
