-- k8s.informer in a task: informers that a script makes while it runs, and stops.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local crds = require "spec.support.crds"
local temp = require "spec.support.temp"

describe("an informer of a running script #threads", function()
  local sim, folder

  before_each(function()
    sim, folder = cluster.sim { "--pods", "3" }, temp.folder()
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function exec(text, ...)
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script('local k8s = require "k8s"\n' .. text), ... }
    assert.are.equal(0, p:wait(60), p:report())
    return (p:out():gsub("/%S+:%d+: ", ""))
  end

  local function informers(socket)
    local p = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
    assert.are.equal(0, p:wait(), p:report())
    local names = {}
    for _, one in ipairs(cjson.decode(p:out()).informers) do names[#names + 1] = one.kind end
    table.sort(names)
    return table.concat(names, " ")
  end

  it("has handlers, listers, queries and indexes, as any other", function()
    assert.are.equal([[
true	true	3	3
true	true	true
1	1	synced
]], exec [[
      k8s.reads { "pods:watch" }
      k8s.main(function()
        local pods = k8s.informer("po", { fields = { "spec" } })
        local name, initial = nil, {}
        pods:on_add(function(pod, ev)
          name = pod:name()
          initial[#initial + 1] = ev.initial
        end)
        pods:add_index("name", "metadata.name")
        pods:add_index("again", function(pod, emit) emit(pod:name()) end)
        local ok = pods:wait_for_sync()
        print(ok, pods:has_synced(), pods:lister():count(), pods:query():count())
        while #initial < 3 do k8s.sleep "1ms" end
        print(unpack(initial))
        local lister = pods:lister()
        print(#lister:by_index("name", name), #lister:by_index("again", name), pods:status().state)
      end)
    ]])
  end)

  it("may be made of what is declared, and nowhere that cannot wait", function()
    assert.are.equal([[
false	k8s.informer: "secrets:watch" is not declared with k8s.reads
false	k8s.informer: "configmaps:watch" is not declared with k8s.reads
false	k8s.informer: the server doesn't have a resource type "podz", did you mean "pods"?
false	k8s.informer: transform may only be given while the script is loading
false	k8s.informer: "*.example.com" is a pattern; use k8s.each_kind for all kinds of a group
false	factory:informer may only be called while the script is loading
false	informer:stop: the informer of pods was made while the script loaded, and lives as long as the script
a filter: k8s.informer may not be called in a filter
]], exec [[
      k8s.reads { "pods:watch", "podz:watch", "configmaps:list", "*.example.com:watch" }
      local pods, caches, why = k8s.informer "pods", k8s.factory(), nil
      pods:on_add(function() end, { filter = function()
        why = why or select(2, pcall(k8s.informer, "pods"))
        return false
      end })
      k8s.main(function()
        print(pcall(k8s.informer, "secrets"))
        print(pcall(k8s.informer, "configmaps"))
        print(pcall(k8s.informer, "podz"))
        print(pcall(k8s.informer, "pods", { transform = function(pod) return pod end }))
        print(pcall(k8s.informer, "*.example.com"))
        print(pcall(caches.informer, caches, "pods"))
        print(pcall(pods.stop, pods))
        print("a filter: " .. why)
      end)
    ]])
  end)

  it("says so clearly when it is used after its stop", function()
    assert.are.equal([[
true	3
informer pods
query: the informer of pods was stopped
the informer of pods was stopped
the informer of pods was stopped
the informer of pods was stopped
k8s.snapshot: the informer of pods was stopped
the informer of pods was stopped	the informer of pods was stopped
the informer of pods was stopped
3
true
]], exec [[
      k8s.reads { "pods:watch" }
      k8s.main(function()
        local pods = k8s.informer "pods"
        pods:wait_for_sync()
        local lister, query, snapshot = pods:lister(), pods:query(), k8s.snapshot(pods)
        local copies = snapshot:lister(pods)
        print(pods:has_synced(), lister:count())
        pods:stop()
        pods:stop()
        print(pods)
        local function tried(fn, ...) print((select(2, pcall(fn, ...)))) end
        tried(pods.query, pods)
        tried(lister.count, lister)
        tried(query.count, query)
        tried(pods.status, pods)
        tried(k8s.snapshot, pods)
        print(select(2, pods:wait_rv "5"), select(2, pods:wait_for_sync()))
        k8s.sleep "10ms"
        tried(lister.list_all, lister)
        print(copies:count())
        print(pcall(pods.stop, pods))
      end)
    ]])
  end)

  it("may follow namespaces by their labels, if it may read those", function()
    for _, name in ipairs { "one", "two" } do
      sim.api:create("/api/v1/namespaces", {
        apiVersion = "v1", kind = "Namespace", metadata = { name = name, labels = { team = name } },
      })
      sim.api:create("/api/v1/namespaces/" .. name .. "/configmaps", {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = "map-" .. name },
      })
    end
    local script = [[
      k8s.reads { "configmaps:watch"%s }
      k8s.main(function()
        local ok, maps = pcall(k8s.informer, "configmaps", { namespaces = { selector = "team=one" } })
        if not ok then return print(maps) end
        maps:wait_for_sync()
        for map in maps:lister():list() do print(map:name()) end
        maps:stop()
        k8s.sleep "20ms"
        local again = k8s.informer("configmaps", { namespaces = { selector = "team" } })
        again:wait_for_sync()
        print(again:lister():count())
      end)
    ]]
    assert.are.equal('k8s.informer: "namespaces:watch" is not declared with k8s.reads\n', exec(script:format ""))
    assert.are.equal("map-one\n2\n", exec(script:format ', "namespaces:watch"'))
  end)

  it("ends who waits for it", function()
    sim:forbid("pods", "no")
    assert.are.equal([[
nil	Stopped	the informer of pods was stopped
nil	Stopped	the informer of configmaps was stopped
]], exec [[
      k8s.reads { "*:watch" }
      k8s.main(function()
        local pods, maps = k8s.informer "pods", k8s.informer "configmaps"
        k8s.after("10ms", function()
          pods:stop()
          maps:stop()
        end)
        maps:wait_for_sync()
        local results = {}
        k8s.after(0, function()
          local ok, err = maps:wait_rv "99999999999999999"
          results[2] = { ok, err }
        end)
        local ok, err = pods:wait_for_sync "1h"
        print(ok, err.reason, err.message)
        while not results[2] do k8s.sleep "1ms" end
        print(results[2][1], results[2][2].reason, results[2][2].message)
      end)
    ]])
  end)

  it("ends with its last claim, and its handlers hear no more", function()
    local socket = folder .. "/admin.sock"
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "configmaps:watch", "pods:watch" }
      k8s.informer "nodes"
      local maps
      k8s.command("start", function()
        maps = k8s.informer "configmaps"
        maps:on_add(function(map) print("add " .. map:name()) end)
        return maps:wait_for_sync() and "synced"
      end)
      k8s.command("stop", function() maps:stop() end)
    ]], { "--admin-socket", socket })
    local function call(...)
      local p = cluster.kubelua { "call", "--admin-socket", socket, ... }
      assert.are.equal(0, p:wait(30), p:report())
      return p:out()
    end
    local function create(name)
      sim.api:create("/api/v1/namespaces/default/configmaps", {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" },
      })
    end
    await(function() return cluster.kubelua { "status", "--admin-socket", socket }:wait() == 0 end, "the socket", 30)
    assert.has_match("synced", call "start")
    create "one"
    engine:wait_line "^add one$"
    assert.are.equal("configmaps nodes", informers(socket))
    call "stop"
    await(function() return informers(socket) == "nodes" end, "the end of the informer", 30)
    create "two"
    assert.has_match("synced", call "start")
    engine:wait_line "^add two$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(2, select(2, engine:out():gsub("add one", "")))
    assert.are.equal(1, select(2, engine:out():gsub("add two", "")))
  end)

  it("may be stopped in its own handler, by all that runs then", function()
    assert.are.equal("1\n", exec [[
      k8s.reads { "pods:watch" }
      k8s.main(function()
        local pods, calls = k8s.informer "pods", 0
        pods:on_add(function()
          calls = calls + 1
          pods:stop()
        end)
        while calls == 0 do k8s.sleep "1ms" end
        k8s.sleep "50ms"
        print(calls)
      end)
    ]])
  end)

  it("of a kind that comes later gets its cache then", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "*.example.com:watch" }
      k8s.main(function()
        local widgets = k8s.informer "widgets.example.com"
        print(widgets:wait_for_sync(0.01))
        widgets:on_add(function(widget) print("add " .. widget:name()) end)
      end)
    ]])
    engine:wait_line "^nil%s.*widgets.example.com: unknown kind"
    crds.create(sim.api, "widgets", "example.com")
    crds.add(sim.api, "widgets", "example.com", "a")
    engine:wait_line "^add a$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("counts for the limit until its watch has ended", function()
    local function made(...)
      return exec([[
        k8s.reads { "*:watch" }
        k8s.informer "nodes"
        k8s.main(function()
          local made = 0
          for i = 1, 10 do
            local ok, why = pcall(function()
              local pods = k8s.informer("pods", { selector = "number=" .. i })
              assert(pods:wait_for_sync())
              pods:stop()
              k8s.sleep "5ms"
            end)
            if not ok then print(why) break end
            made = made + 1
          end
          print(made)
        end)
      ]], "--limit", "informers=4", ...)
    end
    assert.are.equal("k8s.informer: over the limit informers (4)\n3\n", made())
    assert.are.equal("10\n", made "--informer-grace=0")
  end)

  -- Lists and watches so far.
  local function requests()
    local stats = sim.api:get "/sim/stats"
    return ("%d %d %d"):format(stats.lists, stats.watch_lists, stats.watches)
  end

  it("starts anew after a reload, and shares the cache", function()
    local script, socket = folder .. "/a.lua", folder .. "/admin.sock"
    local text = [[
      local k8s = require "k8s"
      k8s.reads { "pods:watch" }
      k8s.after(0, function()
        local pods = k8s.informer "pods"
        pods:on_add(function(pod) print("%s add " .. pod:name()) end)
        pods:on_update(function(_, pod) print("%s update " .. pod:name()) end)
        assert(pods:wait_for_sync())
        print("%s synced")
      end)
    ]]
    temp.write(script, (text:gsub("%%s", "one")))
    local engine = cluster.run(sim.server, script, { "--admin-socket", socket })
    for _ = 1, 3 do engine:wait_line "^one add " end
    local before = requests()
    temp.write(script, (text:gsub("%%s", "two")))
    local reload = cluster.kubelua { "reload", "--admin-socket", socket }
    assert.are.equal(0, reload:wait(30), reload:report())
    for _ = 1, 3 do engine:wait_line "^two add " end
    assert.are.equal(before, requests())
    local pod = sim.api:get("/api/v1/pods").items[1].metadata
    sim.api:patch(("/api/v1/namespaces/%s/pods/%s"):format(pod.namespace, pod.name), {
      metadata = { labels = { x = "y" } },
    })
    engine:wait_line("^two update " .. pod.name:gsub("%-", "%%-"))
    assert.is_nil(engine:out():find "one update")
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
