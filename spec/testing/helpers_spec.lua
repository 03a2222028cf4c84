-- What operators write again and again: times, schedules, keys, templates, conditions, finalizers, owners, k8s.ensure.
local k8s = require "k8s"
local support = require "spec.testing.support"

local load = support.load

local function raised(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err)
end

-- Runs `body` as k8s.main, and returns what it printed, line by line.
local function printed(body, options)
  local env = load(([[
    local k8s = require "k8s"
    k8s.reads { "*:*" }
    k8s.writes { "*:*" }
    local configmaps = k8s.informer "configmaps"
    k8s.main(function()
      %s
    end)
  ]]):format(body), options)
  env:settle()
  return env.prints[1]
end

describe("k8s.time and k8s.schedule", function()
  it("read and write times and durations", function()
    assert.equal(1767225600, k8s.time.parse "2026-01-01T00:00:00Z")
    assert.equal(1767225600.5, k8s.time.parse "2026-01-01T02:00:00.5+02:00")
    assert.equal(1767225600.000123, k8s.time.parse "2025-12-31T23:30:00.000123-00:30") -- a MicroTime
    assert.is_nil(k8s.time.parse "2026-01-01T00:00:00+25:00")
    assert.equal(1767225600, k8s.time.parse "2026-01-01t00:00:00z")
    assert.is_nil(k8s.time.parse "2026-02-31T00:00:00Z")
    assert.is_nil(k8s.time.parse "yesterday")
    assert.equal(1, select("#", k8s.time.parse "yesterday")) -- so that it can be an argument
    assert.equal("2026-01-01T00:00:00Z", k8s.time.format(1767225600))
    assert.equal("2026-01-01T00:00:00Z", k8s.time.format(1767225600.9))
    assert.equal(7 * 86400 + 5400, k8s.time.duration "7d1h30m")
    assert.has_match("k8s.time.duration: the duration", raised(k8s.time.duration, "soon"), 1, true)
  end)

  it("know when a schedule was due, is due, and all times between", function()
    local nights = k8s.schedule("0 3 * * mon-fri", { tz = "UTC" })
    local function text(seconds) return seconds and k8s.time.format(seconds) end
    assert.equal("2026-01-02T03:00:00Z", text(nights:next "2026-01-01T03:00:00Z"))
    assert.equal("2026-01-02T03:00:00Z", text(nights:last "2026-01-05T02:59:59Z")) -- a Monday
    assert.equal("2026-01-05T03:00:00Z", text(nights:last "2026-01-05T03:00:00Z"))
    local times = nights:between("2026-01-01T03:00:00Z", "2026-01-06T03:00:00Z")
    for i, seconds in ipairs(times) do times[i] = text(seconds) end
    assert.same({ "2026-01-02T03:00:00Z", "2026-01-05T03:00:00Z", "2026-01-06T03:00:00Z" }, times)
    local leap = k8s.schedule("0 0 29 2 *", { tz = "UTC" })
    assert.equal("2024-02-29T00:00:00Z", text(leap:last "2028-02-28T00:00:00Z"))
    assert.equal("2028-02-29T00:00:00Z", text(leap:next "2024-02-29T00:00:00Z"))
  end)

  it("name what is wrong", function()
    assert.has_match("k8s.schedule: ", raised(k8s.schedule, "61 * * * *"), 1, true)
    assert.has_match("k8s.schedule: ", raised(k8s.schedule, "0 3 * * *", { tz = "Mars/Base" }), 1, true)
    local minutes = k8s.schedule "* * * * *"
    assert.has_match("schedule:between: more than 10000 times", raised(minutes.between, minutes, 0, 10 ^ 9), 1, true)
    assert.has_match('schedule:next: after: "x" is not a time of RFC 3339', raised(minutes.next, minutes, "x"), 1, true)
  end)

  it("go by the clock of the spec in scripts", function()
    assert.equal("2026-03-02T03:00:00Z\t2026-03-01T03:00:00Z", printed([[
      local one = k8s.schedule("0 3 * * *", { tz = "UTC" })
      print(k8s.time.format(one:next()), k8s.time.format(one:last()))
    ]], { now = "2026-03-01T03:30:00Z" }))
  end)
end)

describe("k8s.split_key", function()
  it("gives namespace and name", function()
    assert.same({ "shop", "web" }, { k8s.split_key "shop/web" })
    assert.same({ "", "node-1" }, { k8s.split_key "node-1" })
    for _, key in ipairs { "", "a/b/c", "/b", "a/" } do
      assert.has_match('k8s.split_key: "' .. key .. '" is not a key', raised(k8s.split_key, key), 1, true)
    end
  end)
end)

