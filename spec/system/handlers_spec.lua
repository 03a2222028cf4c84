-- Options of handlers, through the whole binary: filters, what a new list brings, and what becomes of changes
-- that pile up before a slow handler.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, labels, data)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default", labels = labels },
    data = data or { a = "b" },
  }
end

-- A script that watches configmaps with these options and prints what it is told of.
local function watcher(options)
  return cluster.script(([[
    local k8s = require "k8s"
    local maps = k8s.informer("configmaps", { namespace = "default" })
    local function flags(ev)
      local set = ""
      for _, name in ipairs { "filtered", "coalesced", "final_state_unknown" } do
        if ev[name] then set = set .. " " .. name end
      end
      return set
    end
    local options = { %s }
    options.OnAdd = function(obj, ev) print("add " .. obj:name() .. flags(ev)) end
    options.OnUpdate = function(old, new, ev) print("update " .. new:name() .. flags(ev)) end
    options.OnDelete = function(last, ev) print("delete " .. last:name() .. flags(ev)) end
    maps:add_event_handler(options)
    k8s.main(function() print "synced" end)
  ]]):format(options))
end

describe("the options of a handler", function()
  after_each(cluster.stop_all)

  it("deliver events of what passes its filter as if nothing else existed (I-18)", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap("one", { tier = "web" }))
    sim.api:create(configmaps, configmap("two", { tier = "db" }))
    local engine = cluster.run(sim.server, watcher [[
      selector = "tier=web", namespaces = { "def*", "!kube-*" }, where = { ["data.a"] = { "b", "c" } },
      filter = function(obj) return obj:name() ~= "never" end
    ]])
    engine:wait_line "^synced$"
    sim.api:create(configmaps, configmap("never", { tier = "web" }))
    sim.api:patch(configmaps .. "/two", { metadata = { labels = { tier = "web" } } })
    engine:wait_line "^add two filtered$"
    sim.api:patch(configmaps .. "/two", { data = { a = "c" } })
    engine:wait_line "^update two$"
    sim.api:patch(configmaps .. "/two", { data = { a = "d" } })
    engine:wait_line "^delete two filtered$"
    sim.api:delete(configmaps .. "/two")
    sim.api:delete(configmaps .. "/one")
    engine:wait_line "^delete one$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_no_match("never", engine:out(), 1, true)
    assert.are.equal(1, select(2, engine:out():gsub("delete two", "")))
  end)

  it("do not hide what handlers and timers return as nil, err", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap "one")
    sim:play { ["do"] = "fault", verb = "patch", path = configmaps .. "/one", what = "status", code = 422,
      reason = "Invalid", message = "bad label" }
    local socket = temp.name() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:patch", "configmaps:create" }
      local maps = k8s.informer "configmaps"
      maps:on_add(function() return "a value", "and another" end)
      maps:on_add(function() return nil end)
      maps:on_add(
        function(obj) return k8s.patch(obj, { data = { a = "c" } }) end, { id = "writes" })
      maps:on_add(
        function() return nil, { message = "plainly no" } end, { id = "plain" })
      k8s.after("10ms",
        function() return k8s.patch({ kind = "cm", name = "nope", namespace = "shop" }, { data = {} }) end)
      k8s.on_leader(function() return nil, "no start" end)
      -- Handled: neither failed.
      maps:on_add(function() k8s.patch({ kind = "cm", name = "gone", namespace = "shop" }, { data = {} }) end)
      maps:on_add(function(obj)
        k8s.create {
          apiVersion = "v1", kind = "ConfigMap", metadata = { name = obj:name(), namespace = obj:namespace() },
        }
        print "handled"
      end)
    ]], { "--admin-socket", socket })
    local function failures() return select(2, engine:err():gsub(' failed" script=', "")) end
    engine:wait_until(function() return failures() == 4 end, "four failures")
    engine:wait_line "^handled$"
    local err = engine:err()
    assert.has_match('%.lua:7%] "Handler failed" [^\n]*handler="writes" [^\n]*result="error" err="bad label"', err)
    assert.has_match('%.lua:9%] "Handler failed" [^\n]*handler="plain" [^\n]*err="plainly no"', err)
    assert.has_match('%.lua:11%] "Timer failed" [^\n]*err="configmaps \\"nope\\" not found"', err)
    assert.has_match('"Function of a leader failed" [^\n]*err="no start"', err)
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    assert.are.equal(0, status:wait())
    assert.has_match(" ERRORS +MEMORY\n[^\n]+ 4 +[%d.]+[KM]i\n    writes failed: 2\n", status:out())
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(4, failures())
  end)

  it("leave out updates that change none of the paths it cares for", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap "one")
    local engine = cluster.run(sim.server, watcher [[ changed = { "data" } ]])
    engine:wait_line "^synced$"
    for i = 1, 5 do sim.api:patch(configmaps .. "/one", { metadata = { labels = { round = tostring(i) } } }) end
    sim.api:patch(configmaps .. "/one", { data = { a = "c" } })
    engine:wait_line "^update one$"
    sim.api:delete(configmaps .. "/one")
    engine:wait_line "^delete one$"
    assert.are.equal(1, select(2, engine:out():gsub("update", "")))
  end)

  it("deliver unchanged objects of a new list only on request (I-14, B-4)", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap "one")
    local engine = cluster.run(sim.server, watcher [[ unchanged = true ]])
    local silent = cluster.run(sim.server, watcher "")
    engine:wait_line "^synced$"
    silent:wait_line "^synced$"
    sim:play { ["do"] = "expire", resource = "configmaps" }
    engine:wait_line "^update one$"
    sim.api:create(configmaps, configmap "two")
    silent:wait_line "^add two$"
    assert.has_no_match("update", silent:out(), 1, true)
  end)

  it("split an object that was recreated unseen into a delete and an add (Q-22)", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, configmap "one")
    local engine = cluster.run(sim.server, watcher [[ split_recreated = true ]], { "-f", watcher "" })
    for _ = 1, 2 do engine:wait_line "^synced$" end
    sim:play { ["do"] = "fault", verb = "watch", resource = "configmaps", what = "status", code = 500, times = 1 }
    sim:play { ["do"] = "inject", resource = "configmaps", what = "cut" }
    engine:wait_error "retrying"
    sim.api:delete(configmaps .. "/one")
    sim.api:create(configmaps, configmap "one")
    engine:wait_line "^delete one final_state_unknown$"
    engine:wait_line "^add one$"
    engine:wait_line "^update one$"
  end)

  it("are named when they are wrong, with the script's line", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(print, { namespaces = { "Not A Name" } })
    ]])
    assert.are.equal(2, engine:wait())
    assert.has_match('%.lua:2: on_add: namespaces: namespace "Not A Name"', engine:err())
  end)
