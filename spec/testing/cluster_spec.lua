-- k8s.test: the cluster in memory, the clock that stands still, and what specs see of a script.
local k8s = require "k8s"
local test = require "k8s.test"
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local TELLS = [[
  local k8s = require "k8s"
  k8s.informer("pods"):add_event_handler {
    OnAdd = function(pod, ev) print("add", pod:key(), ev.initial) end,
    OnUpdate = function(old, new) print("update", new:key(), old:label "app", new:label "app") end,
    OnDelete = function(pod) print("delete", pod:key()) end,
  }
]]

describe("the cluster of a test", function()
  it("shows a script what is there, what comes, changes and goes", function()
    local env = load(TELLS, { objects = { pod("a") } })
    assert.same({ "add\tshop/a\ttrue" }, env.prints)
    env:add(pod("b", { app = "x" }))
    env:update(pod("b", { app = "y" }))
    env:patch("pods", "shop/b", { metadata = { labels = { app = "z" } } })
    env:delete("pods", "shop/a")
    assert.same({
      "add\tshop/a\ttrue", "add\tshop/b\tfalse", "update\tshop/b\tx\ty", "update\tshop/b\ty\tz", "delete\tshop/a",
    }, env.prints)
  end)

  it("has namespaces that a script follows by their labels", function()
    local function namespace(name, team)
      return { kind = "Namespace", metadata = { name = name, labels = { team = team } } }
    end
    local env = load([[
      local k8s = require "k8s"
      local pods = k8s.informer("pods", { namespaces = { selector = "team=shop" } })
      pods:on_add(function(pod) print("add", pod:key()) end)
      pods:on_delete(function(pod) print("delete", pod:key()) end)
    ]], { objects = { namespace("shop", "shop"), namespace("pay", "pay"), pod("a") } })
    env:add { kind = "Pod", metadata = { namespace = "pay", name = "b" }, spec = { containers = {} } }
    assert.same({ "add\tshop/a" }, env.prints)
    env:patch("namespaces", "pay", { metadata = { labels = { team = "shop" } } })
    assert.same({ "add\tshop/a", "add\tpay/b" }, env.prints)
    env:patch("namespaces", "shop", { metadata = { labels = { team = "pay" } } })
    assert.same({ "add\tshop/a", "add\tpay/b", "delete\tshop/a" }, env.prints)
  end)

  it("stores objects as they are given, with what every object has", function()
    local env = test.new { now = "2026-03-01T12:00:00Z" }
    local stored = env:add {
      kind = "pods", metadata = { name = "a", annotations = { ["x"] = "1" } }, status = { phase = "Running" },
    }
    assert.equal("Pod", stored.kind)
    assert.equal("v1", stored.apiVersion)
    assert.equal("default", stored.metadata.namespace)
    assert.equal("2026-03-01T12:00:00Z", stored.metadata.creationTimestamp)
    assert.equal("Running", stored.status.phase)
    local changed = env:update { kind = "Pod", metadata = { name = "a" }, status = { phase = "Failed" } }
    assert.equal(stored.metadata.uid, changed.metadata.uid)
    assert.equal(stored.metadata.creationTimestamp, changed.metadata.creationTimestamp)
    assert.is_true(changed.metadata.resourceVersion > stored.metadata.resourceVersion)
    assert.is_nil(changed.metadata.annotations)
    assert.same(changed, env:get("po", "default/a"))
    changed = env:patch(changed, { status = { phase = k8s.null, reason = "Evicted" } })
    assert.same({ reason = "Evicted" }, changed.status)
  end)

  it("takes kinds as kubectl does, with and without a namespace", function()
    local env = test.new()
    env:add { apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "shop", name = "web" } }
    env:add { kind = "Node", metadata = { name = "n1" } }
    assert.equal("web", env:get("deploy", "shop/web").metadata.name)
    assert.equal("n1", env:get("nodes", "n1").metadata.name)
    assert.equal("shop", env:get("ns", "shop").metadata.name)
    local none, problem = env:get("deployments.apps", "shop/x")
    assert.is_nil(none)
    assert.equal('deployments.apps "x" not found', problem)
  end)

  it("raises where the spec is wrong", function()
    local env = test.new { objects = { pod "a" } }
    local function wrong(message, fn)
      local ok, raised = pcall(fn)
      assert.is_false(ok)
      assert.has_match("spec/testing/cluster_spec.lua:%d+: ", raised)
      assert.equal(message, raised:match ": (.*)$")
    end
    wrong("env:add: pods shop/a already exists; use env:update to change it", function() env:add(pod "a") end)
    wrong('env:update: pods "b" not found', function() env:update(pod "b") end)
    wrong('env:delete: pods "b" not found', function() env:delete("pods", "shop/b") end)
    wrong("env:add: the object has no kind", function() env:add { metadata = { name = "a" } } end)
    wrong("env:add: expected an object, a table with kind and metadata", function() env:add "pods" end)
    wrong('test.new: unknown option "objcts", did you mean "objects"?', function() test.new { objcts = {} } end)
    local _, raised = pcall(env.get, env, "pdos", "a/b")
    assert.has_match('resource type "pdos", did you mean "pods"?', raised, 1, true)
    env:close()
    wrong("this test environment is closed", function() env:settle() end)
  end)

  it("raises what is wrong with the script, with its place", function()
    local function problem(text)
      local ok, raised = pcall(load, text)
      assert.is_false(ok)
      return raised
    end
    assert.has_match("script.lua:2: ", problem "local x =\nlocal", 1, true)
    assert.has_match("script.lua:1: boom", problem "error 'boom'", 1, true)
    assert.has_match('script.lua:2: the server doesn\'t have a resource type "pdos", did you mean "pods"?',
      problem "\nrequire('k8s').informer 'pdos'", 1, true)
    assert.has_match("no file .*nothing.lua", select(2, pcall(test.load, "nothing.lua")))
  end)

  it("raises when a handler fails, or keeps it for the spec", function()
    local text = [[
      require("k8s").informer("pods"):on_add(function(pod) error("no " .. pod:key()) end)
    ]]
    local env = load(text)
    env:add(pod "a")
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("lua:1: no shop/a", raised, 1, true)
    assert.has_match("handler .*OnAdd shop/a", raised)
    env = load(text, { failures = "collect" })
    env:add(pod "a")
    assert.equal(1, #env.failures)
    assert.equal("handler", env.failures[1].call)
  end)
end)