describe("k8s.template", function()
  it("fills names in, with their types", function()
    local object = k8s.template([[
apiVersion: v1
kind: ConfigMap
metadata: { name: "web-${name}", labels: "${labels}", "${key}": x }
data: { n: "${count}", text: "n=${count} ${on}", cost: "$${name}", dollar: "$5" }
list: [a, "${name}", { b: "${on}" }]
empty: []
]], { name = "one", labels = { app = "web" }, count = 3, on = true, key = "k" })
    assert.same({
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "web-one", labels = { app = "web" }, k = "x" },
      data = { n = 3, text = "n=3 true", cost = "${name}", dollar = "$5" },
      list = { "a", "one", { b = true } }, empty = {},
    }, object)
    assert.equal("[]", k8s.json.encode(object.empty))
  end)

  it("raises for what it cannot fill in, with its place", function()
    assert.has_match('k8s.template: spec.a[0]: unknown value "nam", did you mean "name"?',
      raised(k8s.template, "spec: { a: ['${nam}'] }", { name = 1 }), 1, true)
    local values = { fn = print, nan = 0 / 0, big = math.huge }
    for name, why in pairs { fn = "a function, which objects", nan = "nan, which is no", big = "inf, which is no" } do
      for _, text in ipairs { "a: ${%s}", "a: x ${%s}" } do
        local raises = raised(k8s.template, text:format(name), values)
        assert.has_match("k8s.template: a: ${" .. name .. "} is " .. why, raises, 1, true)
      end
    end
    assert.has_match('k8s.template: a: "${na me}" is not ${name}', raised(k8s.template, "a: 'x ${na me}'", {}), 1, true)
    assert.has_match("k8s.template: a: ${t} is a table inside text", raised(k8s.template, "a: 'x${t}'", { t = {} }), 1,
      true)
    assert.has_match("k8s.template: line 2: ", raised(k8s.template, "a: [", {}), 1, true)
    local hint = '; within [ ] and { } write "${x}" in quotes'
    for _, text in ipairs { "a: [${x}]", "a: { b: ${x} }", "a: ['${y}', ${x}]" } do
      assert.has_match(hint, raised(k8s.template, text, { x = 1, y = 1 }), 1, true)
    end
    for _, text in ipairs { "a: ${x}\nb: [", "a: ['${x}'", '"a${x}": {' } do
      assert.has_no_match("in quotes", raised(k8s.template, text, { x = 1 }))
    end
  end)
end)

