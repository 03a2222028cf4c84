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

  it("shows nothing of an object whose last finalizer a delete would take, where it is tried only", function()
    local deployments = "/apis/apps/v1/namespaces/default/deployments"
    local template = { metadata = { labels = { a = "b" } }, spec = { containers = { { name = "c", image = "i" } } } }
    local spec = { replicas = 2, selector = { matchLabels = { a = "b" } }, template = template }
    for path, object in pairs {
      [deployments] = { metadata = { name = "d" }, spec = spec }, [configmaps] = { metadata = { name = "d" } },
    } do
      sim.api:create(path, object)
      sim.api:delete(path .. "/d?propagationPolicy=Foreground")
      local tried = sim.api:delete(path .. "/d?propagationPolicy=Background&dryRun=All")
      assert.are.same({}, tried.metadata)
      if path == deployments then assert.are.equal(0, tried.spec.replicas) end
      assert.are.equal("Success", sim.api:delete(path .. "/d?propagationPolicy=Background").status)
    end
  end)

  it("keeps the time of an owner whose write changes nothing", function()
    local roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    local rule = { apiGroups = { "" }, resources = { "pods" }, verbs = { "get" } }
    sim.api:create(roles, { metadata = { name = "r" }, rules = { rule } })
    local function empty()
      local role = sim.api:request("PATCH", roles .. "/r", '{"rules":[]}', "application/merge-patch+json", 200)
      return role.metadata.resourceVersion, role.metadata.managedFields[1].time
    end
    local version, time = empty()
    repeat until os.date "!%Y-%m-%dT%H:%M:%SZ" > time
    assert.are.same({ version, time }, { empty() })
  end)

  it("stores a job again that loses the labels which a server gives it", function()
    local jobs = "/apis/batch/v1/namespaces/default/jobs"
    local pod = { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    local job = { metadata = { name = "j" }, spec = { template = { spec = pod } } }
    sim.api:create(jobs, job)
    local function version_after(path, method, body, content_type)
      return sim.api:request(method, path, body, content_type, 200).metadata.resourceVersion
    end
    local merge = "application/merge-patch+json"
    local labelled = version_after(jobs .. "/j", "PATCH", "{}", merge) -- the labels are in the storage now
    assert.are.equal(labelled, version_after(jobs .. "/j", "PATCH", "{}", merge))
    local bare = version_after(jobs .. "/j/status", "PUT", job)
    assert.are_not.equal(labelled, bare)
    local again = version_after(jobs .. "/j/status", "PUT", job) -- it compares with the labels that it reads
    assert.are_not.equal(bare, again)
    assert.are_not.equal(again, version_after(jobs .. "/j", "PATCH", "{}", merge))
  end)

  it("takes the low bits of a number that is applied, and names a volume's capacity as a number", function()
    local apply = "application/apply-patch+yaml"
    local ports = '{"ports":[{"port":1000000000000}]}'
    local body = '{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":' .. ports .. "}"
    refused("PATCH", core .. "services/s?fieldManager=m", body, 422, "Invalid",
      'Service "s" is invalid: [spec.ports[0].port: Invalid value: -727379968: must be between 1 and 65535, inclusive, '
        .. "spec.ports[0].targetPort: Invalid value: -727379968: must be between 1 and 65535, inclusive]", apply)
    for quantity, number in pairs { ["-1"] = "-1", ["-2Ki"] = "-2048", ["-3k"] = "-3000", ["-1500m"] = "-2" } do
      local spec = { accessModes = { "ReadWriteOnce" }, capacity = { storage = quantity }, hostPath = { path = "/d" } }
      local volume = { metadata = { name = "v" }, spec = spec }
      local status = sim.api:request("POST", "/api/v1/persistentvolumes", volume, nil, 422)
      assert.has_match("spec.capacity[storage]: Invalid value: " .. number .. ": must be a valid resource quantity",
        status.message, 1, true)
    end
  end)

  it("does not own again what a service kept while it was an ExternalName, unless an update lost it", function()
    local services = core .. "services"
    local function turn(method, spec, content_type)
      return sim.api:request(method, services .. "/s?fieldManager=m", spec, content_type, 200)
    end
    local external = { type = "ExternalName", externalName = "a.example.com" }
    for method, body in pairs {
      PATCH = { spec = external }, PUT = { metadata = { name = "s" }, spec = external },
    } do
      sim.api:create(services, { metadata = { name = "s" }, spec = { ports = { { port = 80 } } } })
      local merge = "application/merge-patch+json"
      turn(method, require "cjson".encode(body), method == "PATCH" and merge or nil)
      turn("PATCH", '{"metadata":{"labels":{"a":"b"}}}', merge)
      local service = turn("PATCH", '{"spec":{"type":"ClusterIP","externalName":null,"ports":[{"port":80}]}}', merge)
      assert.are.equal("Cluster", service.spec.internalTrafficPolicy)
      for _, entry in ipairs(service.metadata.managedFields) do
        local owned = entry.manager == "m" and entry.fieldsV1["f:spec"]["f:internalTrafficPolicy"] ~= nil
        assert.are.equal(method == "PUT" and entry.manager == "m", owned)
      end
      sim.api:delete(services .. "/s")
    end
  end)

  it("still owns what a service keeps unseen, where a patch changes nothing", function()
    local services = core .. "services"
    sim.api:create(services, { metadata = { name = "s" }, spec = { ports = { { port = 80 } } } })
    for _, spec in ipairs { '{"type":"ExternalName","externalName":"a.example.com"}', "{}" } do
      local service = sim.api:request("PATCH", services .. "/s", '{"spec":' .. spec .. "}",
        "application/merge-patch+json", 200)
      assert.is_nil(service.spec.internalTrafficPolicy)
      assert.is_table(service.metadata.managedFields[1].fieldsV1["f:spec"]["f:internalTrafficPolicy"])
    end
  end)

  it("refuses an apply that takes all elements of a list of a custom object which another manager keeps", function()
    local bodies = require "spec.support.bad_bodies"
    sim.api:create(crds, bodies.crd)
    sim.api:create(bodies.widgets, '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"},'
      .. '"spec":{"size":1,"parts":[]}}')
    local function apply(more, code)
      return sim.api:request("PATCH", bodies.widgets .. "/w?fieldManager=m", '{"kind":"Widget",'
        .. '"apiVersion":"example.com/v1","metadata":{"name":"w"},"spec":{"size":1' .. more .. "}}",
        "application/apply-patch+yaml", code)
    end
    apply(',"parts":[{"name":"a"}]', 200)
    assert.are.equal('Widget.example.com "w" is invalid: spec.parts: Invalid value: "null": spec.parts in body must be '
      .. 'of type array: "null"', apply("", 422).message)
  end)

  it("shows a key that is a map as structured merges do", function()
    local ports = '"ports":[{"containerPort":{"x":[1,{"y":"z"}]}}]'
    local given = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",%s}]}}'
    refused("PATCH", core .. "pods/p?fieldManager=m", given:format(ports), 500, nil,
      "failed to create typed patch object (/p; /v1, Kind=Pod): .spec.containers[name=\"c\"]"
        .. '.ports[containerPort=x=[1,y="z"],protocol="TCP"].containerPort: expected numeric (int or float), '
        .. "got map[string]interface {}", "application/apply-patch+yaml")
  end)

  it("names each name that is there twice in its place, also an empty one, and of ports before numbers", function()
    refused("POST", core .. "pods", { metadata = { name = "p" }, spec = { containers = { { image = "i" },
      { image = "i" } }, initContainers = { { name = "c", image = "i" }, { name = "c" } } } }, 422, "Invalid",
      'Pod "p" is invalid: [spec.containers[0].name: Required value, spec.containers[1].name: Required value, '
        .. 'spec.containers[1].name: Duplicate value: "", spec.initContainers[1].image: Required value, '
        .. 'spec.initContainers[1].name: Duplicate value: "c"]')
    refused("POST", core .. "pods", { metadata = { name = "p" }, spec = { containers = { { name = "c", image = "i" } },
      initContainers = { { name = "c", image = "i" } } } }, 422, "Invalid",
      'Pod "p" is invalid: spec.initContainers[0].name: Duplicate value: "c"')
    refused("POST", core .. "services", { metadata = { name = "s" }, spec = { ports = { { name = "a", port = 1 },
      { name = "a", port = 0 } } } }, 422, "Invalid",
      'Service "s" is invalid: [spec.ports[1].name: Duplicate value: "a", spec.ports[1].port: Invalid value: 0: must '
        .. "be between 1 and 65535, inclusive, spec.ports[1].targetPort: Invalid value: 0: must be between 1 and "
        .. "65535, inclusive]")
  end)

  it("compares a job's labels with the uid that a patch wants", function()
    local jobs = "/apis/batch/v1/namespaces/default/jobs"
    local pod = { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    local uid = sim.api:create(jobs, { metadata = { name = "j" }, spec = { template = { spec = pod } } }).metadata.uid
    local labels = ('{"batch.kubernetes.io/controller-uid":"%s","batch.kubernetes.io/job-name":"j",'
      .. '"controller-uid":"%s","job-name":"j"}'):format(uid, uid)
    local wrong = 'spec.template.metadata.labels[%s]: Invalid value: %s: must be \'x\', '
    refused("PATCH", jobs .. "/j", '{"metadata":{"uid":"x"}}', 422, "Invalid", 'Job.batch "j" is invalid: ['
      .. 'metadata.uid: Invalid value: "x": field is immutable, ' .. wrong:format("controller-uid", labels)
      .. wrong:format("batch.kubernetes.io/controller-uid", labels) .. "spec.selector: Invalid value: "
      .. '{"matchLabels":{"batch.kubernetes.io/controller-uid":"' .. uid .. '"}}: `selector` not auto-generated]',
      "application/merge-patch+json")
  end)

  it("deletes all elements that have the key of a strategic merge patch", function()
    local path = core .. "services"
    local ports = {}
    for i, protocol in ipairs { "TCP", "UDP", "SCTP" } do
      ports[i] = { name = "p" .. i, port = i < 3 and 80 or 81, protocol = protocol }
    end
    sim.api:create(path, { metadata = { name = "s" }, spec = { ports = ports } })
    local patch = '{"spec":{"ports":[{"port":80,"$patch":"delete"}]}}'
    local left = sim.api:request("PATCH", path .. "/s", patch, "application/strategic-merge-patch+json").spec.ports
    assert.are.equal("p3", left[1].name)
    assert.are.equal(1, #left)
  end)

  it("refuses a transfer encoding that has no end it could wait for", function()
    for _, encoding in ipairs { "odd", "identity" } do
      local curl = "curl --silent --include --max-time 5 --header 'Transfer-Encoding: %s' --data x '%s'"
      local answer = temp.run(curl:format(encoding, sim.api.server .. configmaps))
      assert.has_match("^HTTP/1.1 501 .*Unsupported transfer encoding$", answer)
    end
  end)

  it("warns of a name that is no label where the object is new", function()
    local pod = '{"metadata":{"name":"a.b"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
    assert.has_match("a DNS label is recommended", head_of("POST", core .. "pods", pod, "application/json"), 1, true)
    local patch = '{"metadata":{"labels":{"a":"b"}}}'
    local head = head_of("PATCH", core .. "pods/a.b", patch, "application/merge-patch+json")
    assert.has_match(" 200 ", head, 1, true)
    assert.has_no_match("Warning", head, 1, true)
  end)

  it("checks metadata once where the status of a kind is not validated", function()
    local pod = { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    local job = { schedule = "* * * * *", jobTemplate = { spec = { template = { spec = pod } } } }
    for path, object in pairs {
      ["/apis/batch/v1/namespaces/default/cronjobs"] = { spec = job },
      ["/apis/policy/v1/namespaces/default/poddisruptionbudgets"] = { spec = { minAvailable = 1 } },
    } do
      object.metadata = { name = "a", finalizers = { "example.com/a" } }
      sim.api:create(path, object)
      sim.api:delete(path .. "/a")
      object.metadata.finalizers[2] = "example.com/b"
      local status = sim.api:request("PUT", path .. "/a/status", object, nil, 422)
      assert.are.equal(1, #status.details.causes)
    end
  end)
end)
