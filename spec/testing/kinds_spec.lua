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

describe("k8s.each_kind", function()
  local SCRIPT = [[
    local k8s = require "k8s"
    k8s.reads { "*.example.com:watch" }
    k8s.each_kind({ group = "*.example.com", verb = "watch" }, function(kind)
      print("kind", kind.name)
      local objects = k8s.informer(kind.name)
      objects:on_add(function(object) print("add", kind.plural, object:name()) end)
      k8s.every("10s", function() print("tick", kind.plural, objects:lister():count()) end)
      objects:wait_for_sync()
    end)
  ]]

  local function object(kind, name)
    return { apiVersion = "example.com/v1", kind = kind, metadata = { name = name } }
  end

  local function printed(env)
    local lines = {}
    for i, line in ipairs(env.prints) do
      lines[i], env.prints[i] = line:gsub("\t", " "), nil
    end
    return table.concat(lines, "; ")
  end

  it("calls its function for each kind, now and later, and ends what it made when the kind goes", function()
    local env = load(SCRIPT, { objects = { crds.of("widgets", "example.com") } })
    env:add(object("Widget", "w1"))
    env:advance "1s"
    assert.equal("kind widgets.example.com; add widgets w1", printed(env))
    env:add(crds.of("gadgets", "example.com"))
    env:advance "8s"
    assert.equal("", printed(env))
    env:advance "30s"
    assert.has_match("kind gadgets.example.com", printed(env), 1, true)
    env:add(object("Gadget", "g1"))
    env:settle()
    assert.equal("add gadgets g1", printed(env))
    env:delete("gadgets.example.com", "default/g1")
    env:delete("customresourcedefinitions", "gadgets.example.com")
    env:advance "31s"
    printed(env)
    env:advance "10s"
    assert.equal("tick widgets 1", printed(env))
    env:add(crds.of("gadgets", "example.com"))
    env:advance "31s"
    assert.has_match("kind gadgets.example.com", printed(env), 1, true)
  end)

  it("ends with stop, and with all that came of it", function()
    local env = load((SCRIPT:gsub("k8s.each_kind", "local all = k8s.each_kind", 1)) .. [[
      k8s.command("stop", function() all:stop() end)
    ]], { objects = { crds.of("widgets", "example.com") } })
    env:add(object("Widget", "w1"))
    env:advance "1s"
    env:call "stop"
    env:call "stop"
    printed(env)
    env:add(object("Widget", "w2"))
    env:add(crds.of("gadgets", "example.com"))
    env:advance "2m"
    assert.equal("", printed(env))
  end)

  it("starts anew after a reload, once", function()
    local env = load(SCRIPT, { objects = { crds.of("widgets", "example.com") } })
    env:add(object("Widget", "w1"))
    env:advance "1s"
    printed(env)
    assert.is_truthy(env:reload((SCRIPT:gsub('print%("add"', 'print("ADD"'))))
    env:advance "1s"
    assert.equal("kind widgets.example.com; ADD widgets w1", printed(env))
    env:add(object("Widget", "w2"))
    env:settle()
    assert.equal("ADD widgets w2", printed(env))
    env:advance "10s"
    assert.equal("tick widgets 2", printed(env))
  end)

  it("tells of a failure, and of a kind that is not declared, and goes on with the others", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "gadgets.example.com:watch" }
      k8s.each_kind({ group = "example.com" }, function(kind)
        k8s.informer(kind.name)
        print("made", kind.name)
      end)
    ]], { objects = { crds.of("widgets", "example.com"), crds.of("gadgets", "example.com") }, failures = "collect" })
    env:advance "31s"
    assert.equal("made gadgets.example.com", printed(env))
    assert.equal(1, #env.failures)
    assert.has_match('k8s.informer: "widgets.example.com:watch" is not declared with k8s.reads',
      tostring(env.failures[1].error or env.failures[1]), 1, true)
  end)

  it("names what is wrong with its arguments", function()
    for call, message in pairs {
      ['{ group = "a*" }, print'] = 'k8s.each_kind: group "a*": the only patterns are',
      ['{ verb = "lst" }, print'] = "k8s.each_kind: verb must be create",
      ["{}, 1"] = "k8s.each_kind: expected a function, not number",
      ["{ gruop = 1 }, print"] = 'k8s.each_kind: unknown option "gruop", did you mean "group"?',
      ['{}, print, { every = "5q" }'] = 'k8s.each_kind: every must be a number of seconds, or a string',
      ["{}, print, { every = 0.001 }"] = "k8s.each_kind: every must be at least 10 ms",
      ["{}, print, { evry = 1 }"] = 'k8s.each_kind: unknown option "evry", did you mean "every"?',
    } do
      local ok, why = pcall(load, 'require("k8s").each_kind(' .. call .. ")")
      assert.is_false(ok)
      assert.has_match(message, tostring(why), 1, true)
    end
  end)
end)