describe("k8s.conditions", function()
  it("set one, with a transition time of its own", function()
    local list, changed = k8s.conditions.set(nil, { type = "Ready", status = "False", reason = "Waits" })
    assert.is_true(changed)
    assert.has_match("^%d+%-%d+%-%d+T", list[1].lastTransitionTime)
    list[1].lastTransitionTime = "2026-01-01T00:00:00Z"
    list, changed = k8s.conditions.set(list, { type = "Ready", status = "False", reason = "Waits", message = "still" })
    assert.is_true(changed)
    assert.same({ type = "Ready", status = "False", reason = "Waits", message = "still",
      lastTransitionTime = "2026-01-01T00:00:00Z" }, list[1])
    local same
    same, changed = k8s.conditions.set(list, { type = "Ready", status = "False", reason = "Waits", message = "still" })
    assert.is_false(changed)
    assert.same(list, same)
    list = k8s.conditions.set(list, { type = "Ready", status = "True", reason = "Done", observedGeneration = 2 })
    assert.equal(1, #list)
    assert.equal(2, list[1].observedGeneration)
    assert.not_equal("2026-01-01T00:00:00Z", list[1].lastTransitionTime)
  end)

  it("name what is missing", function()
    assert.has_match("k8s.conditions.set: reason is missing",
      raised(k8s.conditions.set, {}, { type = "A", status = "True" }), 1, true)
    assert.has_match('status must be "True", "False" or "Unknown", not "true"',
      raised(k8s.conditions.set, {}, { type = "A", status = "true", reason = "A" }), 1, true)
    for _, reason in ipairs { "not ready", "1st", "Ready:", "Ready!" } do
      assert.has_match(('reason must be a word in CamelCase, as the API requires, not "%s"'):format(reason),
        raised(k8s.conditions.set, {}, { type = "A", status = "True", reason = reason }), 1, true)
    end
    local list = k8s.conditions.set({}, { type = "A", status = "True", reason = "Waits_For:x" })
    assert.equal("Waits_For:x", list[1].reason)
  end)

  it("have the bounds of the API", function()
    local function long(name, bytes)
      local one = { type = "A", status = "True", reason = "A" }
      one[name] = ("a"):rep(bytes)
      return pcall(k8s.conditions.set, {}, one)
    end
    assert.is_true(long("reason", 1024) and long("message", 32768))
    assert.has_match("the reason has 1025 bytes, the API takes 1024", select(2, long("reason", 1025)), 1, true)
    assert.has_match("the message has 32769 bytes, the API takes 32768", select(2, long("message", 32769)), 1, true)
    assert.has_match("k8s.conditions.set: each condition must be a map, not a number",
      raised(k8s.conditions.set, { 5 }, { type = "A", status = "True", reason = "A" }), 1, true)
  end)

  it("refuse an object in place of its conditions", function()
    local good = { type = "A", status = "True", reason = "A" }
    local said = "k8s.conditions.set: the conditions must be a list, such as object.status.conditions, not a "
    assert.has_match(said .. 'map with "status"', raised(k8s.conditions.set, { status = {} }, good), 1, true)
    assert.has_match(said .. "string", raised(k8s.conditions.set, "x", good), 1, true)
    assert.equal("raised\t1\t2", printed([[
      local good = { type = "A", status = "True", reason = "A" }
      local pod = k8s.get("pods", "shop/a")
      local ok, why = pcall(k8s.conditions.set, pod, good)
      print(not ok and why:find("not a map with", 1, true) and "raised" or why, #k8s.conditions.set(nil, good),
        #k8s.conditions.set(pod.status.conditions, good))
    ]], { objects = { (function()
      local pod = support.pod "a"
      pod.status = { conditions = { { type = "Ready", status = "True" } } }
      return pod
    end)() } }))
  end)
end)

describe("objects", function()
  it("have conditions and an age", function()
    local pod = support.pod "a"
    pod.metadata.creationTimestamp = "2025-12-31T23:58:30Z"
    pod.status = { conditions = { { type = "Ready", status = "True" } } }
    assert.equal("True\tnil\t90", printed([[
      local pod = k8s.get("pods", "shop/a")
      print(pod:condition "Ready".status, pod:condition "Gone", pod:age())
    ]], { objects = { pod } }))
  end)

  it("may have finalizers without a domain, as custom objects do, and get none that a server refuses", function()
    assert.equal("true\tfalse\tfalse", printed([[
      local object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", finalizers = { "old" } } }
      for _, name in ipairs { "mine", "Example.org/x", "a_b.org/x", "-a.org/x", "a-.org/x", "a..org/x", "a.org/-x",
        "a.org/b/c", "a.org/", "/x", "a.org/" .. ("x"):rep(64) } do
        local ok, why = pcall(k8s.finalizers.add, object, name)
        assert(not ok and why:find(name .. '" is not a finalizer', 1, true), name)
      end
      print(k8s.finalizers.has(object, "old"), k8s.finalizers.has(object, "older"), (pcall(k8s.finalizers.has, object)))
    ]], {}))
  end)

  it("get and lose finalizers, and those of others stay", function()
    assert.has_match("^other/x,example.org/mine\tother/x\tfalse\tfalse\tfalse\t.*not a finalizer", printed([[
      local map = k8s.get("configmaps", "shop/c")
      map = assert(k8s.finalizers.add(map, "example.org/mine"))
      assert(k8s.finalizers.add(map, "example.org/mine"):resource_version() == map:resource_version())
      local with = table.concat(map.metadata.finalizers, ",")
      map = assert(k8s.finalizers.remove(map, "example.org/mine"))
      print(with, table.concat(map.metadata.finalizers, ","), k8s.finalizers.has(map, "example.org/mine"),
        k8s.finalizers.has(map, "foregroundDeletion"), pcall(k8s.finalizers.add, map, "mine"))
    ]], { objects = { { apiVersion = "v1", kind = "ConfigMap",
      metadata = { namespace = "shop", name = "c", finalizers = { "other/x" } } } } }))
  end)

  it("are Secrets whose content no error of a write repeats", function()
    local secret = {
      apiVersion = "v1", kind = "Secret", metadata = { name = "tok", namespace = "shop" },
      data = { a = "c3dvcmRmaXNo" },
    }
    local text = printed([[
      local object, err = k8s.patch({ kind = "secrets", namespace = "shop", name = "tok" }, { data = { b = "!!" } })
      print(object, #err.causes > 0, k8s.json.encode(err))
    ]], { objects = { secret } })
    assert.has_match("^nil\ttrue\t", text)
    assert.has_match("the server's message is hidden because it may contain secrets", text, 1, true)
    assert.has_match('"message":"hidden because it may contain secrets"', text, 1, true)
    assert.has_no_match("c3dvcmRm", text)
    assert.has_no_match("!!", text, 1, true)
  end)

  it("name their owner", function()
    local owner = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web", uid = "u1" } }
    assert.same({ apiVersion = "apps/v1", kind = "Deployment", name = "web", uid = "u1", controller = true },
      k8s.owner_reference(owner, { controller = true }))
    assert.has_match("k8s.owner_reference: the owner has no uid",
      raised(k8s.owner_reference, { apiVersion = "v1", kind = "Pod", metadata = { name = "a" } }), 1, true)
  end)

  it("are created, changed or left alone by k8s.ensure", function()
    assert.equal("created\tunchanged\tchanged\t2\tkeep\tunchanged\tunchanged", printed([[
      local map = {
        apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "default", name = "e", labels = {} },
        data = { n = "1" },
      }
      local said = { select(2, assert(k8s.ensure(map))) }
      assert(k8s.patch(assert(k8s.get("configmaps", "default/e")), { data = { other = "keep" } }))
      said[2] = select(2, k8s.ensure(map))
      map.data.n = "2"
      said[3] = select(2, k8s.ensure(map))
      local now = k8s.get("configmaps", "default/e")
      said[4], said[5] = now.data.n, now.data.other
      said[6] = select(2, k8s.ensure(map))
      map.data.absent = k8s.null
      said[7] = select(2, k8s.ensure(map))
      print(unpack(said))
    ]]))
  end)

  it("have a text as their namespace for k8s.ensure, or an error says so", function()
    for _, text in ipairs { "true", "false", "{}", "5", "k8s.null" } do
      local said = printed(([[
        print(select(2, pcall(k8s.ensure, {
          apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = %s, name = "e" },
        })))
      ]]):format(text))
      assert.has_match("k8s.ensure: metadata.namespace must be a string, not ", said, 1, true)
      assert.is_nil(said:find("lua/k8s", 1, true))
    end
  end)

  it("are as wanted for k8s.ensure when elements of lists have defaults, and the server's order of fields", function()
    assert.equal("created\tunchanged\tchanged\tunchanged", printed([[
      local web = {
        apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "default", name = "web" },
        spec = { replicas = 2, selector = { matchLabels = { a = "b" } }, template = {
          metadata = { labels = { a = "b" } },
          spec = { containers = { { name = "c", image = "i", ports = { { name = "http", containerPort = 80 } } } } },
        } },
      }
      local said = {}
      for i = 1, 4 do
        if i == 3 then web.spec.template.spec.containers[1].image = "j" end
        said[i] = select(2, assert(k8s.ensure(web)))
      end
      print(unpack(said))
    ]]))
  end)

  it("are as wanted for k8s.ensure when the server writes their quantities in another way", function()
    assert.equal("created\tunchanged\tchanged\tcreated\tunchanged\tchanged\t2", printed([[
      local resources = { requests = { cpu = "1000m", memory = "1024Mi" }, limits = { cpu = 1, memory = "1Gi" } }
      local web = {
        apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "default", name = "web" },
        spec = { replicas = 2, selector = { matchLabels = { a = "b" } }, template = {
          metadata = { labels = { a = "b" } },
          spec = {
            containers = { { name = "c", image = "i", resources = resources } },
            volumes = { { name = "v", emptyDir = { sizeLimit = "1024Mi" } } },
          },
        } },
      }
      local quota = {
        apiVersion = "v1", kind = "ResourceQuota", metadata = { namespace = "default", name = "q" },
        spec = { hard = { ["requests.cpu"] = "2000m", pods = 5 } },
      }
      local said = {}
      for i = 1, 3 do
        if i == 3 then resources.requests.cpu = "500m" end
        said[i] = select(2, assert(k8s.ensure(web)))
      end
      for i = 4, 6 do
        if i == 6 then quota.spec.hard.pods = 6 end
        said[i] = select(2, assert(k8s.ensure(quota)))
      end
      said[7] = k8s.get("resourcequotas", "default/q").spec.hard["requests.cpu"]
      print(unpack(said))
    ]]))
  end)

  it("are compared as texts by k8s.ensure where they are no quantities", function()
    assert.equal("created\tchanged", printed([[
      local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "default", name = "m" },
        data = { limits = "1000m" } }
      local first = select(2, assert(k8s.ensure(map)))
      map.data.limits = "1"
      print(first, (select(2, assert(k8s.ensure(map)))))
    ]]))
  end)

  it("are as wanted for k8s.ensure when they are Secrets with stringData", function()
    assert.equal("created\tunchanged\tchanged\tunchanged\tc2Vjb25k\tYQ==", printed([[
      local secret = {
        apiVersion = "v1", kind = "Secret", metadata = { namespace = "default", name = "s" },
        data = { other = "YQ==" }, stringData = { token = "first" },
      }
      local said = {}
      for i = 1, 4 do
        if i == 3 then secret.stringData.token = "second" end
        said[i] = select(2, assert(k8s.ensure(secret)))
      end
      local data = k8s.get("secrets", "default/s").data
      said[5], said[6] = data.token, data.other
      print(unpack(said))
    ]]))
  end)

  it("are scaled, restarted and evicted", function()
    local web = {
      apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "default", name = "web" },
      spec = { replicas = 1, selector = { matchLabels = { app = "web" } },
        template = {
          metadata = { labels = { app = "web" } }, spec = { containers = { { name = "a", image = "b" } } },
        } },
    }
    local pod = support.pod("a", { app = "web" })
    assert.equal("3\t2026-01-01T00:00:00Z\ttrue\ttrue", printed([[
      local ref = { kind = "deployments.apps", namespace = "default", name = "web" }
      assert(k8s.scale(ref, 3))
      local web = assert(k8s.restart(assert(k8s.get("deployments.apps", "default/web"))))
      local pod = k8s.get("pods", "shop/a")
      local done = assert(k8s.evict(pod, { grace_period = "0s" }))
      local at = web.spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]
      print(web.spec.replicas, at, done == true, k8s.get("pods", "shop/a") == nil)
    ]], { objects = { web, pod } }))
  end)

  it("are not restarted without a template that makes new pods", function()
    assert.equal(("raised: k8s.restart: works for Deployments, StatefulSets, DaemonSets and custom kinds with "
      .. "spec.template, not for %s\n"):rep(3):format("v1 Pod", "batch/v1 Job", "v1 ConfigMap"), printed([[
      local lines = {}
      for i, kind in ipairs { "pods", "jobs.batch", "configmaps" } do
        local ok, why = pcall(k8s.restart, { kind = kind, namespace = "shop", name = "a" })
        lines[i] = (ok and "done" or "raised: " .. why:match "k8s%.restart: .*") .. "\n"
      end
      print(table.concat(lines))
    ]]))
  end)

  it("refuse numbers of replicas that no server takes", function()
    assert.equal(("raised: k8s.scale: replicas must be a whole number from 0 to 2147483647, not %s\n"):rep(7):format(
      "inf", "-inf", "nan", "2147483648", "1.5", "-1", '"3"'), printed([[
      local lines = {}
      for i, n in ipairs { math.huge, -math.huge, 0 / 0, 2147483648, 1.5, -1, "3" } do
        local ok, why = pcall(k8s.scale, { kind = "deployments.apps", namespace = "default", name = "web" }, n)
        lines[i] = (ok and "done" or "raised: " .. why:match "k8s%.scale: .*"):gsub("-?nan", "nan") .. "\n"
      end
      print(table.concat(lines))
    ]]))
  end)

  it("are refused where a disruption budget forbids them", function()
    local budget = {
      apiVersion = "policy/v1", kind = "PodDisruptionBudget",
      metadata = { namespace = "shop", name = "least", generation = 1 },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } },
      status = {
        observedGeneration = 1, disruptionsAllowed = 0, currentHealthy = 1, desiredHealthy = 1, expectedPods = 1,
      },
    }
    local web = support.pod("a", { app = "web" })
    web.status = { phase = "Running", conditions = { { type = "Ready", status = "True" } } }
    assert.equal("nil\t429\tTooManyRequests\tDisruptionBudget\ttrue", printed([[
      local done, err = k8s.evict({ namespace = "shop", name = "a" })
      print(done, err.code, err.reason, err.causes[1].reason, k8s.get("pods", "shop/a") ~= nil)
    ]], { objects = { budget, web } }))
  end)

  it("are waited for by informers", function()
    assert.equal("true\ttrue", printed "print(configmaps:wait_for_sync(1), configmaps:has_synced())")
  end)
end)
