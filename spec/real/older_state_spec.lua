-- A server that was set back to an older state, as by a restored etcd: the version that the engine knows is still to
-- come there. It finds out with its next list, which the server refuses as too large, and takes the older state.
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

local script = [[
  local k8s = require "k8s"
  k8s.informer("configmaps", { namespace = "default" }):add_event_handler {
    OnAdd = function(obj) print("add", obj:name()) end,
    OnDelete = function(last, ev) print("delete", last:name(), ev.final_state_unknown) end,
  }
  k8s.main(function() print "synced" end)
]]

describe("a real API server that was set back", function()
  local before, after, between, folders

  setup(function()
    folders = { temp.folder(), temp.folder() }
    before = apiserver.start { dir = folders[1] }
    before:kubectl "create configmap old"
    before:stop()
    temp.run(("cp -a '%s/.' '%s/'"):format(folders[1], folders[2]))
    before = apiserver.start { dir = folders[1] }
    after = apiserver.start { dir = folders[2] }
    between = relay.start(before.url)
  end)

  teardown(function()
    cluster.stop_all()
    if between then between:stop() end
    for _, server in pairs { before, after } do server:stop() end
    for _, folder in ipairs(folders) do temp.remove(folder) end
  end)

  -- R-10, R-11; decision table, "list | Expired/Gone, too large RV".
  it("is believed: what it does not have is deleted, in a state that nobody saw", function()
    for i = 1, 30 do before:kubectl("create configmap new" .. i) end
    local engine = cluster.kubelua { "run", "-f", cluster.script(script), "-v", "2", "--kubeconfig", before.kubeconfig,
      "--server", between.url }
    engine:wait_line("^synced$", 60)
    between:cut()
    between:aim(after.url)
    between:mend()
    -- A watch from a version to come is open and silent; one that ends at once makes the engine list.
    local filter = { verb = "watch", resource = "configmaps", user = "admin" }
    local watches = #after:requests(filter)
    await(function() return #after:requests(filter) > watches end, "a watch of the older server")
    between:cut()
    between:mend()
    for i = 1, 30 do engine:wait_line("^delete\tnew%d+\ttrue$", 60) end
    after:kubectl "create configmap newest"
    engine:wait_line("^add\tnewest$", 30)
    assert.is_nil(engine:out():find "delete\told")
    assert.has_match("Too large resource version", engine:err(), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
