-- Scripts with more to do than there is time: each call returns soon, so the engine's own work, signals, timers,
-- probes and other scripts have theirs between them (E-1).
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

-- What all scripts here begin with: compute(s) takes that long, lateness() is how late a timer was at most.
local prelude = [[
  local k8s = require "k8s"
  local late, last = 0, k8s.now()
  local function lateness() return math.max(late, k8s.now() - last - 0.1) end
  k8s.every("100ms", function()
    late, last = lateness(), k8s.now()
  end)
  local function compute(seconds)
    local begun = k8s.now()
    while k8s.now() - begun < seconds do end
  end
]]

-- More than one call may fall between two looks at the clock when the machine is busy with other things.
local soon = 1.5

describe("the engine while scripts have much to do #threads", function()
  after_each(cluster.stop_all)

  it("has timers, probes and SIGTERM come between the keys of full queues", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script(prelude .. [[
      for i = 1, 4 do
        local q, count = k8s.queue { name = "q" .. i, qps = 0 }, 0
        q:run(function()
          compute(0.06)
          count = count + 1
          if count == 10 then print("ten of", i, lateness()) end
        end)
        k8s.after("300ms", function() for key = 1, 200 do q:add("k" .. key) end end)
      end
    ]]), { "--health-probe-bind-address", "127.0.0.1:0", "--handler-cpu=1m" })
    local http = api.new { server = "http://" .. engine:wait_error 'Serving health probes" address="([^"]+)"' }
    local first = tonumber(engine:wait_line("^ten of\t1\t([%d.]+)$", 30))
    local fourth = tonumber(engine:wait_line("^ten of\t4\t([%d.]+)$", 30))
    assert.is_true(first < soon and fourth < soon, first .. " " .. fourth)
    await(function() return (http:curl("GET", "/readyz")) == 200 end, function() return engine:report() end)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_no_match("Engine thread is blocked, handlers and timers are delayed", engine:err(), 1, true)
  end)

  it("has SIGTERM come between the ticks of many timers", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script(prelude .. [[
      for i = 1, 200 do
        k8s.every("1s", function()
          if i == 1 then print "tick" end
          compute(0.06)
        end)
      end
    ]]), { "--shutdown-timeout=5s", "--handler-cpu=1m" })
    engine:wait_line "^tick$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has timers come between calls that were woken together", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script(prelude .. [[
      local q, left = k8s.queue { name = "q", workers = 100, qps = 0 }, 100
      q:run(function()
        k8s.sleep(1)
        compute(0.04)
        left = left - 1
        if left == 0 then print("done", lateness()) end
      end)
      k8s.after("100ms", function() for key = 1, 100 do q:add("k" .. key) end end)
    ]]), { "--handler-cpu=1m" })
    local lateness = tonumber(engine:wait_line("^done\t([%d.]+)$", 60))
    assert.is_true(lateness < soon, lateness)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has timers, and other scripts, come between the events that waited for a handler", function()
    local sim = cluster.sim { "--pods", "100" }
    local engine = cluster.run(sim.server, cluster.script(prelude .. [[
      local count = 0
      k8s.informer("pods"):on_add(function()
        count = count + 1
        if count == 1 then k8s.sleep(1) end
        compute(0.04)
        if count == 100 then print("done", lateness()) end
      end)
    ]]), { "-f", cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        for _ = 1, 10 do k8s.sleep(0.1) end
        print "the other is done"
      end)
    ]] })
    local lateness = tonumber(engine:wait_line("^done\t([%d.]+)$", 60))
    assert.is_true(lateness < soon, lateness)
    assert.has_match("the other is done\n.*done\t", engine:out())
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
