-- `kubelua sim`: create, update, patch, delete, subresources, custom resources, namespaces.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"
local watching = require "spec.support.watching"

local core = "/api/v1/namespaces/default/"
local configmaps = core .. "configmaps"
local initial = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

local function configmap(name, more)
  local metadata = { name = name }
  for key, value in pairs(more or {}) do metadata[key] = value end
  return { kind = "ConfigMap", apiVersion = "v1", metadata = metadata, data = { a = "b" } }
end

local function pod(name, node)
  return {
    kind = "Pod",
    apiVersion = "v1",
    metadata = { name = name },
    spec = { nodeName = node, containers = { { name = "c", image = "i:1" } } },
  }
end

local crd = {
  kind = "CustomResourceDefinition",
  apiVersion = "apiextensions.k8s.io/v1",
  metadata = { name = "widgets.example.com" },
  spec = {
    group = "example.com",
    scope = "Namespaced",
    names = { kind = "Widget", plural = "widgets", singular = "widget" },
    versions = {
      { name = "v1", served = true, storage = true, schema = cluster.any_schema,
        subresources = { status = {} } },
      { name = "v1beta1", served = true, storage = false, schema = cluster.any_schema },
    },
  },
}
local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local widgets = "/apis/example.com/v1/namespaces/default/widgets"
local widget = { kind = "Widget", apiVersion = "example.com/v1", metadata = { name = "w" }, spec = { size = 3 } }

