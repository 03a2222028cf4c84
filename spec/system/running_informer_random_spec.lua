-- Informers that a running script makes, reads, forgets and stops at random, while watches break and objects change:
-- what is stopped says so, nothing fails, and what is left has what the server has.
local cluster = require "spec.support.cluster"

local SCRIPT = [[
  local k8s = require "k8s"
  k8s.reads { "*:watch" }
  k8s.writes { "configmaps:apply" }
  math.randomseed(SEED)
  local random = math.random
  local KINDS = { "configmaps", "pods", "services", "nodes" }
  local live, calls = {}, 0

  local function make()
    local kind = KINDS[random(#KINDS)]
    local informer = k8s.informer(kind, { selector = random(3) > 1 and "app=a" .. random(3) or nil })
    local registration = random(2) == 1 and informer:on_add(function() calls = calls + 1 end)
    if random(3) == 1 then informer:add_index("name", "metadata.name") end
    if random(3) == 1 then informer:add_index("fn", function(object, emit) emit(object:uid()) end) end
    if random(4) == 1 then
      k8s.after(0, function()
        local ok, err = informer:wait_for_sync(random() / 20)
        assert(ok or err.reason == "Stopped" or err.reason == "Timeout", tostring(err))
      end)
    end
    live[#live + 1] = {
      informer = informer, registration = registration, lister = informer:lister(), query = informer:query(),
    }
  end

  local function read(one)
    local count = one.lister:count()
    assert(count == #one.lister:list_all() and count == one.informer:lister():count())
  end

  local STEPS = {
    function() if #live < 20 then make() end end,
    function() if #live > 0 then read(live[random(#live)]) end end,
    function()
      local one = #live > 0 and table.remove(live, random(#live))
      if not one then return end
      one.informer:stop()
      assert(not pcall(one.lister.count, one.lister) and not pcall(one.query.count, one.query))
      if random(2) == 1 then k8s.sleep(0.001) end
      assert(not pcall(one.lister.count, one.lister))
    end,
    function()
      local one = #live > 0 and table.remove(live, random(#live))
      if one and one.registration then one.registration:remove() end
    end,
    function() k8s.sleep(random() / 100) end,
    function() -- work for the collector
      local garbage = {}
      for i = 1, 2000 do garbage[i] = { i } end
    end,
  }

  k8s.main(function()
    local map, last = { kind = "configmaps", namespace = "default" }, nil
    for step = 1, 3000 do
      local ok, err = pcall(STEPS[random(#STEPS)])
      if not ok and not tostring(err):find("over the limit", 1, true) then error(err, 0) end
      if step % 50 == 0 then
        map.name = "map-" .. step
        last = k8s.apply(map, { metadata = { labels = { app = "a" .. random(3) } } })
      end
    end
    for _, one in ipairs(live) do assert(one.informer:wait_for_sync()) end
    local ok, whole = pcall(k8s.informer, "configmaps")
    while not ok do -- stopped ones count until they have ended
      assert(tostring(whole):find("over the limit", 1, true), whole)
      k8s.sleep(0.01)
      ok, whole = pcall(k8s.informer, "configmaps")
    end
    assert(whole:wait_for_sync() and whole:wait_rv(last, "2m"))
    print("maps " .. whole:lister():count() .. " calls " .. tostring(calls > 0))
  end)
]]

describe("informers of a running script at random #threads", function()
  after_each(cluster.stop_all)

  for seed = 1, 3 do
    it("have what the server has in the end, seed " .. seed, function()
      local sim = cluster.sim { "--pods", "30" }
      for _, resource in ipairs { "pods", "configmaps" } do
        sim:play { ["do"] = "fault", verb = "watch", resource = resource, what = "status", code = 500, times = 5 }
      end
      local script = cluster.script((SCRIPT:gsub("SEED", tostring(seed))))
      local p = cluster.kubelua { "exec", "-s", sim.server, "--informer-grace", "100ms", script }
      assert.are.equal(0, p:wait(120), p:report())
      local expected = #sim.api:get("/api/v1/configmaps").items
      assert.are.equal(("maps %d calls true\n"):format(expected), p:out())
    end)
  end
end)
