-- Objects of the namespaces that have certain labels (k8s.informer's namespaces.selector), as labels come and go.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local function configmap(ns, name)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = ns }, data = { k = "1" } }
end

local function path(ns, name)
  return "/api/v1/namespaces/" .. ns .. "/configmaps" .. (name and "/" .. name or "")
end

local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespaces = { selector = "team=shop" } })
  maps:on_add(function(map, ev) print("add " .. map:key() .. " " .. tostring(ev.initial)) end)
  maps:on_update(function(_, map) print("update " .. map:key() .. " " .. map.data.k) end)
  maps:on_delete(function(map, ev) print("delete " .. map:key() .. " " .. tostring(ev.final_state_unknown)) end)
  k8s.main(function()
    print(("synced %d of %d namespaces"):format(maps:lister():count(), maps:status().followed))
  end)
]]

describe("an informer of namespaces by their labels", function()
  local sim, engine

  before_each(function()
    sim = cluster.sim()
    for ns, team in pairs { a = "shop", b = "pay", c = "shop" } do
      sim.api:create("/api/v1/namespaces",
        { apiVersion = "v1", kind = "Namespace", metadata = { name = ns, labels = { team = team } } })
      sim.api:create(path(ns), configmap(ns, "one"))
    end
  end)

  after_each(cluster.stop_all)

  local function label(ns, team)
    sim.api:patch("/api/v1/namespaces/" .. ns, { metadata = { labels = { team = team } } })
  end

  it("has what is in them, by one watch of all, and follows labels", function()
    local socket = temp.folder() .. "/admin.sock"
    engine = cluster.run(sim.server, cluster.script(script), { "--admin-socket", socket })
    engine:wait_line "^add a/one true$"
    engine:wait_line "^synced 2 of 2 namespaces$"
    assert.are.equal(2, sim.api:get("/sim/stats").open_watches) -- that of namespaces is the other
    label("b", "shop")
    engine:wait_line "^add b/one false$"
    sim.api:patch(path("b", "one"), { data = { k = "2" } })
    engine:wait_line "^update b/one 2$"
    label("a", "pay")
    engine:wait_line "^delete a/one true$"
    sim.api:patch(path("a", "one"), { data = { k = "2" } })
    sim.api:create(path "c", configmap("c", "two"))
    engine:wait_line "^add c/two false$"
    assert.is_nil(engine:out():find "update a/")
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    status:wait()
    assert.has_match("\nconfigmaps in namespaces with labels team=shop +synced .*one watch for 2 namespaces",
      status:out())
    assert.are.equal(2, sim.api:get("/sim/stats").open_watches)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has a watch for each of them, if one of all is forbidden", function()
    for _, verb in ipairs { "list", "watch" } do
      sim:play { ["do"] = "fault", verb = verb, path = "/api/v1/configmaps", what = "status", code = 403, times = 0 }
    end
    local socket = temp.folder() .. "/admin.sock"
    engine = cluster.run(sim.server, cluster.script(script), { "--admin-socket", socket })
    engine:wait_line "^synced 2 of 2 namespaces$"
    engine:wait_error "Watching each namespace, as a watch of all is forbidden"
    assert.are.equal(3, sim.api:get("/sim/stats").open_watches)
    label("b", "shop")
    engine:wait_line "^add b/one true$"
    label("a", "pay")
    engine:wait_line "^delete a/one true$"
    sim.api:patch(path("b", "one"), { data = { k = "2" } })
    engine:wait_line "^update b/one 2$"
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    status:wait()
    assert.has_match("a watch for each of 2 namespaces", status:out())
    assert.is_nil(engine:err():find "Handlers start without an informer")
    assert.are.equal(3, sim.api:get("/sim/stats").open_watches)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("says that no namespace has the labels", function()
    local socket = temp.folder() .. "/admin.sock"
    engine = cluster.run(sim.server,
      cluster.script 'require("k8s").informer("pods", { namespaces = { selector = "team=none" } })',
      { "--admin-socket", socket })
    engine:wait_error "Synced"
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    status:wait()
    assert.has_match("\npods in namespaces with labels team=none +synced [^\n]*\n    no namespace has the labels\n",
      status:out())
  end)

  it("says what it waits for", function()
    sim:forbid("namespaces", "namespaces is forbidden")
    engine = cluster.kubelua { "exec", "-s", sim.server, "--sync-timeout", "2s", cluster.script(script) }
    engine:wait_error("informers did not sync within %-%-sync%-timeout: configmaps: "
      .. "failed to list namespaces with labels team=shop.*namespaces is forbidden")
    assert.are.equal(3, engine:wait())
  end)

  it("is a warning for `kubelua check`, if there can only be a watch for each", function()
    local path_of = cluster.script 'require("k8s").informer("pods", { namespaces = { selector = "team=shop" } })'
    local function check()
      local p = cluster.kubelua { "check", "-s", sim.server, "-f", path_of }
      return p:wait(30), p:out()
    end
    sim:forbid("pods", "no")
    local code, out = check()
    assert.are.equal(0, code)
    assert.has_match(":1: warning: missing permission: list and watch pods in all namespaces; each namespace is "
      .. "watched instead, where that is allowed\n", out)
    sim:forbid("namespaces", "no")
    code, out = check()
    assert.are.equal(1, code)
    assert.has_match(":1: error: missing permission: list and watch namespaces\n", out)
  end)

  it("is refused for a kind without namespaces, by the engine, by `kubelua check`, and while a script runs", function()
    local why = "nodes are not namespaced, so namespaces.selector cannot choose any"
    local selects = 'k8s.informer("nodes", { namespaces = { selector = "team=shop" } })'
    local path_of = cluster.script('local k8s = require "k8s" ' .. selects)
    engine = cluster.kubelua { "run", "-s", sim.server, "-f", path_of }
    assert.are.equal(2, engine:wait(30))
    assert.has_match(":1: " .. why, engine:err(), 1, true)
    local p = cluster.kubelua { "check", "-f", path_of }
    assert.are.equal(1, p:wait(30))
    assert.has_match("informer of nodes: they are not namespaced, so namespaces.selector cannot", p:out(), 1, true)
    engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script([[
      local k8s = require "k8s"
      k8s.reads { "nodes:watch", "namespaces:watch" }
      k8s.main(function() print(pcall(function() return ]] .. selects .. [[ end)) end)
    ]]) }
    assert.are.equal(0, engine:wait(30))
    assert.has_match("false\t[^\n]*k8s.informer: " .. why, engine:out())
  end)

  it("is checked while the script loads", function()
    local function refuses(options, message)
      local p = cluster.kubelua { "check", "-f",
        cluster.script('require("k8s").informer("pods", { namespaces = ' .. options .. " })") }
      p:wait(30)
      assert.is_truthy(p:err():find(message, 1, true) or p:out():find(message, 1, true), p:report())
    end
    refuses('{ selector = "team in" }', "k8s.informer: namespaces.selector: ")
    refuses('{ selector = "" }', "k8s.informer: namespaces.selector is empty")
    refuses('{ selector = "a=b", "shop" }', "k8s.informer: namespaces: a selector has nothing beside it")
    refuses('{ selektor = "a=b" }', 'k8s.informer: namespaces: unknown option "selektor", did you mean "selector"?')
    refuses('{ zone = "a" }', 'k8s.informer: namespaces: unknown option "zone", known are selector')
    refuses("{}", "k8s.informer: namespaces must be a non-empty array of strings")
  end)
end)