describe("a write to the simulated server #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(function()
    watching.close_all()
    cluster.stop_all()
  end)

  local function refused(method, path, body, code, reason, message, content_type)
    local status = sim.api:request(method, path, body, content_type, code)
    assert.are.equal(reason, status.reason)
    assert.are.equal(message, status.message)
  end

  it("creates, and refuses what is there already", function()
    local made = sim.api:request("POST", configmaps, configmap "a", nil, 201)
    assert.has_match("^%x+%-%x+%-4%x+%-%x+%-%x+$", made.metadata.uid)
    assert.are.equal("default", made.metadata.namespace)
    refused("POST", configmaps, configmap "a", 409, "AlreadyExists", 'configmaps "a" already exists')
    refused("POST", "/api/v1/namespaces/nowhere/configmaps", configmap "a", 404, "NotFound",
      'namespaces "nowhere" not found')
    refused("GET", configmaps .. "/b", nil, 404, "NotFound", 'configmaps "b" not found')
    refused("GET", "/api/v1/nonsense", nil, 404, "NotFound", "the server could not find the requested resource")
    for _, path in ipairs { "/nonsense", "/apis/nonsense.example.com/v1/things" } do
      local code, text = sim.api:curl("GET", path)
      assert.are.same({ 404, "404 page not found\n" }, { code, text })
    end
    refused("POST", "/api/v1/configmaps", configmap "a", 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource")
  end)

  it("updates only the version that the client has seen", function()
    local seen = sim.api:create(configmaps, configmap "a")
    seen.data.a = "c"
    local updated = sim.api:update(configmaps .. "/a", seen)
    assert.is_true(updated.metadata.resourceVersion > seen.metadata.resourceVersion)
    seen.data.a = "d"
    refused("PUT", configmaps .. "/a", seen, 409, "Conflict",
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        .. "please apply your changes to the latest version and try again")
    seen.metadata.resourceVersion = nil
    assert.are.equal("d", sim.api:update(configmaps .. "/a", seen).data.a)
    refused("PUT", configmaps .. "/b", configmap "b", 404, "NotFound", 'configmaps "b" not found')
  end)

  it("keeps the version when nothing changes", function()
    local made = sim.api:create(configmaps, configmap "a")
    local same = sim.api:patch(configmaps .. "/a", { data = { a = "b" } })
    assert.are.equal(made.metadata.resourceVersion, same.metadata.resourceVersion)
    assert.are.same(made, sim.api:update(configmaps .. "/a", made))
  end)

  it("patches in three ways, and refuses the others", function()
    sim.api:create(configmaps, configmap("a", { labels = { x = "1", y = "2" } }))
    local path = configmaps .. "/a"
    local merged = sim.api:patch(path, '{"metadata":{"labels":{"x":null}},"data":{"n":"m"}}')
    assert.are.same({ y = "2" }, merged.metadata.labels)
    assert.are.same({ a = "b", n = "m" }, merged.data)
    local ops = '[{"op":"test","path":"/data/n","value":"m"},{"op":"remove","path":"/data/n"}]'
    local patched = sim.api:patch(path, ops, "json")
    assert.are.same({ a = "b" }, patched.data)
    local status = sim.api:request("PATCH", path, '[{"op":"test","path":"/data/a","value":"z"}]',
      "application/json-patch+json", 422)
    assert.are.equal("the server rejected our request due to an error in our request", status.message)
    assert.are.same({}, status.details)
    sim.api:request("PATCH", path, "{}", "application/json-patch+json", 400)
    sim.api:request("PATCH", path, "{", "application/merge-patch+json", 400)
    local strategic = "application/strategic-merge-patch+json"
    assert.are.same({ a = "b", s = "t" }, sim.api:request("PATCH", path, '{"data":{"s":"t"}}', strategic).data)
    for _, kind in ipairs { "application/apply-patch+cbor", "text/plain" } do
      status = sim.api:request("PATCH", path .. "?fieldManager=me", "{}", kind, 415)
      assert.are.equal("UnsupportedMediaType", status.reason)
      assert.are.equal("415: Unsupported Media Type", status.message)
    end
    local stale = '{"metadata":{"resourceVersion":"1"}}'
    sim.api:request("PATCH", path, stale, "application/merge-patch+json", 409)
  end)

  it("says as a real server what is wrong with a body", function()
    sim.api:create(configmaps, configmap "a")
    local unread = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
      .. "json parse error: "
    for body, message in pairs {
      ["{"] = unread .. "unexpected end of JSON input ({)",
      ['"text"'] = unread .. "json: cannot unmarshal string into Go value of type struct { APIVersion string "
        .. '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (227465787422)',
      ['{"kind":1}'] = unread .. 'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})',
      ["{}}"] = unread .. "invalid character '}' after top-level value ({}})",
    } do
      refused("POST", configmaps, body, 400, "BadRequest", message)
    end
    local merge, json = "application/merge-patch+json", "application/json-patch+json"
    refused("PATCH", configmaps .. "/a", "[]", 400, "BadRequest",
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}", merge)
    refused("PATCH", configmaps .. "/a", "null", 400, "BadRequest", "Invalid JSON Patch", merge)
    refused("PATCH", configmaps .. "/a", "[1]", 400, "BadRequest",
      "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp", json)
    refused("PATCH", configmaps .. "/a", '{"$patch":"odd"}', 500, nil,
      "unknown patch type: odd in map: map[$patch:odd]", "application/strategic-merge-patch+json")
    refused("PATCH", configmaps .. "/none", "{", 404, "NotFound", 'configmaps "none" not found', merge)
  end)

  it("looks at a body before it looks for the object", function()
    local unnamed = configmap "a"
    unnamed.metadata.name = nil
    refused("PUT", configmaps .. "/none", unnamed, 400, "BadRequest",
      "the name of the object (none based on URL) was undeterminable: name must be provided")
    refused("PUT", configmaps .. "/none", configmap "a", 400, "BadRequest",
      "the name of the object (a) does not match the name on the URL (none)")
    local large = temp.name()
    temp.write(large, '{"data":{"a":"' .. ("x"):rep(3145728) .. '"}}')
    refused("POST", configmaps, "@" .. large, 413, "RequestEntityTooLarge",
      "Request entity too large: limit is 3145728")
    os.remove(large)
    sim.api:create(configmaps, configmap("held", { finalizers = { "example.com/hold" } }))
    sim.api:delete(configmaps .. "/held")
    refused("POST", configmaps, configmap "held", 409, "AlreadyExists",
      'object is being deleted: configmaps "held" already exists')
  end)

  it("checks options", function()
    local options = 'Options.meta.k8s.io "" is invalid: '
    refused("POST", configmaps .. "?dryRun=all", configmap "a", 422, "Invalid",
      "Create" .. options .. 'dryRun: Unsupported value: ["all"]: supported values: "All"')
    refused("POST", configmaps .. "?fieldManager=" .. ("m"):rep(129), configmap "a", 422, "Invalid",
      "Create" .. options .. "fieldManager: Too long: may not be more than 128 bytes")
    refused("PUT", configmaps .. "/a?fieldValidation=Other", configmap "a", 422, "Invalid", "Update" .. options
      .. 'fieldValidation: Unsupported value: "Other": supported values: "", "Ignore", "Strict", "Warn"')
    refused("PATCH", configmaps .. "/a?force=true", "{}", 422, "Invalid",
      "Patch" .. options .. "force: Forbidden: may not be specified for non-apply patch",
      "application/merge-patch+json")
    refused("DELETE", configmaps .. "/a?propagationPolicy=Odd", nil, 422, "Invalid", "Delete" .. options
      .. 'propagationPolicy: Unsupported value: "Odd": supported values: "Foreground", "Background", "Orphan", "nil"')
    refused("DELETE", configmaps .. "/a", '{"orphanDependents":1}', 400, "BadRequest",
      "json: cannot unmarshal number into Go struct field DeleteOptions.orphanDependents of type bool")
    refused("DELETE", configmaps .. "/a", '{"kind":"Pod","apiVersion":"v1"}', 400, "BadRequest",
      'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')
  end)

  it("names each thing that is wrong with metadata, in a cause of its own", function()
    local regex = "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    local owner = { apiVersion = "v1", kind = "Pod", name = "p", uid = "u", controller = true }
    local status = sim.api:request("POST", configmaps,
      configmap("a", { labels = { ["a/"] = "" }, finalizers = { "nodomain" }, ownerReferences = { owner, owner } }),
      nil, 422)
    local expected = {
      { "metadata.labels", 'Invalid value: "a/": name part must be non-empty' },
      { "metadata.labels", "Invalid value: \"a/\": name part must consist of alphanumeric characters, '-', '_' or '.', "
        .. "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        .. "used for validation is " .. regex },
      { "metadata.ownerReferences", 'Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u",'
        .. '"controller":true},{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}]: Only one '
        .. 'reference can have Controller set to true. Found "true" in references for Pod/p and Pod/p' },
      { "metadata.finalizers[0]",
        'Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified' },
    }
    for i, cause in ipairs(expected) do
      assert.are.same(cause, { status.details.causes[i].field, status.details.causes[i].message })
    end
    assert.are.equal(#expected, #status.details.causes)
  end)

  it("refuses other kinds, versions and names of paths", function()
    sim.api:create(configmaps, configmap "a")
    local other = configmap "b"
    other.kind = "Other"
    refused("POST", configmaps, other, 400, "BadRequest", 'Other in version "v1" cannot be handled as a ConfigMap: '
      .. 'no kind "Other" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')
    refused("POST", configmaps, '{"apiVersion":"a/b/c"}', 400, "BadRequest", "the object provided is unrecognized "
      .. '(must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})')
    local kept = sim.api:request("PATCH", configmaps .. "/a", '{"kind":"Other","data":{"n":"1"}}',
      "application/strategic-merge-patch+json")
    assert.are.same({ "ConfigMap", "1" }, { kept.kind, kept.data.n })
    local status = sim.api:request("PATCH", configmaps .. "/a", '{"kind":"Other"}', "application/merge-patch+json", 422)
    assert.are.equal("patch", status.details.causes[1].field)
    assert.has_match('no kind "Other" is registered for version "v1" in scheme', status.message)
    refused("GET", configmaps .. "/%2e%2e", nil, 400, "BadRequest", [[Name parameter invalid: "..": may not be '..']])
    refused("GET", configmaps .. "/a?resourceVersion=abc", nil, 500, nil, 'resourceVersion: Invalid value: "abc": '
      .. 'strconv.ParseUint: parsing "abc": invalid syntax')
    sim.api:request("GET", configmaps .. "/a?resourceVersion=99999999999999999", nil, nil, 504)
  end)

  it("answers for custom resources as their own handler does", function()
    sim.api:create(crds, crd)
    sim.api:create(widgets, widget)
    refused("GET", widgets .. "/w/nothing", nil, 404, "NotFound", 'widgets.example.com "w" not found')
    refused("POST", widgets .. "/w/status", "{}", 405, "MethodNotAllowed",
      'create is not supported on resources of kind "widgets.example.com"')
    refused("PUT", widgets, widget, 400, "BadRequest", "name must be provided")
    local code, text = sim.api:curl("POST", "/apis/example.com/v1/widgets", widget)
    assert.are.same({ 404, "404 page not found\n" }, { code, text })
    refused("POST", widgets, '{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"x"}}', 422, "Invalid",
      'Other.example.com "x" is invalid: kind: Invalid value: "Other": must be Widget')
    refused("PATCH", widgets .. "/w", '{"apiVersion":"Other"}', 422, "Invalid",
      'Widget "w" is invalid: apiVersion: Invalid value: "Other": must be example.com/v1',
      "application/merge-patch+json")
  end)

  it("keeps an object whose dependents are still to be dealt with, and answers it", function()
    sim.api:create(configmaps, configmap "a")
    local left = sim.api:request("DELETE", configmaps .. "/a?propagationPolicy=Foreground")
    assert.are.equal("ConfigMap", left.kind)
    assert.are.same({ "foregroundDeletion" }, left.metadata.finalizers)
    assert.is_string(sim.api:get(configmaps .. "/a").metadata.deletionTimestamp)
    -- The body's options alone count where there are both.
    sim.api:request("DELETE", configmaps .. "/a?propagationPolicy=Foreground", '{"propagationPolicy":"Background"}')
    sim.api:request("GET", configmaps .. "/a", nil, nil, 404)
  end)

  it("deletes a collection until a precondition is not met", function()
    local uid = sim.api:create(configmaps, configmap "a").metadata.uid
    local other = sim.api:create(configmaps, configmap "b").metadata.uid
    refused("DELETE", configmaps, ('{"preconditions":{"uid":"%s"}}'):format(uid), 409, "Conflict",
      ('Operation cannot be fulfilled on ConfigMap "b": the UID in the precondition (%s) does not match the UID in '
        .. "record (%s). The object might have been deleted and then recreated"):format(uid, other))
    local list = sim.api:get(configmaps)
    assert.are.equal(1, #list.items)
    assert.are.equal("b", list.items[1].metadata.name)
  end)

  it("only tries with dryRun", function()
    local version = sim.api:create(configmaps, configmap "a").metadata.resourceVersion
    local tried = sim.api:create(configmaps .. "?dryRun=All", configmap "b")
    assert.is_nil(tried.metadata.resourceVersion)
    assert.is_string(tried.metadata.uid)
    refused("POST", configmaps .. "?dryRun=All", configmap "a", 409, "AlreadyExists", 'configmaps "a" already exists')
    sim.api:delete(configmaps .. "/a?dryRun=All")
    local patched = sim.api:request("PATCH", configmaps .. "/a?dryRun=All", '{"data":{"a":"z"}}',
      "application/merge-patch+json")
    assert.are.equal("z", patched.data.a)
    assert.are.equal(version, patched.metadata.resourceVersion) -- its own, as a real server has it
    local list = sim.api:get(configmaps)
    assert.are.equal(1, #list.items)
    assert.are.equal("b", list.items[1].data.a)
  end)

  it("waits with deletes for finalizers", function()
    sim.api:create(configmaps, configmap("a", { finalizers = { "example.com/hold" } }))
    local w = watching.open(sim.server, configmaps .. initial)
    w:short(2)
    assert.is_string(sim.api:delete(configmaps .. "/a").metadata.deletionTimestamp)
    assert.are.same({ "MODIFIED a" }, w:short(1))
    sim.api:patch(configmaps .. "/a", '{"metadata":{"finalizers":null}}')
    assert.are.same({ "DELETED a" }, w:short(1))
    sim.api:request("GET", configmaps .. "/a", nil, nil, 404)
  end)

  it("deletes pods on a node with grace, others at once", function()
    sim.api:create(core .. "pods", pod("free"))
    sim.api:create(core .. "pods", pod("bound", "node-1"))
    local w = watching.open(sim.server, core .. "pods" .. initial)
    w:short(3)
    sim.api:delete(core .. "pods/free")
    assert.are.same({ "MODIFIED free", "DELETED free" }, w:short(2))
    local going = sim.api:delete(core .. "pods/bound")
    assert.are.equal(30, going.metadata.deletionGracePeriodSeconds)
    assert.are.same({ "MODIFIED bound", "MODIFIED bound", "DELETED bound" }, w:short(3))
    sim.api:create(core .. "pods", pod("bound", "node-1"))
    w:short(1)
    sim.api:delete(core .. "pods/bound?gracePeriodSeconds=0")
    assert.are.same({ "MODIFIED bound", "DELETED bound" }, w:short(2))
  end)

  it("checks the preconditions of a delete", function()
    local made = sim.api:create(configmaps, configmap "a")
    local body = { preconditions = { uid = "00000000-0000-4000-8000-000000000000" } }
    assert.are.equal("Conflict", sim.api:request("DELETE", configmaps .. "/a", body, nil, 409).reason)
    body.preconditions.uid = made.metadata.uid
    local status = sim.api:request("DELETE", configmaps .. "/a", body, nil, 200)
    assert.are.equal("Success", status.status)
    assert.are.equal(made.metadata.uid, status.details.uid)
  end)

  it("deletes complete collections by selector", function()
    sim.api:create(configmaps, configmap("a", { labels = { x = "1" } }))
    sim.api:create(configmaps, configmap "b")
    local gone = sim.api:delete(configmaps .. "?labelSelector=x")
    assert.are.equal("a", gone.items[1].metadata.name)
    assert.are.equal("b", sim.api:get(configmaps).items[1].metadata.name)
    sim.api:delete(configmaps)
    assert.are.equal(0, #sim.api:get(configmaps).items)
  end)

  it("keeps spec and status apart", function()
    sim.api:create(core .. "pods", pod "p")
    sim.api:request("PATCH", core .. "pods/p/status", '{"status":{"phase":"Running"},"metadata":{"labels":{"x":"y"}}}',
      "application/merge-patch+json")
    sim.api:patch(core .. "pods/p", { status = { phase = "Failed" } })
    local now = sim.api:get(core .. "pods/p")
    assert.are.equal("Running", now.status.phase)
    assert.are.equal("Running", sim.api:get(core .. "pods/p/status").status.phase)
    sim.api:request("PATCH", configmaps .. "/a/status", "{}", "application/merge-patch+json", 404)
  end)

  it("binds a pod to a node", function()
    sim.api:create(core .. "pods", pod "p")
    sim.api:create(core .. "pods/p/binding",
      { kind = "Binding", apiVersion = "v1", metadata = { name = "p" }, target = { kind = "Node", name = "node-1" } })
    assert.are.equal("node-1", sim.api:get(core .. "pods/p").spec.nodeName)
  end)

  it("makes a lease by an update, as leader election may", function()
    local lease = {
      kind = "Lease",
      apiVersion = "coordination.k8s.io/v1",
      metadata = { name = "l" },
      spec = { holderIdentity = "me" },
    }
    local path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
    assert.are.equal("me", sim.api:request("PUT", path, lease, nil, 201).spec.holderIdentity)
  end)

  it("gives an address to one of several services that are created at once", function()
    local config = {}
    local service = [[{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s%d-%d\"},]]
      .. [[\"spec\":{\"clusterIP\":\"10.0.6.%d\",\"ports\":[{\"port\":80}]}}]]
    for round = 1, 40 do
      for i = 1, 8 do
        config[#config + 1] = ('url = "%s%sservices"\nheader = "Content-Type: application/json"\ndata = "%s"\n'
          .. 'output = "/dev/null"\n'):format(sim.server, core, service:format(round, i, round))
      end
    end
    local file = os.tmpname()
    temp.write(file, table.concat(config, "next\n"))
    temp.run("curl --silent --parallel --parallel-immediate --parallel-max 8 --config " .. file)
    os.remove(file)
    assert.are.equal(40, #sim.api:get(core .. "services").items)
  end)

  it("takes custom resources when their definition is there, until it goes", function()
    sim.api:request("GET", widgets, nil, nil, 404)
    assert.are.same({ acceptedNames = { plural = "", kind = "" }, conditions = cjson.null, storedVersions = { "v1" } },
      sim.api:create(crds, crd).status)
    assert.are.equal("Established", sim.api:get(crds .. "/widgets.example.com").status.conditions[2].type)
    sim.api:create(widgets, widget)
    local _, text = sim.api:curl("GET", widgets)
    assert.has_match('^{"apiVersion":"example.com/v1","items":%[{"apiVersion":"example.com/v1","kind":"Widget",', text)
    assert.has_match('%],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"%d+"}}', text)
    local old = sim.api:get "/apis/example.com/v1beta1/namespaces/default/widgets/w"
    assert.are.equal("example.com/v1beta1", old.apiVersion)
    assert.are.equal(3, old.spec.size)
    local w = watching.open(sim.server, widgets .. initial)
    assert.are.same({ "ADDED w", "BOOKMARK" }, w:short(2))
    sim.api:delete(crds .. "/widgets.example.com")
    assert.are.same({ "DELETED w" }, w:short(1))
    assert.are.equal(0, (w:finish()))
    sim.api:request("GET", widgets, nil, nil, 404)
    sim.api:request("GET", "/apis/example.com/v1", nil, nil, 404)
    sim.api:create(crds, crd)
    assert.are.equal(0, #sim.api:get(widgets).items)
  end)

  it("serves a version more when a definition changes, and keeps the objects", function()
    sim.api:create(crds, crd)
    sim.api:create(widgets, widget)
    local made = sim.api:get(crds .. "/widgets.example.com")
    local w = watching.open(sim.server, widgets .. initial)
    w:short(2)
    made.spec.versions[2].name = "v2"
    sim.api:update(crds .. "/widgets.example.com", made)
    assert.are.equal(3, sim.api:get("/apis/example.com/v2/namespaces/default/widgets/w").spec.size)
    sim.api:request("GET", "/apis/example.com/v1beta1/namespaces/default/widgets", nil, nil, 404)
    assert.are.equal(0, (w:finish(20))) -- its watches end, as on a real server
    sim.api:patch(widgets .. "/w", { spec = { size = 4 } })
    local again = watching.open(sim.server, widgets .. initial):next()
    assert.are.equal("ADDED", again.type)
    assert.are.equal(4, again.object.spec.size)
  end)

  it("takes the content of a namespace along", function()
    local namespaces = "/api/v1/namespaces"
    sim.api:create(namespaces, { kind = "Namespace", apiVersion = "v1", metadata = { name = "n" } })
    sim.api:create(namespaces .. "/n/configmaps", configmap "a")
    sim.api:create(namespaces .. "/n/configmaps", configmap("held", { finalizers = { "example.com/hold" } }))
    local w = watching.open(sim.server, namespaces .. initial .. "&fieldSelector=metadata.name%3Dn")
    w:short(2)
    assert.are.equal("Terminating", sim.api:delete(namespaces .. "/n").status.phase)
    assert.are.same({ "MODIFIED n" }, w:short(1))
    assert.are.equal("held", sim.api:get(namespaces .. "/n/configmaps").items[1].metadata.name)
    local status = sim.api:request("POST", namespaces .. "/n/configmaps", configmap "b", nil, 403)
    assert.has_match("because it is being terminated$", status.message)
    sim.api:patch(namespaces .. "/n/configmaps/held", '{"metadata":{"finalizers":null}}')
    assert.are.same({ "DELETED n" }, w:short(1))
  end)

  it("reports what is wrong with a body", function()
    sim.api:request("POST", configmaps, "{", nil, 400)
    sim.api:request("POST", configmaps, "apiVersion: v1", "application/cbor", 415)
    sim.api:request("POST", configmaps, pod "p", nil, 400)
    local status = sim.api:request("POST", configmaps, configmap "Not A Name", nil, 422)
    assert.are.equal("Invalid", status.reason)
  end)
end)
