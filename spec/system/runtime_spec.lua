-- Calls that wait, in the whole binary.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

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
        print("slept", k8s.now() - start >= 0.03, pods:lister():count())
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

  it("ends within a second although main sleeps", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.main(function() print "here" coroutine.wrap(k8s.sleep)("1h") print "never" end)
    ]])
    engine:wait_line "^here$"
    local start = proc.now()
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_true(proc.now() - start < 1, "took longer than a second")
  end)

  it("is told where it may not wait, with its file and line", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script "local k8s = require 'k8s'\nk8s.sleep(1)\n")
    assert.are.equal(2, engine:wait(20))
    assert.has_match("%.lua:2: k8s%.sleep may not be called in the load phase", engine:err())
  end)
end)
