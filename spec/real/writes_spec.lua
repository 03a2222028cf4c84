-- Writes to a real API server: every patch type, server-side apply, dry runs, and its own words for what goes wrong.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local writes = require "spec.support.writes"

local namespaced = "/api/v1/namespaces/default/"
local deployments = "/apis/apps/v1/namespaces/default/deployments"

local function pod(name)
  return {
    apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", labels = { app = name } },
    spec = { containers = { { name = "a", image = "one" }, { name = "b", image = "two" } } },
  }
end

local function deployment(name)
  local labels = { app = name }
  return {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = name, namespace = "default" },
    spec = {
      replicas = 1, selector = { matchLabels = labels },
      template = { metadata = { labels = labels }, spec = { containers = { { name = "a", image = "one" } } } },
    },
  }
end

describe("writes to the real API server", function()
  local server, admin

  setup(function()
    server = apiserver.start()
    admin = server:api()
  end)

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  local function run(body, ...) return writes.run("--kubeconfig=" .. server.kubeconfig, body, ...) end

  writes.specify(it, run)

  it("patch lists of pods by strategic merge, one container of two", function()
    admin:create(namespaced .. "pods", pod "strategic")
    local out = run [[
      local pod = k8s.get("pods", "default/strategic")
      local patch = { spec = { containers = { { name = "b", image = "three" } } } }
      local patched = assert(k8s.patch(pod, patch, { type = "strategic", lock = true }))
      print(patched.spec.containers[1].image, patched.spec.containers[2].image, #patched.spec.containers)
      failed(k8s.patch(pod, patch, { type = "strategic", lock = true }))
      failed(k8s.patch(pod, patch, { type = "merge" }))
    ]]
    assert.has_match("^one\tthree\t2\nnil\t409\tConflict\t[^\n]+\nnil\t422\tInvalid\t", out)
  end)

  it("are sent by k8s.ensure once, whatever form the server keeps, and hide what a Secret has", function()
    admin:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "ensured" } })
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "*:get" }
      k8s.writes { "*:*" }
      local resources = { requests = { cpu = "1000m", memory = "1024Mi" }, limits = { cpu = 1, memory = "1Gi" } }
      local limits = { type = "Container", default = { cpu = "2000m" }, max = { cpu = 4, memory = "2048Mi" } }
      local function object(kind, rest)
        rest.apiVersion, rest.kind, rest.metadata = "v1", kind, { namespace = "ensured", name = "one" }
        return rest
      end
      local secret = object("Secret", { stringData = { token = "swordfish" } })
      local objects = {
        object("Pod", { spec = {
          containers = { { name = "c", image = "i", resources = resources } },
          volumes = { { name = "v", emptyDir = { sizeLimit = "1024Mi" } } },
        } }),
        object("ResourceQuota", { spec = { hard = { ["requests.memory"] = "1024Mi", pods = 500 } } }),
        object("LimitRange", { spec = { limits = { limits } } }),
        secret,
      }
      k8s.main(function()
        for _, one in ipairs(objects) do
          local _, first = assert(k8s.ensure(one))
          print(first, (select(2, assert(k8s.ensure(one)))))
        end
        local _, err = k8s.patch(secret, { data = { bad = "!!" } })
        local text = k8s.json.encode(err)
        print(err.reason, text:find("c3dvcmRma", 1, true), text:find("!!", 1, true))
      end)
    ]]
    local p = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, script }
    assert.are.equal(0, p:wait(30), p:report())
    assert.are.equal(("created\tunchanged\n"):rep(4) .. "Invalid\tnil\tnil\n", p:out())
  end)

  it("apply fields, report their owners, and take them by force", function()
    local out = run [[
      local ref = { kind = "configmaps", namespace = "default", name = "applied" }
      local made = assert(k8s.apply(ref, { data = { a = "1", b = "1" } }, { manager = "first" }))
      print(made.data.a, made.metadata.managedFields[1].manager, made.metadata.managedFields[1].operation)
      failed(k8s.apply(made, { data = { a = "2" } }, { manager = "second" }))
      local forced = assert(k8s.apply(made, { data = { a = "2" } }, { manager = "second", force = true }))
      print(forced.data.a, forced.data.b)
      local less = assert(k8s.apply(ref, { data = {} }, { manager = "first" }))
      print(less.data.a, less.data.b)
      failed(k8s.apply(made, { data = { c = "3" } }, { lock = true }))
      print(k8s.apply(less, { data = { c = "3" } }, { lock = true }).data.c)
    ]]
    assert.has_match("^1\tfirst\tApply\n" ..
      'nil\t409\tConflict\tApply failed with 1 conflict: conflict with "first": .data.a\n' ..
      "2\t1\n2\tnil\nnil\t409\tConflict\t[^\n]+\n3\n$", out)
  end)

  it("change nothing in a dry run", function()
    admin:create(namespaced .. "configmaps", { metadata = { name = "dry" }, data = { n = "1" } })
    local body = [[
      local dry = { dry_run = %s }
      local old = k8s.get("cm", "default/dry")
      print(#k8s.create(map("none"), dry).metadata.uid)
      print(k8s.patch(old, { data = { n = "2" } }, dry).data.n)
      print(k8s.apply(old, { data = { m = "3" } }, dry).data.m)
      local changed = old:copy()
      changed.data.n = "4"
      print(k8s.update(changed, dry).data.n)
      print(k8s.delete(old, dry))
    ]]
    assert.are.equal("36\n2\n3\n4\ntrue\n", run(body:format "true"))
    assert.are.equal("36\n2\n3\n4\ntrue\n", run(body:format "false", "--dry-run=server"))
    assert.are.equal("1", admin:get(namespaced .. "configmaps/dry").data.n)
    assert.is_nil(admin:get(namespaced .. "configmaps/dry").metadata.deletionTimestamp)
    admin:request("GET", namespaced .. "configmaps/none", nil, nil, 404)
  end)

  it("reach the subresources status, scale and eviction", function()
    admin:create(deployments, deployment "web")
    admin:create(namespaced .. "pods", pod "evicted")
    local script = cluster.script(writes.prelude .. [[
      k8s.writes { "deployments.apps/scale:*", "deployments.apps/status:patch", "pods/eviction:create" }
      k8s.main(function()
        local web = k8s.get("deployments.apps", "default/web")
        local scale = k8s.patch(web, { spec = { replicas = 3 } }, { subresource = "scale" })
        print(scale.kind, scale.spec.replicas)
        local changed = scale:copy()
        changed.spec.replicas = 5
        print(k8s.update(changed, { subresource = "scale", of = web }).spec.replicas)
        local applied = k8s.apply(web, { apiVersion = "autoscaling/v1", kind = "Scale", spec = { replicas = 7 } },
          { subresource = "scale", force = true })
        print(applied.spec.replicas)
        local status = { status = { observedGeneration = 9 } }
        print(k8s.patch(web, status, { subresource = "status" }).status.observedGeneration)
        local eviction = { apiVersion = "policy/v1", kind = "Eviction" }
        eviction.metadata = { name = "evicted", namespace = "default" }
        local pod = { kind = "po", namespace = "default", name = "evicted" }
        print(k8s.create(eviction, { subresource = "eviction", of = pod }))
      end)
    ]])
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, script }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("Scale\t3\n5\n7\n9\ntrue\n", engine:out())
    assert.are.equal(7, admin:get(deployments .. "/web").spec.replicas)
    local code = admin:curl("GET", namespaced .. "pods/evicted")
    assert.are.equal(404, code)
  end)

  it("name the PodDisruptionBudget that forbids an eviction", function()
    admin:create(namespaced .. "pods", pod "needed")
    admin:patch(namespaced .. "pods/needed/status", { status = { phase = "Running" } })
    local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    admin:create(budgets, {
      apiVersion = "policy/v1", kind = "PodDisruptionBudget", metadata = { name = "two", namespace = "default" },
      spec = { minAvailable = 2, selector = { matchLabels = { app = "needed" } } },
    })
    admin:patch(budgets .. "/two/status", { status = {
      observedGeneration = 1, disruptionsAllowed = 0, currentHealthy = 1, desiredHealthy = 2, expectedPods = 1,
    } })
    local script = cluster.script(writes.prelude .. [[
      k8s.writes { "pods/eviction:create" }
      k8s.main(function()
        local pod = { kind = "pods", namespace = "default", name = "needed" }
        local _, err = k8s.create({
          apiVersion = "policy/v1", kind = "Eviction", metadata = { name = "needed", namespace = "default" },
        }, { subresource = "eviction", of = pod, timeout = "2s" })
        print(err.code, err.reason, #err.causes, err.causes[1].reason)
        print(err.causes[1].message)
      end)
    ]])
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, script }
    assert.are.equal(0, engine:wait(60), engine:err())
    assert.has_match("^429\tTooManyRequests\t1\tDisruptionBudget\n[^\n]*budget two needs 2 healthy pods[^\n]*\n$",
      engine:out())
    assert.are.equal("Running", admin:get(namespaced .. "pods/needed").status.phase)
  end)

  it("get responses with objects that have no name", function()
    local script = cluster.script(writes.prelude .. [[
      k8s.writes { "*:create" }
      k8s.main(function()
        local review = assert(k8s.create {
          apiVersion = "authorization.k8s.io/v1", kind = "SelfSubjectAccessReview",
          spec = { resourceAttributes = { verb = "delete", resource = "pods", namespace = "default" } },
        })
        local attributes = review:copy().spec.resourceAttributes
        print(review.kind, review.status.allowed, review:name(), review:key(), attributes.verb)
        local token = { apiVersion = "authentication.k8s.io/v1", kind = "TokenReview", spec = { token = "x" } }
        print(k8s.create(token).status.authenticated)
      end)
    ]])
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, script }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("SelfSubjectAccessReview\ttrue\tnil\t\tdelete\nnil\n", engine:out())
  end)

  it("are by the field manager kubelua, or by their own", function()
    local out = run [[
      local made = k8s.create(map("managed", { colour = "red" }))
      print(made.metadata.managedFields[1].manager, made.metadata.managedFields[1].operation)
      local patched = k8s.patch(made, { data = { size = "1" } }, { manager = "painter" })
      print(table.concat(patched:get "metadata.managedFields[*].manager", ","))
    ]]
    assert.are.equal("kubelua\tUpdate\nkubelua,painter\n", out)
  end)

  it("are by the field manager of --field-manager", function()
    local body = [[
      print(k8s.create(map("mine", { c = "d" })).metadata.managedFields[1].manager)
      print(k8s.apply(map "mine", { data = { a = "b" } }).metadata.managedFields[1].manager)
    ]]
    assert.are.equal("a b\na b\n", run(body, "--field-manager=a b"))
  end)

  it("are forbidden without permission, and report it", function()
    local out = run([[failed(k8s.create(map "x"))]], "--context=nobody")
    assert.has_match('^nil\t403\tForbidden\tconfigmaps is forbidden: User "nobody" cannot create resource', out)
  end)
end)
