-- Resyncs, through the whole binary. The first one may come 10 s late: a watch that runs reads the period as often.
local cluster = require "spec.support.cluster"

local configmaps = "/api/v1/namespaces/default/configmaps"

-- Runs a script that prints resyncs, on a simulator with one configmap.
local function run(options, more)
  local sim = cluster.sim()
  sim.api:create(configmaps, {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = "one", namespace = "default" }, data = { a = "b" },
  })
  return cluster.run(sim.server, cluster.script(([[
    local maps = require("k8s").informer("configmaps", { namespace = "default" })
    maps:on_update(function(old, new, ev)
      print("update", new:name(), ev.resync, old:resource_version() == new:resource_version())
    end, { %s })
  ]]):format(options)), more)
end

describe("resyncs", function()
  after_each(cluster.stop_all)

  it("deliver every object again and again to a handler that wants them (I-15, I-17)", function()
    local silent = cluster.script [[require("k8s").informer("configmaps"):on_add(function() end)]]
    local engine = run([[resync = "1s"]], { "-f", silent })
    for _ = 1, 2 do engine:wait_line "^update\tone\ttrue\ttrue$" end
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("have the period of --resync for a handler without its own (I-15)", function()
    local engine = run("", { "--resync", "1s" })
    engine:wait_line "^update\tone\ttrue\ttrue$"
  end)
end)