end)

describe("changes that pile up before a slow handler", function()
  after_each(cluster.stop_all)

  it("become one for each object, and the watch goes on (Q-1, Q-16)", function()
    local sim = cluster.sim { "--pods", "20" }
    local go = cluster.script "return true" -- a module, which is written once all changes were made
    local name = go:match "([^/]+)%.lua$"
    os.remove(go)
    local engine = cluster.run(sim.server, cluster.script(([[
      local k8s = require "k8s"
      local pods = k8s.informer("pods")
      local blocked, told = false, 0
      pods:on_update(function(old, new, ev)
        if not blocked then
          blocked = true
          print "blocked"
          while not pcall(require, "%s") do end
          local stop = k8s.now() + 3 -- for what is on its way
          while k8s.now() < stop do end
        end
        told = told + 1
        if ev.coalesced then print("coalesced", told) end
        if new:annotation "spec/last" then print("last", told) end
      end)
      k8s.main(function() print "synced" end)
    ]]):format(name)), { "--handler-cpu", "10m" })
    engine:wait_line "^synced$"
    sim:play { ["do"] = "touch", resource = "pods", pick = 1, count = 1 }
    engine:wait_line "^blocked$"
    sim:play { ["do"] = "touch", resource = "pods", pick = 1, count = 30000 }
    local _, first = next(sim.api:get("/api/v1/pods?limit=1").items)
    sim.api:patch(("/api/v1/namespaces/%s/pods/%s"):format(first.metadata.namespace, first.metadata.name),
      { metadata = { annotations = { ["spec/last"] = "yes" } } })
    local file = assert(io.open(go, "w"))
    file:write "return true"
    file:close()
    engine:wait_line("^last\t", 60)
    os.remove(go)
    local told = tonumber(engine:out():match "last\t(%d+)")
    assert.is_true(told < 12000, told .. " updates were told") -- up to 10,000 may wait as they came
    assert.has_match("coalesced", engine:out(), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

-- What a late handler is shown takes ten seconds, unless a config map comes in the middle of it.
local late = [[
  local k8s = require "k8s"
  local asked, fast, told = 0, false, 0
  local pods = k8s.informer "pods"
  k8s.informer("configmaps", { namespace = "default" }):on_add(function(map)
    if map:name() ~= "go" then return end
    print("go " .. tostring(asked > 0 and asked < 5000))
    fast = true
  end)
  local function slow(pod)
    local till = os.clock() + 0.002
    while not fast and os.clock() < till do end
    asked = asked + 1
    return pod ~= nil
  end
  k8s.main(function()
    local handler = pods:on_add(function(_, ev)
      assert(ev.initial)
      told = told + 1
    end, { filter = slow })
    while told == 0 do k8s.sleep "1ms" end
    print("begun " .. tostring(told < 5000 and not handler:has_synced()))
    while not handler:has_synced() do k8s.sleep "1ms" end
    print("told " .. told)
  end)
]]

describe("a handler that is added late", function()
  after_each(cluster.stop_all)

  it("delays no other during a long initial delivery (I-5)", function()
    local sim = cluster.sim { "--pods", "5000" }
    local engine = cluster.run(sim.server, cluster.script(late))
    engine:wait_line "^begun true$"
    sim.api:create(configmaps, configmap "go")
    engine:wait_line "^go true$"
    engine:wait_line "^told 5000$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

-- Goes at its first call and leaves another in its place, for ever.
local restless = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespace = "default" })
  local add
  local function replace(registration)
    registration:remove()
    add()
  end
  function add()
    local registration
    registration = maps:on_add(function() replace(registration) end)
  end
  add()
]]

describe("a handler that replaces itself again and again", function()
  after_each(cluster.stop_all)

  it("takes from nobody the first list, nor what follows (I-5, I-6)", function()
    local sim = cluster.sim()
    for i = 1, 20 do sim.api:create(configmaps, configmap("map-" .. i)) end
    local engine = cluster.run(sim.server, cluster.script(restless), { "-f", watcher "" })
    engine:wait_line "^synced$"
    sim.api:create(configmaps, configmap "one")
    engine:wait_line "^add one$"
    sim.api:delete(configmaps .. "/one")
    engine:wait_line "^delete one$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
