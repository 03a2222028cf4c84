-- What scripts share (F-1), and what one of several informers without rights does to the others (B-7, I-20): nothing.
local cluster = require "spec.support.cluster"

local function object(kind, name)
  return { apiVersion = "v1", kind = kind, metadata = { name = name, namespace = "default", labels = { app = "web" } } }
end

local configmaps, secrets = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/secrets"

describe("a factory", function()
  local sim, engine

  before_each(function()
    sim = cluster.sim()
    sim.api:create(configmaps, object("ConfigMap", "one"))
    sim.api:create(secrets, object("Secret", "one"))
  end)

  after_each(cluster.stop_all)

  -- F-1, X-4: selectors are compared in canonical form, paths as sets.
  it("has one watch for all scripts that request the same", function()
    local script = [[
      local k8s = require "k8s"
      local shop = k8s.factory { namespace = "default", prune = { "data", "metadata.managedFields" } }
      local maps = shop:informer("%s", { selector = "%s", prune = %s })
      maps:on_add(function(map) print("%s " .. map:name()) end)
    ]]
    local first = cluster.script(script:format("configmaps", "app in (web), !x", '{ "binaryData", "data" }', "first"))
    local second = cluster.script(script:format("cm", "!x,app in (web)", '{ "data", "binaryData", "data" }', "second"))
    local third = cluster.script(script:format("configmaps", "!x,app in (web)", "nil", "third"))
    engine = cluster.run(sim.server, first, { "-f", second, "-f", third })
    sim.api:create(configmaps, object("ConfigMap", "two"))
    for _ = 1, 6 do engine:wait_line "^%a+ %a+$" end
    for _, name in ipairs { "first", "second", "third" } do
      assert.is_truthy(engine:out():find(name .. " two", 1, true), name)
    end
    assert.are.equal(2, sim.api:get("/sim/stats").open_watches) -- the third keeps something else
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- It says why, and fills up by itself when rights come.
  it("goes on with the others when one kind is forbidden", function()
    sim:forbid("secrets", "secrets is forbidden: no rights")
    engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local shop = k8s.factory { namespace = "default" }
      local maps, secrets = shop:informer "configmaps", shop:informer "secrets"
      local function tell()
        local s = secrets:status()
        local err = s.last_error or {}
        print(maps:status().state, s.state, tostring(s.synced), tostring(err.code), tostring(err.reason),
          tostring(err.message))
      end
      maps:on_add(tell)
      secrets:on_add(function(secret) print("secret " .. secret:name()) end)
    ]])
    for _ = 1, 3 do engine:wait_error "List or watch failed.*secrets is forbidden: no rights" end
    assert.are.equal(1, select(2, engine:err():gsub("Watch%-list failed", "")))
    sim.api:create(configmaps, object("ConfigMap", "two"))
    engine:wait_line("^synced\tforbidden\tfalse\t403\tForbidden\tfailed to .*secrets is forbidden: no rights$", 30)
    sim:play { ["do"] = "clear" }
    engine:wait_line("^secret one$", 60)
    sim.api:create(configmaps, object("ConfigMap", "three"))
    engine:wait_line "^synced\tsynced\ttrue\tnil\tnil\tnil$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
