-- kubelua test scripts/recipes
local k8s = require "k8s"
local test = require "k8s.test"

describe("recipes/event_export.lua", function()
  local function event(name, count)
    return { kind = "Event", metadata = { namespace = "shop", name = name }, type = "Warning", reason = "BackOff",
      count = count, message = "Back-off", involvedObject = { kind = "Pod", namespace = "shop", name = "web" } }
  end

  it("sends new events in batches, and again when the endpoint fails", function()
    local env = test.load("event_export.lua", { objects = { event("old", 1) } })
    env:http { url = "https://events.example.com/", status = 202 }
    env:http { url = "https://events.example.com/", status = 500, times = 1 }
    env:add(event("a", 1))
    env:add(event("b", 1))
    env:update(event("b", 2))
    env:advance "2s"
    assert.logged(env, "Events wait")
    assert.equal(0, env:metric "exported_events_total")
    env:advance "2s"
    assert.equal(2, #env.requests)
    local batch = k8s.json.decode(env.requests[2].body)
    assert.equal(3, #batch)
    assert.equal("io.k8s.event.warning", batch[1].type)
    assert.equal("Pod/shop/web", batch[1].subject)
    assert.equal(2, batch[3].data.count)
    assert.equal(3, env:metric "exported_events_total")
    env:advance "10s"
    assert.equal(2, #env.requests)
  end)

  it("drops the oldest that are not on their way when too many wait", function()
    local env = test.load("event_export.lua", { params = { keep = "100", batch = "10" } })
    env:http { url = "https://events.example.com/", status = 202 }
    env:http { url = "https://events.example.com/", status = 500, times = 1 }
    for i = 1, 100 do env:add(event("e" .. i, i)) end
    env:advance "2s"
    for i = 101, 115 do env:add(event("e" .. i, i)) end
    env:advance "2s"
    local counts = {}
    for i = 2, #env.requests do
      for _, one in ipairs(k8s.json.decode(env.requests[i].body)) do counts[#counts + 1] = one.data.count end
    end
    local expected = {} -- the first ten are sent, five of the others are lost
    for i = 1, 10 do expected[i] = i end
    for i = 16, 115 do expected[#expected + 1] = i end
    assert.same(expected, counts)
    assert.equal(5, env:metric "exported_events_lost_total")
    assert.equal(110, env:metric "exported_events_total")
  end)
end)
