-- lua/tool/bench/session.lua: the lines of subjects, good ones and others.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local cjson = require "cjson"
local session = require "tool.bench.session"

local function parse(text)
  local ok, value = pcall(cjson.decode, text)
  if ok then return value end
  return nil, value
end

local function reads(line) return session.read_event(parse, line) end

local function refuses(line, why)
  local ok, err = pcall(reads, line)
  assert.is_false(ok)
  assert.truthy(err:find(why, 1, true), err)
  assert.truthy(err:find('it printed "', 1, true), err)
end

describe("lines of subjects", function()
  it("report a sync, with what the subject measured itself", function()
    local event = reads '{"event":"synced","objects":7,"select_label_us":1.5,"select_hits":3}'
    assert.equal("synced", event.kind)
    assert.equal(7, event.objects)
    assert.is_true(event.measurements.storm and event.measurements["audit-engine"])
    assert.same({ select_label_us = 1.5, select_hits = 3 }, event.figures)
    assert.is_nil(event.version)
    assert.equal("client-go v0.37.2", reads('{"event":"synced","objects":7,"version":"client-go v0.37.2"}').version)
  end)

  it("report a subject that can do less", function()
    local event = reads '{"event":"synced","objects":0,"measurements":["sync","storm"]}'
    assert.same({ sync = true, storm = true }, event.measurements)
    refuses('{"event":"synced","objects":0,"measurements":["speed"]}', 'unknown measurement "speed"')
  end)

  it("report a marker with latencies and without", function()
    local event = reads '{"event":"marker","name":"marker-1","objects":8,"updates":5,"latency_us":[1,2.5,3,4]}'
    assert.same({ kind = "marker", name = "marker-1", objects = 8, updates = 5, latency = { 1, 2.5, 3, 4 } }, event)
    assert.is_nil(reads('{"event":"marker","name":"m","objects":8,"updates":0,"latency_us":null}').latency)
  end)

  it("are printed when they are none of these", function()
    refuses("hello", "hello")
    refuses(("x"):rep(100), ("x"):rep(80) .. '..."')
    refuses("", 'it printed ""')
    refuses("[1]", "not a JSON object")
    refuses('{"event":"synced"}', 'missing field "objects"')
    refuses('{"event":"ready","objects":1}', 'unknown event "ready"')
    refuses('{"event":"marker","objects":1,"updates":2}', "a marker needs a name and updates")
    refuses('{"event":"marker","name":"m","objects":1}', "a marker needs a name and updates")
    for _, list in ipairs { "[1,2,3]", "[1,2,3,4,5]", '[1,2,3,"x"]' } do
      refuses('{"event":"marker","name":"m","objects":1,"updates":2,"latency_us":' .. list .. "}",
        "latency_us takes null or four numbers")
    end
  end)
end)
