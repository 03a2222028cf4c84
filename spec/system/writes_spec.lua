-- Writes in the whole binary, on a server that is busy or goes away too. What sim does not have (server-side
-- apply, dry runs) is in spec/real/writes_spec.lua.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local writes = require "spec.support.writes"

local configmaps = writes.configmaps
local odds = "/apis/example.com/v1/namespaces/default/odds"

describe("writes #threads", function()
  local sim

  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  local function start(...) return writes.start("--server=" .. sim.server, ...) end
  local function run(...) return writes.run("--server=" .. sim.server, ...) end

  local function create(name, n)
    local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name }, data = { n = n } }
    sim.api:create(configmaps, map)
  end

  local function fault(step)
    step["do"], step.resource = "fault", "configmaps"
    sim:play(step)
  end

  writes.specify(it, run)

  it("keep what Lua has no numbers and tables for", function()
    local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    sim.api:create(crds, { metadata = { name = "odds.example.com" },
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      spec = { group = "example.com", scope = "Namespaced", names = { kind = "Odd", plural = "odds" }, versions = { {
        name = "v1", served = true, storage = true,
        schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } } } } } })
    sim.api:create(odds, [[{"apiVersion":"example.com/v1","kind":"Odd","metadata":{"name":"odd"},
      "data":{},"list":[],"deep":{"none":null,"list":[[],{}]},"long":9007199254740993,"least":-9223372036854775808,
      "half":0.5,"text":"\u0001\"é"}]])
    local before = sim.api:get(odds .. "/odd")
    run [[
      local odd = k8s.get("odds.example.com", "default/odd")
      local changed = odd:copy()
      changed.metadata.labels = { round = "1" }
      local updated = assert(k8s.update(changed))
      local back = updated:copy()
      back.metadata.labels, back.metadata.resourceVersion = nil, odd:resource_version()
      back.metadata.managedFields = odd:copy().metadata.managedFields
      back.metadata.managedFields = odd:copy().metadata.managedFields
      assert(k8s.json.encode(back) == k8s.json.encode(odd:copy()), k8s.json.encode(back))
      assert(k8s.create(k8s.json.decode(k8s.json.encode(map "even"))))
    ]]
    local _, text = sim.api:curl("GET", odds .. "/odd")
    for _, part in ipairs { '"data":{}', '"list":[]', '"none":null', '[[],{}]', "9007199254740993",
      "-9223372036854775808", "0.5", [["\u0001\"é"]] } do
      assert.is_truthy(text:find(part, 1, true), part .. " is not in " .. text)
    end
    assert.are.equal(before.metadata.uid, sim.api:get(odds .. "/odd").metadata.uid)
  end)

  it("reach subresources, and no others by mistake", function()
    sim.api:create("/api/v1/namespaces/default/pods", {
      apiVersion = "v1", kind = "Pod", metadata = { name = "web" },
      spec = { containers = { { name = "c", image = "i" } } },
    })
    local out = run [[
      local pod = k8s.get("pods", "default/web")
      local patch = { status = { message = "hello" }, metadata = { labels = { a = "b" } } }
      print(k8s.patch(pod, patch, { subresource = "status" }).status.message)
      local pod = k8s.patch(pod, { status = { message = "no" }, metadata = { labels = { a = "c" } } })
      print(pod.status.message, pod.metadata.labels.a)
      raises(k8s.update, pod, { subresource = "status" })
    ]]
    assert.are.equal('hello\nhello\tc\nfalse\tk8s.update: "pods/status:update" is not declared with k8s.writes\n', out)
  end)

  it("take deletes' options", function()
    local out = run [[
      local a = k8s.create(map("a"))
      k8s.patch(a, { metadata = { finalizers = { "wood.example/keep" } } })
      print(k8s.delete(a, { propagation = "Foreground", grace_period = "5s" }):get "metadata.deletionTimestamp" ~= nil)
    ]]
    assert.are.equal("true\n", out)
  end)

  it("whose kind the server does not serve are reported at the start, once", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "confgmaps:patch", "po/status:patch", "widgets.example.com:create", "*:delete" }
      k8s.informer "gadgets.example.com" -- discovery is asked again and again
      k8s.after("1500ms", function() print "later" end)
    ]])
    engine:wait_line "^later$"
    local err = engine:err()
    assert.has_match('"Declared write uses an unknown kind" script="[^"]+" write="confgmaps:patch" '
      .. 'err="[^\n]*did you mean \\"configmaps\\"', err)
    assert.has_match('write="widgets.example.com:create"', err, 1, true)
    assert.are.equal(2, select(2, err:gsub("Declared write", "")))
  end)

  it("that are not declared raise, before anything is sent", function()
    local before = sim.api:get("/sim/stats").requests
    local out = run [[
      raises(k8s.create, { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "default" } })
      raises(k8s.delete, { kind = "no", name = "n1" })
      raises(k8s.delete, { kind = "deploy", namespace = "default", name = "x" }, { propagation = "some" })
    ]]
    assert.are.equal('false\tk8s.create: "secrets:create" is not declared with k8s.writes\n' ..
      'false\tk8s.delete: "no:delete" is not declared with k8s.writes\n' ..
      'false\tk8s.delete: propagation must be "background", "foreground" or "orphan", not "some"\n', out)
    local after = sim.api:get("/sim/stats").requests
    assert.is_true(after - before <= 6, "discovery alone asks: " .. after - before)
  end)

  it("that are the last call of a function are named with its file and line", function()
    create("one", "1")
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:patch" }
      k8s.informer("configmaps"):on_add(function(map)
        return k8s.patch(map, { data = { n = "2" } }, { no = true })
      end)
    ]]
    local engine = cluster.run(sim.server, script)
    local file = engine:wait_error 'Handler failed".-err="([^"]-): k8s.patch: unknown option'
    assert.has_match("^/.*%.lua:4$", file)
  end)

  it("refuse arguments that are none", function()
    local out = run [[
      raises(k8s.create, "x")
      raises(k8s.create, { kind = "Pod" })
      raises(k8s.create, map("a", { f = print }))
      raises(k8s.create, map("a", { n = 0 / 0 }))
      raises(k8s.create, { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a" } })
      raises(k8s.patch, { kind = "cm", namespace = "default" }, {})
      raises(k8s.patch, { kind = "cm", namespase = "default", name = "a" }, {})
      raises(k8s.patch, map "a", {}, { type = "mrege" })
      raises(k8s.patch, map "a", "{}")
      raises(k8s.patch, map "a", {}, { lock = true })
      raises(k8s.patch, map "a", {}, { locked = true })
      raises(k8s.update, map "a", { timeout = 0 })
      raises(k8s.update, map "a\0b")
      raises(k8s.delete, map "a", { grace_period = "1500ms" })
      raises(k8s.create, map("a", { text = ("x"):rep(3 * 1024 * 1024) }))
      raises(k8s.retry_on_conflict, 1)
      failed(k8s.delete(map ".."))
      failed(k8s.create { apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "..", name = "a" } })
      raises(k8s.patch, map "a", {}, { manager = ("m"):rep(4 * 1024 * 1024) })
    ]]
    assert.are.equal([[
false	k8s.create: expected an object as a table or a view, not a string
false	k8s.create: the object has no apiVersion and kind
false	k8s.create: cannot encode a function
false	k8s.create: nan is not a JSON number
false	k8s.create: configmaps "a" are namespaced; missing namespace
false	k8s.patch: a reference needs kind and name
false	k8s.patch: unknown option "namespase", did you mean "namespace"?
false	k8s.patch: type must be "merge", "json" or "strategic", not "mrege"
false	k8s.patch: the patch must be a table, not a string
false	k8s.patch: lock needs an object with metadata.resourceVersion
false	k8s.patch: unknown option "locked", did you mean "lock"?
false	k8s.update: timeout must be greater than 0
false	k8s.update: name must not contain a NUL byte
false	k8s.delete: grace_period must be whole seconds
false	k8s.create: JSON exceeds 3 MiB
false	k8s.retry_on_conflict: expected a function, not number
nil	nil	Invalid	configmaps: a name may not be '..'
nil	nil	Invalid	namespace: a name may not be '..'
false	k8s.patch: manager is longer than the limit of 128 bytes
]], out)
  end)

  -- H-3, H-4: sent again when the server asks for it, and never when nobody knows what became of it.
  it("wait for a busy server, and are not sent twice", function()
    fault { verb = "create", what = "status", code = 429, reason = "TooManyRequests", retry_after = 1, times = 2 }
    local before = proc.now()
    assert.are.equal("a\n", run [[print(k8s.create(map "a"):name())]])
    assert.is_true(proc.now() - before >= 2)
    fault { verb = "update", what = "status", code = 500, reason = "InternalError", message = "no" }
    fault { verb = "patch", what = "close" }
    fault { verb = "delete", what = "close" }
    local out = run [[
      local a = k8s.get("cm", "default/a")
      failed(k8s.update(a))
      print(select(2, k8s.patch(a, {})).reason)
      print(select(2, k8s.delete(a)).reason)
    ]]
    assert.has_match("^nil\t500\tInternalError\tno\nConnection%a+\nConnection%a+\n$", out)
    assert.are.equal("a", sim.api:get(configmaps .. "/a").metadata.name)
  end)

  it("fail with the causes that the server names", function()
    local out = run [[
      local _, err = k8s.create { apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
        metadata = { name = "widgets.example.com" },
        spec = { scope = "Namespaced", names = { kind = "Widget", plural = "widgets" },
          versions = { { name = "v1", served = true, storage = true } } } }
      print(err.code, err.reason)
      for _, cause in ipairs(err.causes) do
        if cause.field == "spec.group" then print(cause.reason, cause.field) end
      end
      local _, missing = k8s.delete(map "none")
      print(missing.reason, missing.causes)
    ]]
    assert.are.equal("422\tInvalid\nFieldValueRequired\tspec.group\nNotFound\tnil\n", out)
  end)

  it("end after their timeout", function()
    fault { verb = "create", what = "delay", ["for"] = "60s" }
    local out = run [[
      local begun = k8s.now()
      local _, err = k8s.create(map "a", { timeout = "300ms" })
      print(err.reason, k8s.now() - begun < 10)
    ]]
    assert.are.equal("Timeout\ttrue\n", out)
  end)

  it("are tried again when they meet another writer", function()
    create("n", "0")
    local body = [[
      for _ = 1, 30 do
        assert(k8s.retry_on_conflict(function()
          while true do
            local object = k8s.get("cm", "default/n"):copy()
            object.data.n = tostring(object.data.n + 1)
            local updated, err = k8s.update(object)
            if updated or err.reason ~= "Conflict" then return updated, err end
            print "conflict"
          end
        end))
      end
    ]]
    local both = { start(body), start(body) }
    for _, engine in ipairs(both) do assert.are.equal(0, engine:wait(60), engine:err()) end
    assert.are.equal("60", sim.api:get(configmaps .. "/n").data.n)
    local out = run [[
      local calls = 0
      failed(k8s.retry_on_conflict(function()
        calls = calls + 1
        local old = k8s.get("cm", "default/n"):copy()
        old.metadata.resourceVersion = "1"
        return k8s.update(old)
      end))
      print(calls)
      local function conflict() calls = calls + 1 error { reason = "Conflict" } end
      print(select(2, pcall(k8s.retry_on_conflict, conflict)).reason)
      print(calls)
      failed(k8s.retry_on_conflict(function() calls = calls + 1 return k8s.delete(map "none") end))
      raises(k8s.retry_on_conflict, function() error "mine" end)
      print(calls, k8s.retry_on_conflict(function() return 1, 2, 3 end))
    ]]
    assert.has_match("Conflict\t[^\n]+\n5\nConflict\n10\nnil\t404\tNotFound\t[^\n]+\nfalse\tmine\n11\t1\t2\t3\n$", out)
  end)

  it("are reported and not sent with --dry-run=client", function()
    create("kept", "1")
    local script = cluster.script(writes.prelude .. [[
      k8s.writes { "secrets:*" }
      k8s.main(function()
        local kept = k8s.get("cm", "default/kept")
        print(k8s.create(map("new", { n = "1" })):key(), k8s.patch(kept, { data = { n = "2" } }).data.n)
        local patched = k8s.patch({ kind = "cm", namespace = "default", name = "x" }, {})
        print(patched.kind, patched:key(), patched.data)
        local changed = kept:copy()
        changed.data.n = "3"
        print(k8s.update(changed, { dry_run = true }).data.n)
        print(k8s.apply(kept, { data = { m = "4" } }).data.m, k8s.delete(kept))
        local secret = { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "default" } }
        secret.stringData = { password = "hunter2" }
        print(k8s.create(secret).kind)
        raises(k8s.delete, { kind = "nodes", name = "n" })
      end)
    ]])
    local engine = cluster.kubelua { "exec", "--server=" .. sim.server, script, "--dry-run=client" }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("default/new\t1\nConfigMap\tdefault/x\tnil\n3\n4\ttrue\nSecret\nfalse\t" ..
      'k8s.delete: "nodes:delete" is not declared with k8s.writes\n', engine:out())
    assert.are.equal("1", sim.api:get(configmaps .. "/kept").data.n)
    local log = engine:err()
    assert.has_match('"Not sent because of %-%-dry%-run=client" script="[^"]+" verb="create" resource="configmaps" ' ..
      'object="default/new" type="application/json" body="{[^\n]*\\"n\\":\\"1\\"', log)
    assert.has_match('verb="patch" resource="configmaps" object="default/kept" type="application/merge%-patch', log)
    assert.has_match('verb="delete" resource="configmaps" object="default/kept"', log)
    assert.has_match('resource="secrets" object="default/s" type="application/json" body="%(not shown%)"', log)
    assert.is_nil(log:find "hunter2")
  end)

  it("report a kind that the server does not have", function()
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "trees.wood.example:create" }
      k8s.main(function()
        local tree = { apiVersion = "wood.example/v1", kind = "Tree", metadata = { name = "oak" } }
        local object, err = k8s.create(tree)
        print(object, err.code, err.reason)
      end)
    ]]
    local engine = cluster.kubelua { "exec", "--server=" .. sim.server, script }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("nil\t404\tNotFound\n", engine:out())
  end)

  it("may not be called where nothing may wait", function()
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:create" }
      k8s.create { apiVersion = "v1", kind = "ConfigMap" }
    ]]
    local engine = cluster.kubelua { "exec", "--server=" .. sim.server, script }
    assert.are.equal(2, engine:wait(30))
    assert.has_match("k8s.create may not be called in the load phase", engine:err())
  end)

  it("under way at a stop come to their end", function()
    fault { verb = "create", what = "delay", ["for"] = "2s" }
    local script = cluster.script(writes.prelude .. [[
      k8s.main(function()
        print "sent"
        print(k8s.create(map "late"):name())
      end)
    ]])
    local engine = cluster.kubelua { "run", "--server=" .. sim.server, "-f", script }
    engine:wait_line "^sent$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal("sent\nlate\n", engine:out())
  end)
end)