describe("the clock of a test", function()
  it("stands still until it is moved, and fires each timer at its time", function()
    local env = load [[
      local k8s = require "k8s"
      local begin = k8s.now()
      local function tell(what) print(what, k8s.now() - begin) end
      k8s.every("20s", function() tell "tick" end)
      k8s.after("30s", function() tell "once" k8s.sleep "15s" tell "slept" end)
    ]]
    assert.same({}, env.prints)
    env:advance "19s"
    assert.same({}, env.prints)
    env:advance "41s"
    assert.same({ "tick\t20", "once\t30", "tick\t40", "slept\t45", "tick\t60" }, env.prints)
    assert.equal(1767225600 + 60, env:now())
  end)

  it("reports when a script does not settle", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.writes { "pods:patch" }
      k8s.informer("pods"):on_update(function(_, pod)
        k8s.patch(pod, { metadata = { labels = { n = tostring((pod:label "n" or 0) + 1) } } })
      end)
    ]], { limits = { writes = 1000000 } })
    env:add(pod "a")
    env:settle()
    env:patch("pods", "shop/a", { metadata = { labels = { n = "0" } } })
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("the script does not settle", raised, 1, true)
  end)
end)

describe("server-side apply", function()
  it("conflicts with other managers, as in a cluster", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:*" }
      local ref = { kind = "configmaps", namespace = "shop", name = "a" }
      k8s.informer("configmaps"):on_add(function()
        local _, err = k8s.apply(ref, { data = { x = "2" } }, { manager = "m" })
        print(err.reason, err.message)
        assert(k8s.apply(ref, { data = { x = "2", y = "1" } }, { manager = "m", force = true }))
        assert(k8s.apply(ref, { data = { x = "2" } }, { manager = "m" }))
      end)
    ]]
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "a" }, data = { x = "1", z = "1" } }
    env:settle()
    assert.match("^Conflict\t.*conflict with \"before%-first%-apply\" using v1: %.data%.x", env.prints[1])
    local object = env:get("cm", "shop/a")
    assert.same({ x = "2", z = "1" }, object.data)
    assert.equal("m", object.metadata.managedFields[1].manager)
  end)
end)

