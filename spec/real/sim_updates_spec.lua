-- Updates whose rules are of one kind or one field: the same requests to the simulator and to the real server give the
-- same codes and bodies.
local cjson = require "cjson"
local both_servers = require "spec.support.both_servers"
local crds = require "spec.support.crds"

local CORE = "/api/v1/namespaces/default/"
local JOBS, CONTROLLERS = "/apis/batch/v1/namespaces/default/jobs", CORE .. "replicationcontrollers"
local MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
local EMPTY = cjson.decode "{}"

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  local function object(kind, version, name, more)
    local all = { kind = kind, apiVersion = version, metadata = { name = name } }
    for key, value in pairs(more or {}) do all[key] = value end
    return all
  end

  -- A workload whose template has these labels, or none.
  local function workload(kind, version, name, labels, own)
    local all = object(kind, version, name, { spec = { template = { metadata = labels and { labels = labels },
      spec = { restartPolicy = kind == "Job" and "Never" or nil, containers = { { name = "c", image = "i" } } } } } })
    all.metadata.labels = own
    return all
  end

  it("has no empty map come into what is immutable", function()
    for _, row in ipairs { { "ConfigMap", "data" }, { "ConfigMap", "binaryData" }, { "Secret", "data" } } do
      local kind, field = row[1], row[2]
      local path, name = CORE .. kind:lower() .. "s", "empty-" .. field:lower()
      ask("POST", path, object(kind, "v1", name, { immutable = true }))
      local codes = {}
      for i, body in ipairs {
        { "PUT", object(kind, "v1", name, { immutable = true }) },
        { "PUT", object(kind, "v1", name, { immutable = true, [field] = EMPTY }) },
        { "PATCH", { [field] = EMPTY } }, { "PATCH", { [field] = cjson.null } },
      } do
        codes[i] = ask(body[1], path .. "/" .. name, body[2], body[1] == "PATCH" and MERGE or nil).code or 200
      end
      local refused = (kind == "Secret" or field == "binaryData") and 422 or 200
      assert.same({ 200, refused, refused, 200 }, codes)
    end
  end)

  it("shows the selfLink of a body in a dry run, and stores none", function()
    local path = CORE .. "configmaps"
    local body = object("ConfigMap", "v1", "linked")
    ask("POST", path, body)
    body.metadata.selfLink = "/x"
    assert.equal("/x", ask("PUT", path .. "/linked?dryRun=All", body).metadata.selfLink)
    assert.equal("/x", ask("PATCH", path .. "/linked?dryRun=All", { metadata = { selfLink = "/x" } }, MERGE)
      .metadata.selfLink)
    assert.is_nil(ask("PUT", path .. "/linked", body).metadata.selfLink)
    assert.is_nil(ask("POST", path .. "?dryRun=All", object("ConfigMap", "v1", "other")).metadata.selfLink)
  end)

  -- A server has a finalizer of each claim, and shows what differs behind the message.
  it("grows claims that are bound", function()
    local claims, path = CORE .. "persistentvolumeclaims", CORE .. "persistentvolumeclaims/grown"
    ask("POST", "/apis/storage.k8s.io/v1/storageclasses", object("StorageClass", "storage.k8s.io/v1", "grows",
      { provisioner = "example.com/p", allowVolumeExpansion = true }))
    local function send(method, to, body, content_type)
      local answers = {}
      for i, api in ipairs { both.real:api(), both.sim.api } do
        local code, text = api:curl(method, to, body, content_type)
        answers[i] = { code, code < 300 or cjson.decode(text).message:gsub("\n.*", "") }
      end
      assert.same(answers[1], answers[2])
      return answers[1][1]
    end
    local function status(fields) return send("PATCH", path .. "/status", { status = fields }, MERGE) end
    local function patch(fields) return send("PATCH", path, { spec = fields }, MERGE) end
    local function size(text) return patch { resources = { requests = { storage = text } } } end
    local function class(name) return patch { volumeAttributesClassName = name } end

    send("POST", claims, object("PersistentVolumeClaim", "v1", "grown", { spec = { storageClassName = "grows",
      accessModes = { "ReadWriteOnce" }, resources = { requests = { storage = "1Gi" } } } }))
    assert.same({ 200, 422, 422, 422 }, { patch { volumeName = "v" }, patch { volumeName = "w" }, size "2Gi",
      class "x" })
    status { phase = "Bound", capacity = { storage = "1Gi" } }
    assert.same({ 200, 200, 422, 422, 422 }, { size "3Gi", size "2Gi", size "1Gi", size "1Mi", size(cjson.null) })
    assert.same({ 200, 200, 200 }, { class "x", class(cjson.null), class "y" })
    assert.same({ 422, 422 }, { patch { volumeName = "w" }, patch { volumeAttributesClassName = "z",
      accessModes = { "ReadWriteMany" } } })
    status { currentVolumeAttributesClassName = "y" }
    assert.same({ 422, 422, 200 }, { class "", class(cjson.null), class "z" })
  end)

  it("marks a namespace without finalizers before it removes it", function()
    local namespace = object("Namespace", "v1", "bare")
    ask("POST", "/api/v1/namespaces", namespace)
    ask("PUT", "/api/v1/namespaces/bare/finalize", namespace)
    assert.equal("Terminating", ask("DELETE", "/api/v1/namespaces/bare").status.phase)
  end)

  it("counts a new generation for an empty list in a policy or a webhook", function()
    local path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
    local function policy(spec) return object("NetworkPolicy", "networking.k8s.io/v1", "p", { spec = spec }) end
    ask("POST", path, policy { podSelector = EMPTY })
    ask("PUT", path .. "/p", policy { podSelector = { matchLabels = EMPTY } })
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    local function hooks(selector)
      return object("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "w", { webhooks = { {
        name = "a.example.com", sideEffects = "None", admissionReviewVersions = { "v1" }, namespaceSelector = selector,
        failurePolicy = "Ignore", clientConfig = { url = "https://127.0.0.1:1/" } } } })
    end
    ask("POST", path, hooks(EMPTY))
    assert.equal(1, ask("PATCH", path .. "/w", hooks(EMPTY), MERGE).metadata.generation)
    assert.equal(2, ask("PATCH", path .. "/w", hooks { matchLabels = EMPTY }, MERGE).metadata.generation)
    ask("DELETE", path .. "/w")
  end)

  it("merges each field of a strategic merge patch as its type says", function()
    local budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    ask("POST", budgets, object("PodDisruptionBudget", "policy/v1", "p", { spec = { minAvailable = 1,
      selector = { matchLabels = { a = "b" } } } }))
    local changed = ask("PATCH", budgets .. "/p", { spec = { selector = { matchLabels = { c = "d" } } } }, STRATEGIC)
    assert.same({ c = "d" }, changed.spec.selector.matchLabels)
    ask("PATCH", budgets .. "/p", { spec = { selector = { matchLabels = EMPTY } } }, STRATEGIC)
    ask("POST", CORE .. "endpoints", object("Endpoints", "v1", "e", { subsets = { {
      addresses = { { ip = "192.0.2.1" } }, ports = { { port = 80 } } } } }))
    ask("PATCH", CORE .. "endpoints/e", { subsets = { { addresses = { { ip = "192.0.2.2" } } } } }, STRATEGIC)
    local pod = object("Pod", "v1", "gated", { spec = { schedulingGates = { { name = "a.b/c" }, { name = "a.b/d" } },
      containers = { { name = "c", image = "i" } } } })
    ask("POST", CORE .. "pods", pod)
    ask("PATCH", CORE .. "pods/gated", { spec = { schedulingGates = { { name = "a.b/c", ["$patch"] = "delete" } } } },
      STRATEGIC)
    local status = { podIPs = { { ip = "192.0.2.3" } }, podIP = "192.0.2.3" }
    ask("PATCH", CORE .. "pods/gated/status", { status = status }, STRATEGIC)
    for _, retained in ipairs { { "x" }, { "app" }, "app", { "app", 1 } } do
      ask("PATCH", CORE .. "pods/gated", { metadata = { labels = { app = "a", ["$retainKeys"] = retained } } },
        STRATEGIC)
    end
  end)

  -- A JSON patch as text: a table would give the names of an operation in any order.
  local function operations(...)
    local list = {}
    for i, one in ipairs { ... } do
      list[i] = ('{"op":"%s","path":"%s"%s}'):format(one[1], one[2], one[3] and "," .. one[3] or "")
    end
    return "[" .. table.concat(list, ",") .. "]"
  end

  it("names the first mistake in the order in which a JSON or merge patch leaves what it does not look into", function()
    local JSON_PATCH, path = "application/json-patch+json", CORE .. "pods/ordered"
    ask("POST", CORE .. "pods", object("Pod", "v1", "ordered", { spec = { terminationGracePeriodSeconds = 5,
      nodeSelector = { b = "c" }, containers = { { name = "c", image = "i", args = { "a" } } } } }))
    local copy = { "copy", "/metadata/labels", '"from":"/spec"' }
    local mixed = '"value":{"z":1,"y":[],"x":{"c":1,"b":true}}'
    local refused = 0
    local function text_of(status) -- the object in the message may be told in another order
      return (status.message:gsub('Invalid value: "%b{}"', "Invalid value"))
    end
    local function refuse(patch, content_type)
      local _, wanted = both.real:api():curl("PATCH", path, patch, content_type)
      local _, found = both.sim.api:curl("PATCH", path, patch, content_type)
      assert.equal(text_of(cjson.decode(wanted)), text_of(cjson.decode(found)), patch)
      refused = refused + 1
    end
    for _, patch in ipairs {
      { copy }, { { "test", "/spec/nodeSelector/b", '"value":"c"' }, copy },
      { { "add", "/spec/nodeName", '"value":"n"' }, copy }, { { "remove", "/spec/containers" }, copy },
      { { "test", "/spec/containers/0/name", '"value":"c"' }, copy },
      { { "add", "/metadata/labels", '"value":{}' }, { "move", "/metadata/labels/x", '"from":"/spec"' } },
      { { "add", "/metadata/annotations", mixed } },
      { { "add", "/metadata/annotations", mixed }, { "replace", "/metadata/annotations/w", '"value":"s"' } },
      { { "add", "/metadata/annotations", mixed }, { "test", "/metadata/annotations", mixed } },
      { { "add", "/metadata/annotations", mixed }, { "copy", "/metadata/labels", '"from":"/metadata/annotations/x"' } },
    } do
      refuse(operations(unpack(patch)), JSON_PATCH)
    end
    for _, patch in ipairs {
      '{"metadata":{"labels":{"z":1,"y":[]}}}', '{"metadata":{"labels":[]},"spec":1}',
      '{"spec":{"containers":[{"name":1,"image":2,"args":null}]}}',
      '{"spec":{"nodeSelector":{"z":{"d":1,"c":2},"a":[]}}}',
    } do
      refuse(patch, MERGE)
    end
    assert.equal(14, refused)
  end)

  it("reads the paths of a JSON patch as evanphx does, and prunes nulls of what a merge patch brings", function()
    local JSON_PATCH, path = "application/json-patch+json", CORE .. "pods/paths"
    ask("POST", CORE .. "pods", object("Pod", "v1", "paths", { metadata = { name = "paths", labels = { a = "b" },
      finalizers = { "a.b/c", "a.b/d" } }, spec = { containers = { { name = "c", image = "i" } } } }))
    local codes = {}
    for i, patch in ipairs {
      { { "add", "x/metadata/labels/c", '"value":"d"' } }, { { "add", "metadata", '"value":{}' } },
      { { "add", "/metadata/labels/a~2", '"value":"d"' } }, { { "replace", "", '"value":5' } },
      { { "replace", "", '"value":null' } }, { { "copy", "/metadata/labels/x", '"from":""' } },
      { { "add", "/metadata/finalizers/-1", '"value":"a.b/e"' } }, { { "remove", "/metadata/finalizers/-3" } },
      { { "test", "/metadata/finalizers/+1", '"value":"a.b/e"' } }, { { "remove", "/metadata/finalizers/01" } },
      { { "remove", "/metadata/finalizers/-" } }, { { "test", "/spec/terminationGracePeriodSeconds", '"value":30.0' } },
      { { "test", "/spec/terminationGracePeriodSeconds", '"value":30' } },
      { { "move", "/metadata/labels/a/b", '"from":"/metadata/labels/a"' } }, { { "remove", "" } },
    } do
      codes[i] = ask("PATCH", path, operations(unpack(patch)), JSON_PATCH).code or 200
    end
    assert.same({ 200, 422, 422, 422, 422, 422, 200, 200, 200, 200, 422, 422, 200, 422, 422 }, codes)
    for _, api in ipairs { both.real:api(), both.sim.api } do crds.create(api, "prunes", "example.com") end
    local custom = crds.objects("prunes", "example.com")
    ask("POST", custom, object("Prune", "example.com/v1", "p", { spec = { map = { a = 1 } } }))
    local merged = ask("PATCH", custom .. "/p", '{"spec":{"list":[{"b":null,"c":1},null],"map":[{"d":null}]}}', MERGE)
    assert.same({ { c = 1 }, cjson.null }, merged.spec.list)
    assert.same({ { d = cjson.null } }, merged.spec.map)
  end)

  it("has an apply that brings no number and no text for a port or a percentage refused by the decoder", function()
    local containers = '"containers":[{"name":"c","image":"i"%s}]'
    for _, row in ipairs {
      { "/apis/policy/v1/namespaces/default/poddisruptionbudgets", "policy/v1", "PodDisruptionBudget",
        '{"minAvailable":%s}' },
      { CORE .. "services", "v1", "Service", '{"ports":[{"port":80,"targetPort":%s}]}' },
      { CORE .. "pods", "v1", "Pod", "{" .. containers:format ',"livenessProbe":{"httpGet":{"port":%s}}' .. "}" },
      { CORE .. "pods", "v1", "Pod", "{" .. containers:format ',"resources":{"limits":{"cpu":%s}}' .. "}" },
    } do
      for _, value in ipairs { "[]", '[{"a":1}]', "{}", "true" } do
        local body = ('{"apiVersion":"%s","kind":"%s","metadata":{"name":"odd"},"spec":%s}'):format(row[2], row[3],
          row[4]:format(value))
        assert.equal(500, ask("PATCH", row[1] .. "/odd?fieldManager=a", body, "application/apply-patch+yaml").code)
      end
    end
  end)

  -- Some of these updates get a new version: both servers give as many.
  local function renewed(path, bodies)
    local list = {}
    local before, sim_before = ask("GET", path)
    for i, body in ipairs(bodies) do
      local wanted, found = ask(body[1], path .. (body[4] or ""), body[2], body[3])
      list[i] = wanted.metadata.resourceVersion ~= before.metadata.resourceVersion
      assert.equal(list[i], found.metadata.resourceVersion ~= sim_before.metadata.resourceVersion, i)
      assert.same(wanted.metadata.labels and next(wanted.metadata.labels) ~= nil, found.metadata.labels
        and next(found.metadata.labels) ~= nil)
      before, sim_before = ask("GET", path)
    end
    return list
  end

  it("stores a job or a controller whose labels are not in the body anew each time", function()
    for _, row in ipairs { { "Job", "batch/v1", JOBS }, { "ReplicationController", "v1", CONTROLLERS } } do
      local kind, version, path = row[1], row[2], row[3]
      local function of(...) return workload(kind, version, "labels", ...) end
      ask("POST", path, of { t = "l" })
      local nothing = { metadata = EMPTY }
      local list = renewed(path .. "/labels", {
        { "PUT", of(), nil, "/status" }, { "PUT", of(), nil, "/status" }, { "PATCH", nothing, MERGE },
        { "PATCH", nothing, MERGE }, { "PUT", of { o = "p" }, nil, "/status" },
        { "PUT", of { o = "p" }, nil, "/status" }, { "PUT", of({ o = "p" }, { own = "1" }), nil, "/status" },
        { "PATCH", { metadata = { labels = cjson.null } }, MERGE }, { "PUT", of(), nil, "/status" },
        { "PATCH", { metadata = { labels = cjson.null } }, MERGE, "/status" },
      })
      assert.same({ true, true, true, false, true, false, true, true, true, true }, list)
      assert.same({ "orphan" }, ask("DELETE", path .. "/labels").metadata.finalizers)
    end
  end)

  it("keeps a claim of devices as it is, and shows what was asked for", function()
    local devices = { requests = { { name = "r", exactly = { deviceClassName = "c", count = 2,
      capacity = { requests = { b = "1Gi", a = "2" } }, tolerations = { { operator = "Exists" } } } } } }
    local other = { requests = { { name = "r", firstAvailable = { { name = "x", deviceClassName = "c",
      selectors = { { cel = { expression = "true" } } } } } } }, constraints = { { matchAttribute = "d/a" } },
      config = { { requests = { "r/x" }, opaque = { driver = "d", parameters = { z = 1 } } } } }
    for kind, of in pairs {
      ResourceClaim = function(one) return { devices = one } end,
      ResourceClaimTemplate = function(one)
        return { metadata = { labels = { b = "c", a = "d" } }, spec = { devices = one } }
      end,
    } do
      local path = "/apis/resource.k8s.io/v1/namespaces/default/" .. kind:lower() .. "s"
      local function claim(one) return object(kind, "resource.k8s.io/v1", "c", { spec = of(one) }) end
      ask("POST", path, claim(devices))
      assert.equal(422, ask("PUT", path .. "/c", claim(other)).code)
      assert.equal(422, ask("PUT", path .. "/c", claim { requests = { { name = "R" } } }).code)
      local same = claim(devices)
      same.metadata.labels = { own = "1" }
      assert.is_nil(ask("PUT", path .. "/c", same).code)
    end
  end)

  it("has each condition of a priority level once", function()
    local path = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
    local level = object("PriorityLevelConfiguration", "flowcontrol.apiserver.k8s.io/v1", "l", { spec = {
      type = "Limited", limited = { limitResponse = { type = "Reject" } } } })
    ask("POST", path, level)
    level.status = { conditions = { { type = "" }, { type = "a" }, { type = "" }, { type = "a" } } }
    assert.equal(422, ask("PUT", path .. "/l/status", level).code)
    level.spec.limited.lendablePercent = 101
    assert.equal(422, ask("PUT", path .. "/l", level).code)
    ask("DELETE", path .. "/l")
  end)

  it("stores bytes that are null anew each time, and once more as none", function()
    for _, row in ipairs { { "Secret", "secrets", "data" }, { "ConfigMap", "configmaps", "binaryData" } } do
      local path, nothing = CORE .. row[2], { metadata = EMPTY }
      local function of(value) return object(row[1], "v1", "bytes", { [row[3]] = { a = value, b = "" } }) end
      local null, none = of(cjson.null), of ""
      ask("POST", path, null)
      local replaced = operations { "replace", "/" .. row[3] .. "/a", '"value":null' }
      local list = renewed(path .. "/bytes", {
        { "PUT", null }, { "PUT", null }, { "PUT", none }, { "PUT", none }, { "PUT", null },
        { "PATCH", nothing, MERGE }, { "PATCH", nothing, MERGE }, { "PATCH", replaced, "application/json-patch+json" },
        { "PATCH", replaced, "application/json-patch+json" }, { "PATCH", nothing, STRATEGIC },
        { "PATCH", nothing, STRATEGIC },
        { "PATCH", null, "application/apply-patch+yaml", "?fieldManager=x&force=true" },
        { "PATCH", nothing, STRATEGIC }, { "PATCH", nothing, STRATEGIC },
      })
      assert.same({ true, true, true, false, true, true, false, true, true, true, false, true, true, false }, list)
    end
  end)

  it("holds the status of a job to more the more of it has changed", function()
    local function condition(...)
      local list = {}
      for _, type in ipairs { ... } do list[#list + 1] = { type = type, status = "True" } end
      return list
    end
    local first, later = "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"
    local done = { startTime = first, completionTime = later, succeeded = 1,
      conditions = condition("SuccessCriteriaMet", "Complete") }
    local failed = { startTime = first, failed = 1, conditions = condition("FailureTarget", "Failed") }
    local pods = { active = 2, ready = 1, terminating = 1, startTime = first,
      uncountedTerminatedPods = { succeeded = { "a" }, failed = { "b" } } }
    local statuses = {
      { active = -1, ready = -1, terminating = -1 }, { completionTime = later },
      { startTime = later, completionTime = first }, { conditions = condition("Complete", "Failed") },
      { conditions = condition("Complete", "FailureTarget"), active = 1 }, { startTime = first,
        conditions = condition("Failed", "SuccessCriteriaMet") }, { ready = 1 }, { completedIndexes = "1" },
      { completedIndexes = "x,2-1,9" }, { failedIndexes = "0" }, { completedIndexes = "0-2", failedIndexes = "2,1" },
      { completedIndexes = "1-2-3" }, { completedIndexes = "0", failedIndexes = "0" }, { completedIndexes = "2,1" },
      { uncountedTerminatedPods = { succeeded = { "a", "" }, failed = { "a" } } },
      { startTime = first, active = 1, terminating = 1, uncountedTerminatedPods = { failed = { "x" } },
        conditions = condition("FailureTarget", "Failed") }, {}, done, failed, pods,
    }
    local refused, taken = 0, 0
    for j, spec in ipairs { EMPTY, { completionMode = "Indexed", completions = 3, parallelism = 3,
      backoffLimitPerIndex = 1 }, { suspend = true, completions = 0 } } do
      for b, before in ipairs { {}, done, failed, pods } do
        local name = ("status-%d-%d"):format(j, b)
        local job = workload("Job", "batch/v1", name)
        for key, value in pairs(spec) do job.spec[key] = value end
        ask("POST", JOBS, job)
        for _, status in ipairs(statuses) do
          job.status = before
          ask("PUT", JOBS .. "/" .. name .. "/status", job)
          job.status = status
          local code = ask("PUT", JOBS .. "/" .. name .. "/status?dryRun=All", job).code
          if code then refused = refused + 1 else taken = taken + 1 end
        end
      end
    end
    assert.is_true(refused > 150 and taken > 20, refused .. " " .. taken)
  end)
end)
