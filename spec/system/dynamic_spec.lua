-- Kinds that come, go, come back and change their version while the engine runs, and rights that are missing for a
-- while: on the simulated server, and on the real one (spec/real/dynamic_spec.lua).
local cluster = require "spec.support.cluster"
local dynamic = require "spec.support.dynamic"

describe("a dynamic world #threads", function()
  after_each(cluster.stop_all)

  local function world()
    local sim = cluster.sim { "--pods", "3" }
    return { api = sim.api, sim = sim, args = { "--server", sim.server } }
  end

  it("has kinds that come, go and come back", function() dynamic.comes_and_goes(world()) end)

  it("has kinds that change their version", function() dynamic.changes_version(world()) end)

  it("names the kind that was meant while it waits", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[ require("k8s").informer "deployments.appz" ]])
    local line = engine:wait_error "(Waiting for an unknown kind.*)"
    assert.has_match('kind="deployments.appz"', line, 1, true)
    assert.has_match('did you mean \\"deployments.apps\\"?', line, 1, true)
    assert.is_nil(line:find('=""', 1, true))
  end)

  it("does not end an engine that runs, whatever a bare name turns out to be", function()
    local w = world()
    w.sim:play { ["do"] = "fault", path = "/apis", what = "status", code = 503, times = 1 }
    dynamic.waits_for_a_bare_name(w)
  end)

  it("has rights that come and go: one informer waits, the others go on (I-20, B-7)", function()
    local w = world()
    local function may_read(yes)
      if yes then return w.sim:play { ["do"] = "clear" } end
      w.sim:forbid("configmaps", 'configmaps is forbidden: User "x" cannot list resource "configmaps"')
    end
    may_read(false)
    dynamic.waits_for_rights(w, may_read)
  end)
end)
