-- k8s.test: what goes wrong in the cluster of a test.
local test = require "k8s.test"
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local LABELS = [[
  local k8s = require "k8s"
  k8s.writes { "pods:patch" }
  k8s.informer("pods"):on_add(function(pod)
    local done, err = k8s.patch(pod, { metadata = { labels = { seen = "yes" } } })
    print(done and "done" or err.code .. " " .. err.reason, err and err.retry_after or "")
  end)
]]

describe("faults", function()
  it("fail a write with an error, as often as they say", function()
    local env = load(LABELS)
    env:fault { verb = "patch", kind = "pods", code = 409 }
    env:fault { verb = "patch", kind = "pods", code = 403, reason = "Forbidden", message = "no", name = "c" }
    env:add(pod "a")
    env:add(pod "b")
    env:add(pod "c")
    assert.same({ "409 Conflict\t", "done\t", "403 Forbidden\t" }, env.prints)
    assert.equal("no", env.writes[3].err.message)
    assert.is_nil(env:get("pods", "shop/a").metadata.labels)
  end)

  it("leave the first ones alone, and go on until they are cleared", function()
    local env = load(LABELS)
    env:fault { verb = "patch", code = 500, skip = 1, times = 0 }
    for _, name in ipairs { "a", "b", "c" } do env:add(pod(name)) end
    assert.same({ "done\t", "500 InternalError\t", "500 InternalError\t" }, env.prints)
    env:clear_faults()
    env:add(pod "d")
    assert.equal("done\t", env.prints[4])
  end)

  it("have a busy server tried again after the time that it sets", function()
    local env = load(LABELS)
    env:fault { verb = "patch", code = 429, retry_after = 3 }
    env:add(pod "a")
    assert.same({}, env.prints)
    env:advance "2900ms"
    assert.same({}, env.prints)
    env:advance "100ms"
    assert.same({ "done\t" }, env.prints)
    assert.same({ 429, 200 }, { env.writes[1].code, env.writes[2].code })
  end)

  it("delay responses on the clock of the test", function()
    local env = load(LABELS)
    env:fault { verb = "patch", delay = "10s" }
    env:add(pod "a")
    env:advance "9s"
    assert.same({}, env.prints)
    env:advance "1s"
    assert.same({ "done\t" }, env.prints)
    env:fault { verb = "patch", delay = "2000h" } -- more than an int has of milliseconds
    env:add(pod "b")
    env:advance "10s"
    assert.equal(1, #env.prints)
  end)

  it("delay the response alone: the request is done, whoever waits for it", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.writes { "pods:patch" }
      k8s.informer("pods"):on_add(function(pod)
        local done, err = k8s.patch(pod, { metadata = { labels = { seen = "yes" } } }, { timeout = "5s" })
        print(done and "done" or err.reason)
      end)
    ]]
    env:fault { verb = "patch", delay = "10m" }
    env:add(pod "a")
    assert.same({}, env.prints)
    assert.equal("yes", env:get("pods", "shop/a").metadata.labels.seen)
    assert.same({ "patch", 200, 0 }, { env.writes[1].verb, env.writes[1].code, env.writes[1].at })
    env:advance "5s"
    assert.same({ "Timeout" }, env.prints)
    env:advance "20m"
    assert.equal(1, #env.writes)
    assert.equal("yes", env:get("pods", "shop/a").metadata.labels.seen)
  end)

  it("delay what was read when the request came, and a watch with what comes meanwhile", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.reads { "pods:get" }
      k8s.informer("configmaps"):on_add(function(map)
        print(k8s.get("pods", "shop/a").metadata.labels.app)
      end)
    ]]
    env:add(pod("a", { app = "old" }))
    env:advance "1m" -- a watch that ends sooner begins with a list again
    env:fault { verb = "get", kind = "pods", delay = "4s" }
    env:fault { verb = "watch", kind = "configmaps", delay = "3s" }
    env:fault { watch = "drop", kind = "configmaps" }
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "m" } }
    env:advance "6900ms"
    assert.same({}, env.prints)
    env:patch("pods", "shop/a", { metadata = { labels = { app = "new" } } })
    env:advance "100ms"
    assert.same({ "old" }, env.prints)
  end)

  it("distinguish an apply from other patches", function()
    local text = [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:patch" }
      k8s.informer("pods"):on_add(function(pod)
        local ref = { kind = "configmaps", namespace = "shop", name = "m" }
        local _, err = k8s.apply(ref, { data = { a = "a" } })
        print("apply", err and err.code)
        _, err = k8s.patch(ref, { data = { a = "b" } })
        print("patch", err and err.code)
      end)
    ]]
    local function prints(fault)
      local env = load(text)
      env:fault(fault)
      env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "m" } }
      env:add(pod "a")
      return env.prints, env.writes
    end
    local printed, writes = prints { verb = "apply", code = 409, times = 0 }
    assert.same({ "apply\t409", "patch\tnil" }, printed)
    assert.same({ "apply", "patch" }, { writes[1].verb, writes[2].verb })
    assert.same({ "apply\t409", "patch\t409" }, (prints { verb = "patch", code = 409, times = 0 }))
  end)

  it("end watches, which go on, or begin with a list again", function()
    local text = [[
      local k8s = require "k8s"
      local function tell(what) return function(pod) print(what, pod:key()) end end
      k8s.informer("pods"):add_event_handler { OnAdd = tell "add", OnDelete = tell "delete" }
    ]]
    for _, how in ipairs { "drop", "expire" } do
      local env = load(text, { objects = { pod "a" } })
      env:settle()
      env:fault { watch = how, kind = "po" }
      env:delete("pods", "shop/a")
      env:add(pod "b")
      env:advance "1m"
      table.sort(env.prints)
      assert.same({ "add\tshop/a", "add\tshop/b", "delete\tshop/a" }, env.prints, how)
    end
  end)

  it("keep an informer from its first list until they are used up", function()
    local env = test.new { objects = { pod "a" } }
    env:fault { verb = "list", kind = "pods", code = 403, times = 2 }
    env:fault { verb = "watch", kind = "pods", code = 403, times = 2 }
    env.folder = ""
    env:load(support.file 'require("k8s").informer("pods"):on_add(function(pod) print(pod:key()) end)')
    assert.same({}, env.prints)
    assert.is_false(env:status().synced)
    env:advance "1m"
    assert.same({ "shop/a" }, env.prints)
    assert.is_true(env:status().synced)
  end)

  it("raise where they mean nothing", function()
    local env = test.new()
    local function problem(given) return select(2, pcall(env.fault, env, given)):match ": (.*)$" end
    assert.equal("env:fault: one of code, delay and watch is required", problem {})
    assert.equal('env:fault: watch must be "drop" or "expire", not "x"', problem { watch = "x" })
    assert.equal('env:fault: unknown option "cod", did you mean "code"?', problem { cod = 1 })
    assert.has_match("did you mean", problem { kind = "pdos", code = 500 })
    assert.equal('env:fault: unknown verb "ptach", did you mean "patch"?', problem { verb = "ptach", code = 500 })
    assert.equal('env:fault: unknown verb "x", known are apply, create, delete, deletecollection, get, list, patch, '
      .. "update, watch", problem { verb = "x", code = 500 })
    for _, code in ipairs { 200, 399, 600, 404.5, -1, 1 / 0, 0 / 0 } do
      assert.has_match("code must be a whole number from 400 to 599", problem { code = code }, 1, true)
    end
    for _, name in ipairs { "times", "skip", "retry_after" } do
      for _, n in ipairs { -1, 1.5, 1e12 } do
        local wanted = name .. " must be a whole number from 0 to 1000000"
        assert.has_match(wanted, problem { code = 500, [name] = n }, 1, true)
      end
    end
    assert.equal("env:fault: reason requires code",
      problem { delay = 1, reason = "x" })
    assert.equal("env:fault: watch can only be combined with kind, not with code",
      problem { watch = "drop", code = 500 })
  end)
