-- Several namespaces read as one (B-6), and what a script is told of one that it has no rights in (B-7, I-20).
local cluster = require "spec.support.cluster"

local function configmap(ns, name)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = ns }, data = { k = "1" } }
end

local function path(ns, name)
  return "/api/v1/namespaces/" .. ns .. "/configmaps" .. (name and "/" .. name or "")
end

-- Says what it sees, and how it fares after every event and when a config map called "ask" changes.
local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespaces = { "a", "b" } })
  local function tell()
    local s = maps:status()
    print(("%s objects=%d a=%s b=%s %s"):format(s.state, s.objects, s.namespaces.a.state, s.namespaces.b.state,
      tostring(s.last_error)))
  end
  maps:on_add(function(map) print("add " .. map:key()) tell() end)
  maps:on_update(function(_, map) print("update " .. map:key()) tell() end)
  maps:on_delete(function(map) print("delete " .. map:key()) end)
  k8s.main(function() print("synced " .. maps:lister():count() .. " " .. maps:lister():namespace("b"):count()) end)
]]

describe("an informer of several namespaces", function()
  local sim, engine

  before_each(function()
    sim = cluster.sim()
    for _, ns in ipairs { "a", "b", "c" } do
      sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = ns } })
      sim.api:create(path(ns), configmap(ns, "one"))
    end
  end)

  after_each(cluster.stop_all)

  local function start() engine = cluster.run(sim.server, cluster.script(script)) end

  it("is one cache, with a watch for each of them and for no other", function()
    start()
    engine:wait_line "^synced 2 1$"
    sim.api:create(path "c", configmap("c", "two"))
    sim.api:patch(path("a", "one"), { data = { k = "2" } })
    engine:wait_line "^update a/one$"
    sim.api:delete(path("b", "one"))
    engine:wait_line "^delete b/one$"
    assert.is_nil(engine:out():find " c/")
    assert.are.equal(2, sim.api:get("/sim/stats").open_watches)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- As RBAC does it, until rights come: nobody has to start anything again.
  it("reports in which of them it has no permissions, goes on with the others, and recovers", function()
    sim:forbid("configmaps", "configmaps is forbidden in b", "b")
    start()
    engine:wait_line "^add a/one$"
    engine:wait_error 'List or watch failed, retrying" reflector="configmaps in b"'
    sim.api:patch(path("a", "one"), { data = { k = "2" } })
    engine:wait_line("^forbidden objects=1 a=synced b=forbidden failed to .* configmaps in b: "
      .. "configmaps is forbidden in b$")
    assert.is_nil(engine:out():find "^synced")
    sim:play { ["do"] = "clear" }
    engine:wait_line("^add b/one$", 60)
    engine:wait_line "^synced 2 1$"
    sim.api:patch(path("a", "one"), { data = { k = "3" } })
    engine:wait_line "^synced objects=2 a=synced b=synced nil$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("loses its rights, keeps its cache, and recovers", function()
    start()
    engine:wait_line "^synced 2 1$"
    sim:forbid("configmaps", "configmaps is forbidden in b", "b")
    sim:play { ["do"] = "end-watches", resource = "configmaps" }
    engine:wait_error 'List or watch failed, retrying" reflector="configmaps in b"'
    sim.api:create(path "b", configmap("b", "two"))
    sim.api:patch(path("a", "one"), { data = { k = "2" } })
    engine:wait_line "^forbidden objects=2 a=synced b=forbidden"
    sim:play { ["do"] = "clear" }
    engine:wait_line("^add b/two$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is named with its cause when exec waits in vain", function()
    sim:forbid("configmaps", "configmaps is forbidden in b", "b")
    engine = cluster.kubelua { "exec", "-s", sim.server, "--sync-timeout", "2s", cluster.script(script) }
    engine:wait_error "informers did not sync within %-%-sync%-timeout: configmaps.*configmaps is forbidden in b"
    assert.are.equal(3, engine:wait())
  end)
end)
