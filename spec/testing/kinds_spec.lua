-- k8s.kinds on k8s.test: kinds of the cluster in memory, and those that come later.
local crds = require "spec.support.crds"
local load = require("spec.testing.support").load

describe("k8s.kinds", function()
  it("has the kinds of the cluster, those that come later and not those that go", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.command("kinds", function(group)
        local names = {}
        for i, kind in ipairs(assert(k8s.kinds { group = group, verb = "watch" })) do names[i] = kind.name end
        table.sort(names)
        return table.concat(names, " ")
      end)
    ]]
    assert.equal("ingressclasses.networking.k8s.io ingresses.networking.k8s.io ipaddresses.networking.k8s.io "
      .. "networkpolicies.networking.k8s.io servicecidrs.networking.k8s.io", (env:call("kinds", "networking.k8s.io")))
    assert.equal("", (env:call("kinds", "*.example.com")))
    env:add(crds.of("widgets", "example.com"))
    env:advance "6s"
    assert.equal("widgets.example.com", (env:call("kinds", "*.example.com")))
    env:delete("customresourcedefinitions", "widgets.example.com")
    env:advance "6s"
    assert.equal("", (env:call("kinds", "*.example.com")))
  end)

  it("names what is wrong with a filter", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.command("wrong", function(group) return select(2, pcall(k8s.kinds, { group = group })) end)
      k8s.command("late", function() return (pcall(k8s.kinds)) end)
      print(pcall(k8s.kinds))
    ]]
    assert.printed(env, "k8s.kinds may not be called in the load phase", true)
    assert.has_match('k8s.kinds: group "a*": the only patterns are', (env:call("wrong", "a*")), 1, true)
    assert.equal("true", (env:call "late"))
  end)
end)

describe("k8s.informer in a task", function()
  it("has a cache and handlers until it is stopped", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "*.example.com:watch" }
      local widgets
      k8s.command("start", function()
        widgets = k8s.informer "widgets.example.com"
        widgets:on_add(function(widget) print("add", widget:name()) end)
        return tostring(widgets:wait_for_sync(1))
      end)
      k8s.command("count", function() return tostring(widgets:lister():count()) end)
      k8s.command("stop", function() widgets:stop() end)
      k8s.command("late", function() return select(2, pcall(k8s.informer, "pods")) end)
    ]], { objects = { crds.of("widgets", "example.com") } })
    local function add(name)
      env:add { apiVersion = "example.com/v1", kind = "Widget", metadata = { name = name } }
      env:settle()
    end
    add "one"
    assert.equal("true", (env:call "start"))
    assert.equal("1", (env:call "count"))
    add "two"
    assert.equal("2", (env:call "count"))
    env:call "stop"
    add "three"
    assert.same({ "add\tone", "add\ttwo" }, env.prints)
    assert.has_match('k8s.informer: "pods:watch" is not declared with k8s.reads', (env:call "late"), 1, true)
    assert.equal("true", (env:call "start"))
    assert.equal("3", (env:call "count"))
  end)
end)
