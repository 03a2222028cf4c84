-- k8s.cluster on k8s.test: informers, reads and writes of clusters beside the home cluster, and env:cluster.
local crds = require "spec.support.crds"
local load, pod = require("spec.testing.support").load, require("spec.testing.support").pod

local function config_map(name, data)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "shop", name = name }, data = data }
end

describe("k8s.cluster", function()
  it("has informers and listers of its own", function()
    local env = load([[
      local k8s = require "k8s"
      local all = { home = k8s.informer "pods" }
      for _, name in ipairs { "west", "east" } do all[name] = k8s.cluster(name):informer "pods" end
      for name, pods in pairs(all) do pods:on_add(function(pod) print(name, pod:name()) end) end
      k8s.command("counts", function()
        local function count(name) return all[name]:lister():count() end
        return string.format("%d %d %d", count "home", count "west", count "east")
      end)
      k8s.command("joined", function() return tostring(k8s.snapshot(all.west, all.east) ~= nil) end)
    ]], { clusters = { "west", "east" }, objects = { pod "a" } })
    env:cluster("west"):add(pod "b")
    env:cluster("west"):add(pod "c")
    env:cluster("east"):add(pod "b")
    env:settle()
    assert.equal("1 2 1", (env:call "counts"))
    table.sort(env.prints)
    assert.same({ "east\tb", "home\ta", "west\tb", "west\tc" }, env.prints)
    env:cluster("west"):delete("pods", "shop/b")
    env:settle()
    assert.equal("1 1 1", (env:call "counts"))
    assert.equal("true", (env:call "joined"))
  end)

  it("reads and writes where it is", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "configmaps:get", "configmaps:list" }
      k8s.writes { "configmaps:*" }
      k8s.command("go", function()
        local west = k8s.cluster "west"
        local map = assert(west:get("configmaps", "shop/a"))
        assert(west:patch(map, { data = { seen = map.data.of } }))
        assert(west:create {
          apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "shop", name = "made" } })
        assert(west:apply({ kind = "configmaps", namespace = "shop", name = "applied" }, { data = { a = "b" } }))
        assert(west:ensure {
          apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "shop", name = "ensured" } })
        assert(west:delete { kind = "configmaps", namespace = "shop", name = "ensured" })
        local names = {}
        for i, one in ipairs(assert(west:list("configmaps", { namespace = "shop" }))) do names[i] = one:name() end
        table.sort(names)
        local _, err = k8s.get("configmaps", "shop/made")
        return table.concat(names, " ") .. " " .. err.reason
      end)
    ]], { clusters = { "west" }, objects = { config_map("a", { of = "home" }) } })
    env:cluster("west"):add(config_map("a", { of = "west" }))
    assert.equal("a applied made NotFound", (env:call "go"))
    assert.equal("west", env:cluster("west"):get("configmaps", "shop/a").data.seen)
    assert.is_nil(env:get("configmaps", "shop/a").data.seen)
    for _, write in ipairs(env.writes) do assert.equal("west", write.cluster) end
    assert.equal(5, #env.writes)
  end)

  it("is left by a function that raises, and by one that waits", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "configmaps:get" }
      k8s.command("go", function()
        local west = k8s.cluster "west"
        local ok, problem = pcall(west.get, west, "configmaps", "too/many/parts")
        local before = assert(k8s.get("configmaps", "shop/a")).data.of
        local other
        k8s.after(0, function() other = assert(k8s.get("configmaps", "shop/a")).data.of end)
        local there = assert(west:get("configmaps", "shop/a")).data.of
        k8s.sleep(1)
        return table.concat({ tostring(ok), before, there, other, problem }, " ")
      end)
    ]], { clusters = { "west" }, objects = { config_map("a", { of = "home" }) } })
    env:cluster("west"):add(config_map("a", { of = "west" }))
    local result = env:call "go"
    assert.has_match("false home west home .*k8s.get: unexpected key format", result)
  end)

  it("has its own kinds, faults and Events", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "pods:get" }
      local west = k8s.cluster "west"
      local widgets = west:informer "widgets.example.com"
      widgets:on_add(function(widget) west:event(widget, "Normal", "Seen", "there") end)
      k8s.command("kinds", function()
        return #assert(west:kinds { group = "example.com" }) .. " " .. #assert(k8s.kinds { group = "example.com" })
      end)
      k8s.command("get", function()
        local _, err = west:get("pods", "shop/a")
        return err.reason .. " " .. tostring(assert(k8s.get("pods", "shop/a")):name())
      end)
    ]], { clusters = { "west" }, objects = { pod "a" } })
    local west = env:cluster "west"
    west:add(crds.of("widgets", "example.com"))
    env:advance "70s"
    west:add { apiVersion = "example.com/v1", kind = "Widget", metadata = { name = "w" } }
    env:advance "2s"
    assert.equal("1 0", (env:call "kinds"))
    assert.equal("Seen", env.events[1].reason)
    assert.equal(0, #env:list "events")
    assert.equal(1, #west:list "events")
    west:add(pod "a")
    west:fault { verb = "get", kind = "pods", code = 403 }
    assert.equal("Forbidden a", (env:call "get"))
  end)

  it("is one value for each name, and raises for a name that is none", function()
    local env = load([[
      local k8s = require "k8s"
      print(pcall(k8s.cluster, "weest"))
      print(pcall(k8s.cluster))
      print(tostring(k8s.cluster "west" == k8s.cluster "west"), k8s.cluster("west").name)
      print(pcall(k8s.cluster("west").informer, "pods"))
      print(pcall(function() return k8s.cluster("west").informr end))
    ]], { clusters = { "west" } })
    local text = table.concat(env.prints, "\n")
    assert.has_match('k8s.cluster: unknown cluster "weest"; there are home, west', text, 1, true)
    assert.has_match("k8s.cluster: the name must be a string, not nil", text, 1, true)
    assert.has_match("true\twest", text, 1, true)
    assert.has_match("cluster:informer: methods are called with ':'", text, 1, true)
    assert.has_match('cluster: unknown method "informr", did you mean "informer"?', text, 1, true)
  end)
end)

describe("env:cluster", function()
  it("names what does not exist", function()
    local env = load([[require "k8s"]], { clusters = { "west" } })
    local ok, problem = pcall(env.cluster, env, "east")
    assert.is_false(ok)
    assert.has_match('env:cluster: unknown cluster "east"', problem, 1, true)
    ok, problem = pcall(function() return env:cluster("west").advance end)
    assert.is_false(ok)
    assert.has_match('env:cluster: unknown method "advance"', problem, 1, true)
  end)
end)