end)

describe("more of a cluster", function()
  it("takes manifests from files, with any number of documents", function()
    local path = support.file [[
apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: a}
data: {n: "1"}
---
# nothing here
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: shop, name: w}, spec: {size: 3}}
]]
    local env = load [[
      require("k8s").informer("widgets.example.com"):on_add(function(w) print(w:key(), w.spec.size) end)
    ]]
    env:apply_file(path)
    env:advance "5s"
    assert.same({ "shop/w\t3" }, env.prints)
    env:apply_file(path)
    assert.equal("1", env:get("cm", "shop/a").data.n)
    local map = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"shop"},"data":{"n":"%s"}}'
    local file = assert(io.open(path, "w")) -- one a line, and an array
    file:write(map:format("a", "2"), "\n", map:format("b", "{"), "\n[", map:format("c", "3"), "]\n")
    file:close()
    env:apply_file(path)
    assert.same({ "2", "{" }, { env:get("cm", "shop/a").data.n, env:get("cm", "shop/b").data.n })
    assert.equal("3", env:get("cm", "shop/c").data.n)
    file = assert(io.open(path, "w")) -- as every command reads YAML
    file:write "kind: ConfigMap\nmetadata: {name: d, namespace: shop}\ndata: {n: 'x', n: 'y'}\n"
    file:close()
    local ok, raised = pcall(env.apply_file, env, path)
    assert.is_false(ok)
    assert.has_match(path .. ':3: duplicate map key "n"', raised, 1, true)
    ok, raised = pcall(env.apply_file, env, "nothing.yaml")
    assert.is_false(ok)
    assert.has_match("env:apply_file: no file ", raised, 1, true)
  end)

  it("has Kubernetes' own kinds, and any that a spec names", function()
    local env = test.new()
    for _, kind in ipairs { "sts", "ds", "jobs", "cj", "ing", "pvc", "sa", "hpa", "pdb", "endpointslices" } do
      env:add { kind = kind, metadata = { name = "x" } }
      assert.equal("x", env:get(kind, "default/x").metadata.name)
    end
    env:kind { kind = "Gadget", group = "example.com", namespaced = false }
    env:add { kind = "Gadget", metadata = { name = "g" } }
    assert.equal("example.com/v1", env:get("gadgets.example.com", "g").apiVersion)
  end)

  it("lists objects by namespace and selector", function()
    local env = test.new { objects = { pod("a", { app = "x" }), pod("b", { app = "y" }) } }
    assert.equal(2, #env:list "pods")
    assert.equal(0, #env:list("pods", { namespace = "other" }))
    local found = env:list("pods", { selector = "app in (y, z)" })
    assert.same({ "b", "Pod", "v1" }, { found[1].metadata.name, found[1].kind, found[1].apiVersion })
    assert.equal(1, #found)
  end)

  it("reports the state of a script", function()
    local env = load [[
      local k8s = require "k8s"
      local q = k8s.queue { name = "work", workers = 1 }
      k8s.informer("pods"):add_event_handler { id = "h", OnAdd = q:enqueuer() }
      q:run(function(key, job) return nil, { reason = "Broken", message = "no luck" } end)
    ]]
    env:add(pod "a")
    local status = env:status()
    assert.same({ "h", "pods" }, { status.handlers[1].id, status.handlers[1].kind })
    assert.same({ "work", 1 }, { status.queues[1].name, status.queues[1].failing })
    assert.is_true(status.memory > 10000)
    assert.equal("worker", env.failures[1].call)
  end)
end)