describe("writes of a script", function()
  local WRITES = [[
    local k8s = require "k8s"
    k8s.writes { "*:*" }
    k8s.reads { "pods:get" }
    k8s.informer("configmaps"):on_add(function(cm)
      local pod = assert(k8s.create { apiVersion = "v1", kind = "Pod", metadata = { namespace = "shop", name = "made" },
        spec = { containers = { { name = "c", image = "i" } } } })
      assert(k8s.patch(pod, { metadata = { labels = { a = "1" } } }))
      assert(k8s.patch(pod, { status = { phase = "Running" } }, { subresource = "status" }))
      local now = assert(k8s.get("pods", "shop/made"))
      print(now:label "a", now.status.phase)
      local old, err = k8s.patch(pod, { metadata = { labels = { a = "2" } } }, { lock = true })
      print(old, err.reason)
      assert(k8s.apply({ kind = "configmaps", namespace = "shop", name = "applied" },
        { apiVersion = "v1", kind = "ConfigMap", data = { a = "b" } }, { manager = "m" }))
      assert(k8s.delete(now))
      k8s.event(cm, "Normal", "Done", "all %d", 5)
    end)
  ]]

  it("are in order, with their bodies and results, and change the cluster", function()
    local env = load(WRITES)
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "go" } }
    env:settle()
    assert.same({ "1\tRunning", "nil\tConflict" }, { env.prints[1], env.prints[2] })
    local seen = {}
    for i, write in ipairs(env.writes) do
      seen[i] = table.concat({ write.verb, write.resource, write.subresource or "-", write.key, write.code }, " ")
      if i == 7 then break end
    end
    assert.same({
      "create pods - shop/made 201", "patch pods - shop/made 200", "patch pods status shop/made 200",
      "patch pods - shop/made 409", "apply configmaps - shop/applied 201", "delete pods - shop/made 200",
      "create pods - shop/made 201",
    }, seen)
    assert.equal("Conflict", env.writes[4].err.reason)
    assert.same({ metadata = { labels = { a = "1" } } }, env.writes[2].body)
    assert.equal("b", env:get("cm", "shop/applied").data.a)
  end)

  it("may be strategic, which merges lists by their keys", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.writes { "pods:patch" }
      k8s.informer("pods"):on_add(function(pod)
        assert(k8s.patch(pod, { spec = { containers = { { name = "b", image = "new" } } } }, { type = "strategic" }))
      end)
    ]]
    env:add {
      kind = "Pod", metadata = { name = "web" },
      spec = { containers = { { name = "a", image = "1" }, { name = "b", image = "1" } } },
    }
    local containers = env:get("pods", "default/web").spec.containers
    assert.same({ "1", "new" }, { containers[1].image, containers[2].image })
    assert.wrote(env, { verb = "patch", type = "strategic" })
  end)

  it("are asserted by what is wanted of them, Events and lines of the log too", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.writes { "pods:patch" }
      k8s.informer("pods"):on_add(function(pod)
        k8s.patch(pod, { metadata = { annotations = { seen = "yes" } } })
        k8s.event(pod, "Warning", "Seen", "pod %s", pod:key())
        k8s.log.warn("Seen", { pod = pod:key() })
        print("seen " .. pod:key())
      end)
    ]]
    assert.not_wrote(env)
    env:add(pod "a")
    assert.wrote(env, { verb = "patch", kind = "Pod", name = "a" })
    assert.wrote(env, { kind = "po", key = "shop/a", body = { metadata = { annotations = { seen = "yes" } } } })
    assert.not_wrote(env, { verb = "patch", name = "b" })
    assert.not_wrote(env, { body = { metadata = { annotations = { seen = "no" } } } })
    assert.sent_event(env, { type = "Warning", reason = "Seen", message = "pod shop/a", key = "shop/a" })
    assert.not_sent_event(env, { reason = "Other" })
    assert.logged(env, { level = "warn", message = "Seen", fields = { pod = "shop/a" } })
    assert.logged(env, "Seen")
    assert.printed(env, "seen shop/a")
    assert.not_printed(env, "seen")
    assert.printed(env, "^seen", true)
    env:reset()
    assert.same({ {}, {}, {} }, { env.writes, env.prints, env.logs })
  end)

  it("are not asserted by fields that they do not have, nor are other records", function()
    local env = load [[local k8s = require "k8s" k8s.informer "pods"]]
    for name, wanted in pairs {
      wrote = { verbs = "patch" },
      sent_event = { reasn = "Seen" },
      requested = { urls = "http://a/" },
      logged = { mesage = "x" },
    } do
      local field = next(wanted)
      local message = ('assert.%s: unknown field "%s", did you mean '):format(name, field)
      for _, verb in ipairs { name, "not_" .. name } do
        local ok, err = pcall(assert[verb], env, wanted)
        assert.is_false(ok)
        assert.has_match(message, tostring(err), 1, true)
      end
    end
  end)

  it("show what was done when an assertion fails, and what happened before", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(function(pod) print("hello " .. pod:key()) end)
    ]]
    env:add(pod "a")
    local ok, raised = pcall(assert.printed, env, "hello")
    assert.is_false(ok)
    assert.equal("Expected a line:\n  hello\nIt printed:\n  hello shop/a", tostring(raised.message or raised))
  end)
end)

describe("leadership in a test", function()
  it("is the script's, until it is taken away", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.leader { lease = "default/x" }
      k8s.on_leader(function() print "leads" end, function() print "lost" end)
      k8s.informer("pods"):on_add(function(pod) print(pod:key()) end, { leader = true })
    ]]
    env:add(pod "a")
    assert.same({ "leads", "shop/a" }, env.prints)
    env:lead(false)
    env:add(pod "b")
    assert.same({ "leads", "shop/a", "lost" }, env.prints)
    env:lead(true)
    assert.same({ "leads", "shop/a", "lost", "leads", "shop/a", "shop/b" }, env.prints)
  end)
end)

describe("k8s.main in a test", function()
  it("runs once the script is synced, and its result is known", function()
    local env = load([[
      local k8s = require "k8s"
      local pods = k8s.informer("pods"):lister()
      k8s.main(function() k8s.sleep "5s" print(pods:count()) return 7 end)
    ]], { objects = { pod "a", pod "b" } })
    assert.is_nil(env.main)
    env:advance "5s"
    assert.same({ "2" }, env.prints)
    assert.equal(7, env.main.code)
  end)
end)
