-- Calls that wait, in the whole binary.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

describe("a script that waits #threads", function()
  after_each(cluster.stop_all)

  it("has main sleep, with run and with exec", function()
    local sim = cluster.sim { "--pods", "3" }
    local script = cluster.script [[
      local k8s = require "k8s"
      local pods = k8s.informer "pods"
      k8s.main(function()
        local start = k8s.now()
        k8s.sleep "30ms"
        print("slept", k8s.now() - start >= 0.025, pods:lister():count())
        return 7
      end)
    ]]
    local engine = cluster.run(sim.server, script)
    engine:wait_line "^slept\ttrue\t3$"
    assert.are.equal(0, cluster.terminate(engine))
    local exec = cluster.kubelua { "exec", "--server=" .. sim.server, script }
    exec:wait_line "^slept\ttrue\t3$"
    assert.are.equal(7, exec:wait(20))
  end)

  it("reports why main failed, whatever the handlers do that it added", function()
    local sim = cluster.sim { "--pods", "1" }
    local exec = cluster.kubelua { "exec", "--server=" .. sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods = k8s.informer "pods"
      k8s.main(function()
        pods:on_add(function() print "told" end)
        error "for this reason"
      end)
    ]] }
    assert.are.equal(3, exec:wait(20))
    assert.has_match('"Main failed".*for this reason', exec:err())
    assert.are.equal("told\n", exec:out())
  end)

  it("gives exec's main all the time it wants: --sync-timeout is over once it has begun", function()
    local sim = cluster.sim { "--pods", "1" }
    local exec = cluster.kubelua { "exec", "--server=" .. sim.server, "--sync-timeout", "1500ms", cluster.script [[
      local k8s = require "k8s"
      k8s.informer "pods"
      k8s.every("500ms", function() print "tick" end)
      k8s.main(function() k8s.sleep(1.6) print "done" end)
    ]] }
    exec:wait_line "^tick$"
    exec:wait_line "^done$"
    assert.are.equal(0, exec:wait(20))
  end)

  it("ends within a second although main sleeps", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.main(function() print "here" coroutine.wrap(k8s.sleep)("1h") print "never" end)
    ]])
    engine:wait_line "^here$"
    assert.are.equal(0, cluster.terminate(engine, 1))
  end)

  it("has a handler sleep while others go on, and keeps its events in order", function()
    local sim = cluster.sim()
    local function configmap(name, data)
      return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
    end
    local configmaps = "/api/v1/namespaces/default/configmaps"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:add_event_handler {
        OnAdd = function(o)
          print("slow begins", o:name())
          while not go do k8s.sleep "10ms" end
          print("slow add", o:name())
        end,
        OnUpdate = function(old, new) print("slow update", old.data.x, new.data.x) end,
        OnDelete = function(o) print("slow delete", o:name()) end,
      }
      maps:on_add(function(o) print("quick", o:name()) go = o:name() == "go" end)
      maps:on_delete(function(o) print("quick delete", o:name()) end)
    ]])
    sim.api:create(configmaps, configmap("a", { x = "1" }))
    engine:wait_line "^quick\ta$"
    sim.api:patch(configmaps .. "/a", { data = { x = "2" } })
    sim.api:patch(configmaps .. "/a", { data = { x = "3" } })
    sim.api:delete(configmaps .. "/a")
    engine:wait_line "^quick delete\ta$"
    sim.api:create(configmaps, configmap("go", { x = "4" }))
    engine:wait_line "^slow add\tgo$"
    local slow = {}
    for line in engine:out():gmatch "slow ([^\n]*)" do slow[#slow + 1] = line:gsub("\t", " ") end
    assert.are.same({ "begins a", "add a", "update 1 2", "update 2 3", "delete a", "begins go", "add go" }, slow)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is kept alive by a timer alone, and ends at once although its tick waits", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local n = 0
      k8s.every("20ms", function()
        n = n + 1
        if n == 2 then error "broken" end
        print("tick", n)
        if n == 3 then k8s.sleep "1h" end
      end)
    ]])
    engine:wait_line "^tick\t3$"
    engine:wait_error '"Timer failed".*broken'
    assert.are.equal(0, cluster.terminate(engine, 1))
    assert.is_nil(engine:out():find("tick\t4", 1, true))
  end)

  -- I-19, F-6
  it("waits for its caches, and reports which one does not sync and why", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local good, all = k8s.factory {}, k8s.factory {}
      good:informer "pods"
      all:informer "pods"
      all:informer "widgets.example.com"
      k8s.after(0, function()
        print("good", good:wait_for_cache_sync "20s")
        print("all", all:wait_for_cache_sync "50ms")
      end)
    ]])
    engine:wait_line "^good\ttrue$"
    engine:wait_line "^all\tnil\tnot synced within 0.05 s: widgets%.example%.com: unknown kind"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  for name, case in pairs {
    ["lets a request that is under way end at SIGTERM"] = { timeout = "10s", delay = "400ms", said = true },
    ["cancels a request that does not end within --shutdown-timeout"] = { timeout = "1s", delay = "20s" },
  } do
    it(name, function()
      local sim = cluster.sim { "--pods", "1" }
      sim:play { ["do"] = "fault", what = "delay", ["for"] = case.delay, verb = "get", resource = "pods", times = 0 }
      local engine = cluster.run(sim.server, cluster.script [[
        local k8s = require "k8s"
        k8s.reads { "pods:get" }
        k8s.informer("pods"):on_add(function(pod)
          print "asking"
          local live = k8s.get("pods", pod:key())
          print("got", live:key() == pod:key())
          k8s.sleep "1h"
        end)
        k8s.every("10ms", function() print "tick" end)
      ]], { "--shutdown-timeout", case.timeout })
      engine:wait_line "^asking$"
      assert.are.equal(0, cluster.terminate(engine, 5))
      assert.are.equal(case.said or false, engine:out():find("got\ttrue", 1, true) ~= nil)
      assert.are.equal(not case.said, engine:err():find("did not finish within --shutdown-timeout", 1, true) ~= nil)
    end)
  end

  it("has file and line of an error, also where a function ends in the call that fails", function()
    local sim = cluster.sim()
    local script = cluster.script [[
local k8s = require "k8s"
k8s.writes { "pods:patch" }
local queue = k8s.queue { name = "keys" }
k8s.informer("namespaces"):on_add(function(ns)
  return k8s.patch(ns, 1)
end)
k8s.after(0, function()
  return k8s.sleep "soon"
end)
queue:run(function()
  k8s.sleep(0)
  return k8s.patch({ kind = "pods" }, {})
end)
k8s.main(function()
  queue:add("key")
  return k8s.patch({ kind = "pods", namespace = "none", name = "none" }, { metadata = {} })
end)
]]
    local engine = cluster.run(sim.server, script)
    local base = script:match("[^/]*$"):gsub("%p", "%%%0")
    for line, message in pairs {
      [5] = '"Handler failed".- err="[^"]*:5: k8s.patch: ', [8] = '"Timer failed".- err="[^"]*:8: k8s.sleep: ',
      [12] = '"Worker failed".- err="[^"]*:12: k8s.patch: a reference needs', [16] = '"Main failed".- not found',
    } do
      await(function() return engine:err():find(base .. ":" .. line .. "%] " .. message) end, message)
    end
  end)

  it("is refused where it may not wait, with its file and line", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script "local k8s = require 'k8s'\nk8s.sleep(1)\n")
    assert.are.equal(2, engine:wait(20))
    assert.has_match("%.lua:2: k8s%.sleep may not be called in the load phase", engine:err())
  end)
end)
