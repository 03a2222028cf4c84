-- `kubelua sim`: writes where a server does something that few expect.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local core = "/api/v1/namespaces/default/"
local configmaps = core .. "configmaps"
local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local widgets = "/apis/example.com/v1/namespaces/default/widgets"

describe("an odd write to the simulated server #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  local function refused(method, path, body, code, reason, message, content_type)
    local status = sim.api:request(method, path, body, content_type, code)
    assert.are.equal(reason, status.reason)
    assert.are.equal(message, status.message)
  end

  -- With the headers.
  local function head_of(method, path, body, content_type)
    local curl = "curl --silent --include --request %s --header 'Content-Type: %s' --data-binary '%s' '%s'"
    return (temp.run(curl:format(method, content_type, body, sim.api.server .. path)))
  end

  it("answers as a server where several things are wrong, or a kind is another than most", function()
    local pods, events = core .. "pods", core .. "events"
    sim.api:create(pods, { metadata = { name = "p" }, spec = {
      nodeName = "n1", containers = { { name = "c", image = "i:1" } } } })
    local binding = { kind = "Binding", apiVersion = "v1", metadata = { name = "p" }, target = { name = "n2" } }
    refused("POST", pods .. "/p/binding", binding, 409, "Conflict",
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"')
    sim.api:delete(pods .. "/p?gracePeriodSeconds=60")
    refused("POST", pods .. "/p/binding", binding, 409, "Conflict",
      'Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host')
    local event = { metadata = { name = "e" }, involvedObject = { namespace = "other" } }
    refused("POST", "/api/v1/namespaces/nowhere/events", event, 404, "NotFound", 'namespaces "nowhere" not found')
    refused("GET", events .. "/e?resourceVersion=x", nil, 400, "BadRequest",
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax')
    local late = sim.api:request("GET", events .. "/e?resourceVersion=9000000000000000000", nil, nil, 504)
    assert.is_nil(late.details.retryAfterSeconds)
    local large = temp.name()
    temp.write(large, ("x"):rep(3 * 1024 * 1024 + 1))
    refused("POST", configmaps .. "?dryRun=None", "@" .. large, 413, "RequestEntityTooLarge",
      "Request entity too large: limit is 3145728")
    local apply = "application/apply-patch+yaml"
    local given = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"%s"}}'
    refused("PATCH", configmaps .. "/b?fieldManager=m", given:format "other", 400, "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request", apply)
    sim.api:request("PATCH", configmaps .. "/a?fieldManager=m", given:format "default" .. " and more", apply, 201)
  end)

  it("looks at what is applied as a server does", function()
    local apply = "application/apply-patch+yaml"
    local given = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1",\n"a":"2"}}'
    local twice = 'line 2: key \\"a\\" already set in map'
    refused("PATCH", configmaps .. "/a?fieldManager=m&fieldValidation=Strict", given, 400, "BadRequest",
      "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  " .. twice:gsub("\\", ""),
      apply)
    local head = head_of("PATCH", configmaps .. "/a?fieldManager=m", given, apply)
    assert.has_match('299 - "' .. twice .. '"', head, 1, true)
    local other = given:gsub('"2"', '"3"')
    refused("PATCH", configmaps .. "/a?fieldManager=other&fieldValidation=Strict", other, 409, "Conflict",
      'Apply failed with 1 conflict: conflict with "m": .data.a', apply) -- which comes before that
    given = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","uid":"u"}}'
    refused("PATCH", configmaps .. "/b?fieldManager=m", given, 409, "Conflict",
      'Operation cannot be fulfilled on configmaps "b": uid mismatch: the provided object specified uid u, and no '
        .. "existing object was found", apply)
  end)

  it("takes a list for a merge patch where nothing is looked at, and cannot read the result", function()
    sim.api:create(configmaps, { metadata = { name = "a" } })
    local merge = "application/merge-patch+json"
    local status = sim.api:request("PATCH", configmaps .. "/a?fieldValidation=Ignore", "[]", merge, 422)
    local unread = "couldn't get version/kind; json parse error: json: cannot unmarshal array"
    assert.has_match(unread, status.message, 1, true)
    sim.api:request("PATCH", configmaps .. "/a", "[]", merge, 400)
  end)

  it("keeps the time of deletion of what an update creates, not of what a create does", function()
    local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a"
    local time = "2020-01-01T00:00:00Z"
    local lease = { metadata = { name = "a", deletionTimestamp = time } }
    assert.are.equal(time, sim.api:update(leases, lease).metadata.deletionTimestamp)
    assert.are.equal(time, sim.api:get(leases).metadata.deletionTimestamp)
    assert.is_nil(sim.api:create(configmaps, lease).metadata.deletionTimestamp)
  end)

  it("warns of finalizers that an update adds to a custom object, and has no owners of what has no form", function()
    local schema = { openAPIV3Schema = { type = "object", properties = { status = { type = "object" } } } }
    local version = { name = "v1", served = true, storage = true, subresources = { status = {} }, schema = schema }
    local names = { kind = "Widget", plural = "widgets", singular = "widget" }
    local spec = { group = "example.com", scope = "Namespaced", names = names, versions = { version } }
    sim.api:create(crds, { metadata = { name = "widgets.example.com" }, spec = spec })
    local metadata = { name = "w", labels = { a = "b" } }
    local with = { kind = "Widget", apiVersion = "example.com/v1", metadata = metadata, status = 1 }
    assert.is_nil(sim.api:create(widgets, with).metadata.managedFields)
    local merge = "application/merge-patch+json"
    sim.api:request("PATCH", widgets .. "/w", '{"metadata":{"finalizers":["one"]}}', merge, 200)
    local head = head_of("PATCH", widgets .. "/w", '{"metadata":{"finalizers":["one","two"]}}', merge)
    assert.has_match('metadata.finalizers: \\"two\\": prefer a domain-qualified finalizer name', head, 1, true)
    assert.has_no_match('\\"one\\"', head, 1, true)
  end)

  it("removes the endpoints of a service with it", function()
    local service = { metadata = { name = "a" }, spec = { clusterIP = "None", ports = { { port = 80 } } } }
    sim.api:create(core .. "services", service)
    for _, name in ipairs { "a", "b" } do sim.api:create(core .. "endpoints", { metadata = { name = name } }) end
    sim.api:delete(core .. "services/a")
    sim.api:request("GET", core .. "endpoints/a", nil, nil, 404)
    sim.api:request("GET", core .. "endpoints/b", nil, nil, 200)
  end)
end)
