-- Answers beside plain objects: reviews, bindings, evictions, logs, old paths of watches, health. The
-- same requests to the simulator and to the real server give the same codes and bodies.
local cjson = require "cjson"
local both_servers = require "spec.support.both_servers"
local temp = require "spec.support.temp"

local NAMESPACE = "/api/v1/namespaces/default"
local PODS, MERGE = NAMESPACE .. "/pods", "application/merge-patch+json"
local AUTHORIZATION = "/apis/authorization.k8s.io/v1/"

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  local function pod(name, node, labels)
    ask("POST", PODS, { kind = "Pod", apiVersion = "v1", metadata = { name = name, labels = labels },
      spec = { nodeName = node, containers = { { name = "c", image = "i" } } } })
  end

  -- The code of the answer, which both give.
  local function code_of(...)
    local answer = ask(...)
    return answer.code or 200
  end

  it("reads how long a request may take", function()
    for _, timeout in ipairs { "1x", "5", "x", "1msx", "-", ".", "1..2s", "1s2", "1h1x" } do
      assert.equal(400, code_of("GET", NAMESPACE .. "?timeout=" .. timeout), timeout)
    end
    for _, timeout in ipairs { "", "32s", "1.5h", "1m30s" } do
      assert.equal(200, code_of("GET", NAMESPACE .. "?timeout=" .. timeout), timeout)
    end
    assert.equal(400, code_of("DELETE", PODS .. "/none?timeout=1x"))
    assert.equal(404, code_of("GET", PODS .. "/none/log?timeout=1x"))
  end)

  it("reads how long a request may take unless it lasts", function()
    for _, path in ipairs { "/api/v1/namespaces/log", "/api/v1/namespaces/exec/pods", NAMESPACE .. "/configmaps/log",
      NAMESPACE .. "/log", NAMESPACE .. "/log/log", NAMESPACE .. "/status/log/log", PODS .. "/proxy", "/healthz/log",
      "/log", "/apis/apps/exec", "/api/v1/log", "/api/v1/namespaces/watch", NAMESPACE .. "/watch", "/api", "/nope",
      PODS .. "/a?watch=1", PODS .. "?watch=False", PODS .. "?watch=0&watch=1", "/api/v1?watch=1" } do
      local mark = path:find "?" and "&" or "?"
      assert.equal(400, code_of("GET", path .. mark .. "timeout=1x"), path)
    end
    for _, path in ipairs { NAMESPACE .. "/configmaps/a/log", PODS .. "/a/log/x", "/apis/apps/v1/x/y/exec",
      NAMESPACE .. "/x/y/proxy/z", "/api/v1/watch/nope", "/api/v1/proxy/x", "/api/v1/nope?watch=1" } do
      local mark = path:find "?" and "&" or "?"
      assert.equal(404, code_of("GET", path .. mark .. "timeout=1x"), path)
    end
    for _, watch in ipairs { "watch=1", "watch", "watch=no", "watch=1&watch=0" } do
      ask("GET", PODS .. "?timeoutSeconds=1&timeout=1x&" .. watch)
    end
    for _, key in ipairs { "timeoutSeconds", "limit" } do
      for _, number in ipairs { "", "=", "=-", "=x", "=1.5", "=9223372036854775808" } do
        assert.equal(400, code_of("GET", PODS .. "?" .. key .. number), key .. number)
        assert.equal(400, code_of("DELETE", PODS .. "?" .. key .. number), key .. number)
        assert.equal(400, code_of("GET", "/api/v1/watch/pods?" .. key .. number), key .. number)
      end
    end
    assert.equal(400, code_of("DELETE", PODS .. "?watch=1&timeout=1x"))
    assert.equal(405, code_of("DELETE", PODS .. "/a/exec?timeout=1x"))
  end)

  it("reads how long a request may take to the last nanosecond", function()
    local most, more = "2562047h47m16.854775807s", "2562047h47m16.854775808s"
    for _, timeout in ipairs { most, "-" .. more, "9223372036s", "9223372036.854775807s", "9223372036854775807ns",
      "-9223372036854775808ns", "9223372036854775807.9ns", "4611686018427387904ns4611686018427387903ns",
      "9223372036854775808ns9223372036854775808ns", "000000000000000000000000001s", "1.99999999999999999999s",
      "0.9223372036854775808h", "0.00000000000000000000000000000009h", "-0", "1.s", ".5s" } do
      assert.equal(200, code_of("GET", NAMESPACE .. "?timeout=" .. timeout), timeout)
    end
    for _, timeout in ipairs { more, "-2562047h47m16.854775809s", "9223372036.854775808s", "9223372037s",
      "9223372036854775808ns", "99999999999999999999ns", "9223372036854775809x", "9223372036854775808x", "2562048h",
      "4611686018427387904ns4611686018427387904ns", "2562047.9999999999999999999h", ".s", "1s-", "1%C3%A9" } do
      assert.equal(400, code_of("GET", NAMESPACE .. "?timeout=" .. timeout), timeout)
    end
  end)

  it("gives a token for what is behind the last one that is selected", function()
    local path = NAMESPACE .. "/configmaps"
    for _, name in ipairs { "page-a", "page-b" } do
      ask("POST", path, { kind = "ConfigMap", apiVersion = "v1",
        metadata = { name = name, labels = { pages = name } } })
    end
    local function has_token(query)
      local found = {}
      for i, api in ipairs { both.real:api(), both.sim.api } do
        local _, text = api:curl("GET", query)
        found[i] = (cjson.decode(text).metadata.continue or "") ~= ""
      end
      assert.equal(found[1], found[2], query)
      return found[1]
    end
    local rest, all = "metadata.name%21%3Dpage-b,metadata.name%21%3Dkube-root-ca.crt", "/api/v1/configmaps"
    assert.is_true(has_token(path .. "?limit=1&fieldSelector=" .. rest))
    assert.is_true(has_token(path .. "?limit=1&labelSelector=pages%3Dpage-a&fieldSelector=" .. rest))
    assert.is_false(has_token(path .. "?limit=1&fieldSelector=metadata.name%3Dpage-a"))
    assert.is_true(has_token(all .. "?limit=1&fieldSelector=metadata.name%3Dpage-a"))
    assert.is_false(has_token(all .. "?limit=1&fieldSelector=metadata.name%3Dpage-a,metadata.namespace%3Ddefault"))
    assert.is_false(has_token("/api/v1/namespaces?limit=1&fieldSelector=metadata.name%3Ddefault"))
    ask("DELETE", path .. "/page-a")
    ask("DELETE", path .. "/page-b")
  end)

  it("takes bytes of a body that are no UTF-8 for U+FFFD, but not in YAML", function()
    local path = NAMESPACE .. "/configmaps"
    local form = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"%s},%s}'
    local data = '"data":{"a":"b\255c\195","\240\159":"\237\160\128"}'
    assert.equal(422, code_of("POST", path .. "?dryRun=All", form:format("odd", "", data)))
    data = '"data":{"a":"b\255c\195\237\160\128\195\164"}'
    assert.equal("b\u{FFFD}c\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}ä",
      ask("POST", path, form:format("odd", "", data)).data.a)
    assert.equal("\u{FFFD}x\u{FFFD}😀\u{FFFD}z", ask("PUT", path .. "/odd", form:format("odd", "",
      [["data":{"a":"\ud800x\udc00\ud83d\ude00\ud83dz"}]])).data.a)
    assert.equal(422, code_of("POST", path, form:format("odd\255", "", data)))
    assert.equal(422, code_of("POST", path, form:format("odd2", ',"labels":{"a":"\255"}', data)))
    assert.equal(400, code_of("POST", path .. "?fieldValidation=Strict", form:format("odd2", "", '"a\255":1')))
    assert.equal(400, code_of("POST", path, "\255"))
    for type, body in pairs { ["application/merge-patch+json"] = '{"data":{"b":"\255"}}',
      ["application/strategic-merge-patch+json"] = '{"data":{"c":"\255"}}',
      ["application/json-patch+json"] = '[{"op":"add","path":"/data/d","value":"\255"}]' } do
      assert.equal(200, code_of("PATCH", path .. "/odd", body, type), type)
    end
    assert.equal(400, code_of("PATCH", path .. "/odd?fieldManager=x&force=true", form:format("odd", "", data),
      "application/apply-patch+yaml"))
    ask("DELETE", path .. "/odd")
  end)

  it("keeps the namespaces that a cluster needs", function()
    local codes = {}
    for i, name in ipairs { "default", "kube-system", "kube-public", "kube-node-lease" } do
      codes[i] = code_of("DELETE", "/api/v1/namespaces/" .. name .. "?dryRun=All")
    end
    assert.same({ 403, 403, 403, 200 }, codes)
  end)

  it("reads the grace period of a query", function()
    ask("POST", NAMESPACE .. "/configmaps", { kind = "ConfigMap", apiVersion = "v1", metadata = { name = "a" } })
    local codes = {}
    for i, given in ipairs { "x", "", "1.5", "99999999999999999999", "-1", "3" } do
      codes[i] = code_of("DELETE", NAMESPACE .. "/configmaps/a?dryRun=All&gracePeriodSeconds=" .. given)
    end
    assert.same({ 400, 400, 400, 400, 200, 200 }, codes)
    assert.equal(400, code_of("DELETE", NAMESPACE .. "/configmaps?dryRun=All&gracePeriodSeconds=x"))
  end)

  it("deletes the first page of a collection only", function()
    local path, kind = NAMESPACE .. "/configmaps", { kind = "ConfigMap", apiVersion = "v1" }
    for _, name in ipairs { "p1", "p2", "p3", "p4" } do
      kind.metadata = { name = name, labels = { page = "yes" } }
      ask("POST", path, kind)
    end
    for _, api in ipairs { both.real:api(), both.sim.api } do
      local function delete(query)
        local code, text = api:curl("DELETE", path .. query)
        assert.equal(200, code, text)
        local list, names = cjson.decode(text), {}
        for i, item in ipairs(list.items) do names[i] = item.metadata.name end
        return names, list.metadata.continue, list.metadata.remainingItemCount
      end
      local names, token, remaining = delete "?labelSelector=page&limit=1"
      assert.same({ "p1" }, names)
      assert.is_nil(remaining)
      assert.same({ "p2", "p3" }, (delete("?labelSelector=page&limit=2&continue=" .. token)))
      assert.same({ "p4" }, (delete "?labelSelector=page"))
    end
    assert.same({}, ask("GET", path .. "?labelSelector=page").items)
  end)

  it("takes a Scale for what it is, by its name", function()
    local path = "/apis/apps/v1/namespaces/default/replicasets"
    ask("POST", path, { kind = "ReplicaSet", apiVersion = "apps/v1", metadata = { name = "scaled" }, spec = {
      selector = { matchLabels = { a = "b" } }, template = { metadata = { labels = { a = "b" } }, spec = {
        containers = { { name = "c", image = "i" } } } } } })
    local codes = {}
    for i, body in ipairs {
      { metadata = { name = "scaled" }, spec = { replicas = 2 } }, { spec = { replicas = 3 } },
      { kind = "Scale", apiVersion = "autoscaling/v1", spec = { replicas = 3 } },
      { apiVersion = "autoscaling/v1", metadata = { name = "scaled" } },
      { kind = "Scale", metadata = { name = "other" } },
    } do
      codes[i] = ask("PUT", path .. "/scaled/scale", body).code or 200
    end
    assert.same({ 200, 400, 400, 200, 400 }, codes)
  end)

  -- Of both servers, in their order.
  local function owners_of(path)
    local seen = {}
    for i, object in ipairs { ask("GET", path) } do
      seen[i] = {}
      for j, entry in ipairs(object.metadata.managedFields) do
        seen[i][j] = { entry.manager, entry.operation, entry.apiVersion, entry.subresource or "", entry.time ~= nil,
          entry.fieldsV1 }
      end
    end
    return unpack(seen)
  end

  it("gives the number of replicas to whoever sets it by a Scale", function()
    local path, apply = "/apis/apps/v1/namespaces/default/deployments", "application/apply-patch+yaml"
    ask("POST", path .. "?fieldManager=maker", { kind = "Deployment", apiVersion = "apps/v1",
      metadata = { name = "owned" }, spec = { replicas = 1, selector = { matchLabels = { a = "b" } },
        template = { metadata = { labels = { a = "b" } }, spec = { containers = { { name = "c", image = "i" } } } } } })
    local function scale(n) -- as text, as the "\/" of cjson is no YAML
      local body = { apiVersion = "autoscaling/v1", kind = "Scale", metadata = { name = "owned" },
        spec = n and { replicas = n } }
      return (cjson.encode(body):gsub("\\/", "/"))
    end
    local codes = {}
    for i, step in ipairs {
      { "PATCH", "merge", { spec = { replicas = 2 } }, MERGE }, { "PATCH", "same", { spec = { replicas = 2 } }, MERGE },
      { "PATCH", "refused", scale(3), apply }, { "PATCH", "taker&force=true", scale(3), apply },
      { "PATCH", "taker", scale(3), apply }, { "PATCH", "beside", scale(3), apply },
      { "PATCH", "beside", scale(), apply },
      { "PATCH", "merge", { spec = { replicas = 4 } }, MERGE }, { "PUT", "put", scale(0) }, { "PUT", "put", scale(7) },
    } do
      codes[i] = code_of(step[1], path .. "/owned/scale?fieldManager=" .. step[2], step[3], step[4])
      local real, sim = owners_of(path .. "/owned")
      assert.same(real, sim, step[2])
    end
    assert.same({ 200, 200, 409, 200, 200, 200, 200, 200, 200, 200 }, codes)
    for _, api in ipairs { both.real:api(), both.sim.api } do
      local code, text = api:curl("PUT", path .. "/owned/scale", (scale(8):gsub('"name"', '"uid":"another",%0')))
      assert.equal(409, code)
      assert.has_match("Precondition failed: UID in precondition: another, UID in object meta: %x+", text)
    end
  end)

  it("leaves the metadata of some kinds alone where their status is written", function()
    local rules = { { apiGroups = { "" }, apiVersions = { "v1" }, operations = { "CREATE" }, resources = { "pods" } } }
    for path, spec in pairs {
      ["resource.k8s.io/v1/namespaces/default/resourceclaims"] = { devices = { requests = { { name = "r",
        exactly = { deviceClassName = "d" } } } } },
      ["networking.k8s.io/v1/servicecidrs"] = { cidrs = { "10.99.0.0/24" } },
      ["storage.k8s.io/v1/volumeattachments"] = { attacher = "x.io", nodeName = "n",
        source = { persistentVolumeName = "p" } },
      ["flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"] = { type = "Limited",
        limited = { limitResponse = { type = "Reject" } } },
      ["admissionregistration.k8s.io/v1/validatingadmissionpolicies"] = { matchConstraints = { resourceRules = rules },
        validations = { { expression = "true" } } },
    } do
      path = "/apis/" .. path
      ask("POST", path, { metadata = { name = "alone", labels = { a = "b" } }, spec = spec })
      local metadata = { labels = { c = "d" }, annotations = { e = "f" }, finalizers = { "x.io/y" } }
      ask("PATCH", path .. "/alone/status", { metadata = metadata }, MERGE)
      local object = ask("GET", path .. "/alone").metadata
      assert.same({ { a = "b" }, nil }, { object.labels, object.annotations }, path)
      ask("DELETE", path .. "/alone")
    end
  end)

  it("binds pods by Bindings of their own", function()
    local bindings, node = NAMESPACE .. "/bindings", { kind = "Node", name = "n" }
    local function binding(name, target, more)
      local metadata = { name = name }
      for key, value in pairs(more or {}) do metadata[key] = value end
      return { kind = "Binding", apiVersion = "v1", metadata = metadata, target = target }
    end
    ask("POST", "/api/v1/nodes", { kind = "Node", apiVersion = "v1", metadata = { name = "n" } })
    pod "a"
    pod "b"
    local codes = {}
    for i, one in ipairs {
      { bindings, binding("none", node) }, { bindings, binding(nil, node) },
      { bindings, binding("a", { kind = "Node" }) }, { bindings, binding("a", { kind = 1 }) },
      { bindings, binding("a", node) }, { bindings, binding("a", node) },
      { bindings .. "?dryRun=All", binding("b", node) }, { "/api/v1/bindings", binding("b", node) },
      { "/api/v1/namespaces/none/bindings", binding("b", node) }, { PODS .. "/b/binding", binding("a", node) },
      { PODS .. "/b/binding", binding("b", node, { namespace = "other" }) },
      { bindings, binding("b", node, { namespace = "other" }) }, { bindings, "{" },
      { bindings, binding("b", node, { annotations = { x = "y" } }) },
    } do
      codes[i] = code_of("POST", one[1], one[2])
    end
    assert.same({ 404, 400, 500, 400, 201, 409, 201, 404, 404, 400, 400, 400, 400, 201 }, codes)
    assert.equal("y", ask("GET", PODS .. "/b").metadata.annotations.x)
    for _, method in ipairs { "GET", "DELETE" } do assert.equal(405, code_of(method, bindings)) end
    assert.equal(404, code_of("PUT", bindings .. "/x", binding("a", node)))
  end)

  it("says why a budget forbids an eviction", function()
    local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    local function evict(name, options, own)
      return ask("POST", PODS .. "/" .. name .. "/eviction", { kind = "Eviction", apiVersion = "policy/v1",
        metadata = { name = own or name }, deleteOptions = options })
    end
    local function status(fields) ask("PATCH", budgets .. "/p/status", { status = fields }, MERGE) end
    local function condition(reason)
      return { { type = "DisruptionAllowed", status = "False", reason = reason, message = "why",
        lastTransitionTime = "2026-01-01T00:00:00Z" } }
    end
    local function ready(name, value)
      ask("PATCH", PODS .. "/" .. name .. "/status", { status = { phase = "Running", conditions = {
        { type = "Ready", status = value } } } }, MERGE)
    end
    for _, name in ipairs { "c", "d", "e" } do
      pod(name, "n", { app = "web" })
      ready(name, "True")
    end
    assert.equal(400, evict("c", nil, "d").code)
    assert.equal(400, evict("c", { gracePeriodSeconds = "x" }).code)
    assert.equal(404, evict("none").code)
    ask("POST", budgets, { kind = "PodDisruptionBudget", apiVersion = "policy/v1", metadata = { name = "p" },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } } })
    assert.equal(10, evict("c").details.retryAfterSeconds)
    status { observedGeneration = 1, disruptionsAllowed = 0, currentHealthy = 1, desiredHealthy = 1, expectedPods = 3 }
    assert.equal(429, evict("c").code)
    status { currentHealthy = 3 }
    assert.equal(429, evict("c").code)
    for _, reason in ipairs { "SyncFailed", "Other" } do
      status { conditions = condition(reason) }
      assert.equal(429, evict("c").code)
    end
    ready("d", "False") -- which is no loss
    assert.equal(201, evict("d", { dryRun = { "All" } }).code)
    assert.equal(201, evict("d").code)
    status { disruptionsAllowed = 1, currentHealthy = 2 }
    assert.equal(201, evict("c", { dryRun = { "All" } }).code)
    assert.equal(201, evict("c").code)
    local budget = ask("GET", budgets .. "/p").status
    assert.equal("InsufficientPods", budget.conditions[1].reason)
    ask("POST", budgets, { kind = "PodDisruptionBudget", apiVersion = "policy/v1", metadata = { name = "q" },
      spec = { minAvailable = 1, selector = { matchLabels = { app = "web" } } } })
    assert.equal(500, evict("e").code)
  end)

  it("writes quantities as they were, or as Go would", function()
    local given = { "010", "+5", "1.50", "1.500", "00", "0.5", "0100m", "1000m", "1E3", "1e+03", "0.0001", "1n",
      "1500u", "1000k", "1024Ki", "1.1Gi", "0.5Gi", "5.", ".5", " 5 ", "1e1000", "1e19", "1e-10", "5e-1", 1.5, 0.1,
      "9223372036854775808", "12345678901234567890123" }
    for i, quantity in ipairs(given) do
      assert.equal(200, code_of("POST", NAMESPACE .. "/resourcequotas", { kind = "ResourceQuota", apiVersion = "v1",
        metadata = { name = "q" .. i }, spec = { hard = { cpu = quantity } } }), quantity)
    end
  end)

  it("checks what is wanted of a log", function()
    local codes = {}
    for i, query in ipairs { "tailLines=-1", "tailLines=x", "tailLines=", "limitBytes=0", "limitBytes=-1&tailLines=-2",
      "sinceSeconds=0", "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", "sinceTime=x", "stream=Stdout" } do
      codes[i] = code_of("GET", PODS .. "/none/log?" .. query)
    end
    assert.same({ 422, 400, 400, 422, 422, 422, 422, 400, 422 }, codes)
  end)

  describe("answers reviews:", function()
    local attributes = { namespace = "default", verb = "get", resource = "pods" }
    local paths = { verb = "get", path = "/x" }

    local function review(kind, path, spec, namespace)
      return code_of("POST", AUTHORIZATION .. path, { kind = kind, apiVersion = "authorization.k8s.io/v1",
        spec = spec, metadata = namespace and { namespace = namespace } })
    end

    it("of access", function()
      local codes = {}
      for i, spec in ipairs {
        { user = "u", groups = { "system:masters" }, resourceAttributes = attributes },
        { groups = { "system:masters" }, nonResourceAttributes = paths }, { groups = { "system:masters" } },
        { user = "u", resourceAttributes = attributes, nonResourceAttributes = paths },
        { resourceAttributes = attributes }, { user = 1 }, { user = "u", resourceAttributes = { labelSelector = {
          rawSelector = "" } } }, { user = "u", resourceAttributes = { fieldSelector = { rawSelector = "a=b",
          requirements = { { key = "a", operator = "In", values = { "b" } } } } } },
      } do
        codes[i] = review("SubjectAccessReview", "subjectaccessreviews", spec)
      end
      assert.same({ 200, 200, 422, 422, 422, 400, 422, 422 }, codes)
      assert.equal(422, review("SelfSubjectAccessReview", "selfsubjectaccessreviews"))
      assert.equal(400, review("SelfSubjectAccessReview", "selfsubjectaccessreviews?fieldValidation=Strict",
        { resourceAttributes = attributes, unknown = 1 }))
      assert.equal(400, review("Pod", "subjectaccessreviews", { user = "u" }))
      for _, body in ipairs { "{", "{}", "[]" } do ask("POST", AUTHORIZATION .. "subjectaccessreviews", body) end
      assert.equal(405, code_of("GET", AUTHORIZATION .. "subjectaccessreviews"))
      assert.equal(404, code_of("PUT", AUTHORIZATION .. "subjectaccessreviews/x", "{}"))
    end)

    it("of access in a namespace", function()
      local path, codes = "namespaces/default/localsubjectaccessreviews", {}
      local function masters(more)
        more.groups = { "system:masters" }
        return more
      end
      for i, one in ipairs {
        { masters { resourceAttributes = attributes } }, { masters { resourceAttributes = attributes }, "default" },
        { masters { resourceAttributes = attributes }, "other" },
        { masters { resourceAttributes = { namespace = "other", verb = "get", resource = "pods" } } },
        { masters { resourceAttributes = { verb = "get", resource = "pods" } } },
        { masters { nonResourceAttributes = paths } }, { { resourceAttributes = attributes } }, {},
      } do
        codes[i] = review("LocalSubjectAccessReview", path, one[1], one[2])
      end
      assert.same({ 200, 200, 400, 422, 422, 422, 422, 422 }, codes)
      assert.equal(404, review("LocalSubjectAccessReview", "localsubjectaccessreviews", {}))
      assert.equal(405, code_of("GET", AUTHORIZATION .. path))
    end)

    it("of rules and tokens", function()
      for _, spec in ipairs { cjson.decode "{}", cjson.null } do
        assert.equal(400, review("SelfSubjectRulesReview", "selfsubjectrulesreviews", spec))
      end
      assert.equal(400, code_of("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { kind = "TokenReview",
        apiVersion = "authentication.k8s.io/v1" }))
    end)
  end)

  it("has kubectl create what it knows of a List", function()
    local file = temp.name()
    local function map(kind, name, version)
      return { kind = kind, apiVersion = version or "v1", metadata = { name = name, namespace = "default" } }
    end
    temp.write(file, cjson.encode { kind = "List", apiVersion = "v1", items = {
      map("ConfigMap", "l1"), map("Nope", "l2", "example.com/v1"), map("ConfigMap", "l3") } })
    local wanted, code = both.real:try_kubectl("create --filename " .. file)
    local found, sim_code = temp.run("build/real/kubectl --server " .. both.sim.server .. " create --filename "
      .. file)
    os.remove(file)
    assert.has_match('no matches for kind "Nope"', wanted, 1, true)
    assert.same({ wanted, code }, { found, sim_code })
  end)

  it("serves the old paths of watches", function()
    ask("POST", NAMESPACE .. "/configmaps", { kind = "ConfigMap", apiVersion = "v1", metadata = { name = "w" } })
    local event = ask("GET", "/api/v1/watch/namespaces/default/configmaps/w?timeoutSeconds=1")
    assert.equal("w", event.object.metadata.name)
    for _, path in ipairs { "/apis/apps/v1/watch/deployments", "/api/v1/watch/nodes/x",
      "/apis/apps/v1/watch/namespaces/default/deployments" } do
      ask("GET", path .. "?timeoutSeconds=1&watch=false")
    end
    ask("GET", "/api/v1/watch/nope")
    ask("DELETE", "/api/v1/watch/namespaces/default/configmaps/w")
    ask("POST", "/api/v1/watch/namespaces/default/configmaps")
  end)

  it("is healthy in each of its parts", function()
    for _, path in ipairs { "/livez", "/livez/ping", "/readyz/ping", "/healthz/ping", "/healthz/etcd", "/healthz/log",
      "/livez/none", "/healthz/", "/logs", "/flagz" } do
      ask("GET", path)
    end
    ask("POST", "/livez/ping")
  end)
end)
