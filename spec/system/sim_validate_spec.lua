-- `kubelua sim`: bodies are decoded as a kube-apiserver does, by the types of their kinds (spec/real compares both).
local cjson = require "cjson"
local bad_bodies = require "spec.support.bad_bodies"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local pods = "/api/v1/namespaces/default/pods"
local configmaps = "/api/v1/namespaces/default/configmaps"
local odd = { metadata = { name = "odd" }, data = { a = "b" }, foo = 1, bar = { x = 1 } }

describe("a body for the simulated server #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  local function warnings(method, path, body, content_type)
    local text = type(body) == "string" and body or cjson.encode(body)
    local output = temp.run(("curl --silent --include --request %s --header 'Content-Type: %s' --data '%s' '%s%s'")
      :format(method, content_type or "application/json", text, sim.server, path))
    local list = {}
    for warning in output:gmatch "Warning: ([^\r\n]+)" do list[#list + 1] = warning end
    table.sort(list)
    return list, output
  end

  it("is refused with Go's message if a value has a wrong type", function()
    local status = sim.api:request("POST", pods, { metadata = { name = "p" }, spec = { nodeName = 1 } }, nil, 400)
    assert.are.equal('Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct '
      .. "field PodSpec.spec.nodeName of type string", status.message)
  end)

  it("loses unknown fields with a warning, without one, or is refused, as fieldValidation says", function()
    local list = warnings("POST", configmaps, odd)
    assert.are.same({ [[299 - "unknown field \"bar\""]], [[299 - "unknown field \"foo\""]] }, list)
    local stored = sim.api:get(configmaps .. "/odd")
    assert.is_nil(stored.foo)
    assert.are.equal("b", stored.data.a)
    assert.are.same({}, (warnings("PUT", configmaps .. "/odd?fieldValidation=Ignore", odd)))
    local status = sim.api:request("PUT", configmaps .. "/odd?fieldValidation=Strict", odd, nil, 400)
    assert.has_match("cannot be handled as a ConfigMap: strict decoding error: unknown field \"", status.message)
  end)

  it("of a service is warned of what a headless one ignores", function()
    local services = "/api/v1/namespaces/default/services"
    local body = { metadata = { name = "s" }, spec = { clusterIP = "None", sessionAffinity = "ClientIP",
      ports = { { port = 80 } } }, foo = 1 }
    local wanted = { [[299 - "spec.SessionAffinity is ignored for headless services"]],
      [[299 - "unknown field \"foo\""]] }
    assert.are.same(wanted, (warnings("POST", services, body)))
    assert.are.same(wanted, (warnings("PUT", services .. "/s", body)))
    assert.are.same({}, (warnings("GET", services .. "/s", "")))
    assert.are.same({}, (warnings("DELETE", services .. "/s", "")))
  end)

  it("of a deprecated kind is warned of where a server handles the path", function()
    local endpoints = "/api/v1/namespaces/default/endpoints"
    local wanted = { [[299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]] }
    for path, expected in pairs { [""] = wanted, ["/none"] = wanted, ["/none/status"] = {}, ["/none/odd"] = {} } do
      assert.are.same(expected, (warnings("GET", endpoints .. path, "")), path)
    end
  end)

  it("is told of duplicate fields", function()
    local body = [[{"metadata":{"name":"twice"},"data":{"a":"x","a":"y"},"data":{"a":"z"}}]]
    local status = sim.api:request("POST", configmaps .. "?fieldValidation=Strict", body, nil, 400)
    assert.has_match('strict decoding error: duplicate field "data.a", duplicate field "data"$', status.message)
    assert.are.same({ [[299 - "duplicate field \"data.a\""]], [[299 - "duplicate field \"data\""]] },
      (warnings("POST", configmaps, body)))
  end)

  it("of a patch is judged likewise", function()
    sim.api:create(configmaps, { metadata = { name = "c" }, data = { a = "b" } })
    local merge, path = "application/merge-patch+json", configmaps .. "/c"
    assert.are.same({ [[299 - "unknown field \"foo\""]] }, (warnings("PATCH", path, [[{"foo":1}]], merge)))
    assert.is_nil(sim.api:get(path).foo)
    local status = sim.api:request("PATCH", path .. "?fieldValidation=Strict", [[{"foo":1}]], merge, 422)
    assert.are.equal("patch", status.details.causes[1].field)
    assert.has_match('strict decoding error: unknown field "foo"$', status.message)
    status = sim.api:request("PATCH", path, [[{"data":{"a":1}}]], merge, 422)
    assert.has_match("cannot unmarshal number into Go struct field ConfigMap.data of type string$", status.message)
  end)

  it("is not stored in a dry run, and options have few values", function()
    sim.api:request("POST", configmaps .. "?dryRun=All", { metadata = { name = "dry" } }, nil, 201)
    sim.api:request("GET", configmaps .. "/dry", nil, nil, 404)
    local status = sim.api:request("POST", configmaps .. "?dryRun=Some", { metadata = { name = "dry" } }, nil, 422)
    assert.are.equal('CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
      .. 'supported values: "All"', status.message)
    status = sim.api:request("PUT", configmaps .. "/a?fieldValidation=Odd", { metadata = { name = "a" } }, nil, 422)
    assert.has_match('^UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Odd"',
      status.message)
  end)

  it("of a custom kind is pruned, has its defaults and is held to its schema", function()
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", bad_bodies.crd)
    local made = { apiVersion = "example.com/v1", kind = "Widget", metadata = { name = "w" }, spec = { foo = 1 } }
    assert.are.same({ [[299 - "unknown field \"spec.foo\""]] }, (warnings("POST", bad_bodies.widgets, made)))
    assert.are.same({ size = 3 }, sim.api:get(bad_bodies.widgets .. "/w").spec)
    local status = sim.api:request("PATCH", bad_bodies.widgets .. "/w", { spec = { size = 99 } },
      "application/merge-patch+json", 422)
    assert.are.equal('Widget.example.com "w" is invalid: spec.size: Invalid value: 99: spec.size in body should be '
      .. "less than or equal to 9", status.message)
  end)

  it("of a custom kind is held to its list types, after all else of its schema", function()
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", bad_bodies.crd)
    local function refused(spec, causes)
      local body = { kind = "Widget", apiVersion = "example.com/v1", metadata = { name = "w" }, spec = spec }
      local status = sim.api:request("POST", bad_bodies.widgets, body, nil, 422)
      assert.are.equal('Widget.example.com "w" is invalid: ' .. causes, status.message)
    end
    refused({ size = 10, tags = { "a", "a", "a" } }, "[spec.size: Invalid value: 10: spec.size in body should be less "
      .. 'than or equal to 9, spec.tags[1]: Duplicate value: "a"]')
    refused({ size = 1, parts = { { name = "a" }, { name = "b" }, { name = "a" } } },
      'spec.parts[2]: Duplicate value: {"name":"a"}')
    refused({ size = 1, parts = { "x" } }, '[spec.parts[0]: Invalid value: "string": spec.parts[0] in body must be of '
      .. 'type object: "string", spec.parts[0]: Invalid value: "x": must be an object for an array of list-type map]')
  end)

  it("of a custom kind is not blamed for its lists if those that it follows were wrong, too", function()
    local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    sim.api:create(crds, (bad_bodies.crd:gsub('("tags":{"type":"array","x%-kubernetes%-list%-type":)"set"',
      '%1"atomic"')))
    sim.api:create(bad_bodies.widgets, { kind = "Widget", apiVersion = "example.com/v1", metadata = { name = "w" },
      spec = { size = 1, tags = { "a", "a" } } })
    sim.api:patch(crds .. "/widgets.example.com", '[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/'
      .. 'properties/spec/properties/tags/x-kubernetes-list-type","value":"set"}]', "json")
    local function patch(tags, code)
      return sim.api:request("PATCH", bad_bodies.widgets .. "/w", '{"spec":{"tags":' .. tags .. "}}",
        "application/merge-patch+json", code)
    end
    patch('["b","b"]', 200)
    patch('["b"]', 200)
    assert.has_match('spec.tags[1]: Duplicate value: "c"', patch('["c","c"]', 422).message, 1, true)
  end)

  it("of a CronJob may have a zone in its schedule where it had one, if it has none beside", function()
    local path = "/apis/batch/v1/namespaces/default/cronjobs"
    local file, pod = temp.name(), { restartPolicy = "Never", containers = { { name = "c", image = "i" } } }
    temp.write(file, cjson.encode { kind = "CronJob", apiVersion = "batch/v1",
      metadata = { name = "old", namespace = "default" },
      spec = { schedule = "TZ=UTC 1 * * * *", jobTemplate = { spec = { template = { spec = pod } } } } })
    local loaded = cluster.sim { "--load", file }.api
    local function patch(spec, code)
      return loaded:request("PATCH", path .. "/old", cjson.encode { spec = spec }, "application/merge-patch+json", code)
    end
    patch({ schedule = "CRON_TZ=UTC 2 * * * *" }, 200)
    assert.has_match('spec.schedule: Invalid value: "CRON_TZ=UTC 2 * * * *": cannot use both timeZone field and TZ or '
      .. "CRON_TZ in schedule", patch({ timeZone = "UTC" }, 422).message, 1, true)
    patch({ schedule = "3 * * * *", timeZone = "UTC" }, 200)
    assert.has_match("cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
      patch({ schedule = "TZ=UTC 1 * * * *" }, 422).message)
  end)

  it("of a pod is checked in all its containers and volumes", function()
    local function refused(spec, message)
      spec.containers = spec.containers or { { name = "c", image = "i" } }
      assert.are.equal('Pod "p" is invalid: ' .. message,
        sim.api:request("POST", pods, { metadata = { name = "p" }, spec = spec }, nil, 422).message)
    end
    local twice = { { containerPort = 1, hostPort = 8 }, { containerPort = 2, hostPort = 8 } }
    refused({ initContainers = { { name = "a", image = "i" }, { name = "b", image = "i", ports = twice } } },
      'spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//8"')
    refused({ volumes = { { name = "v", quobyte = { registry = "a:1", volume = "v" }, rbd = { monitors = { "m" },
      image = "i" } } } }, "spec.volumes[0].quobyte: Forbidden: may not specify more than 1 volume type")
    local source = { fieldRef = { fieldPath = "spec.host" } }
    sim.api:create(pods, { metadata = { name = "good" }, spec = {
      containers = { { name = "c", image = "i", env = { { name = "A", valueFrom = source } } } },
      volumes = { { name = "v", quobyte = { registry = "a:1", volume = "v" } } } } })
  end)

  it("has addresses as Go reads them", function()
    local function code(ip)
      local spec = { containers = { { name = "c", image = "i" } }, hostAliases = { { ip = ip, hostnames = { "a" } } } }
      return (sim.api:curl("POST", pods .. "?dryRun=All", { metadata = { name = "p" }, spec = spec }))
    end
    for _, ip in ipairs { "1.2.3.4", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::fffe:1.2.3.4",
      "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8" } do
      assert.are.equal(201, code(ip), ip)
    end
    for _, ip in ipairs { "1::2:", ":1::2", "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7:8::", ":::", "1::2::3",
      "1:2:3:4:5:6:7", "12345::", "::00001", "::g", "::1.2.3", "::1.2.3.4:5", ":", "1.2.3.256",
      "::ffff:1.2.3.4", "::ffff:102:304", "01.2.3.4", "::1.2.3.04" } do
      assert.are.equal(422, code(ip), ip)
    end
  end)

  it("with rules in CEL is taken with a warning that names them", function()
    local ruled = cjson.decode(bad_bodies.crd)
    ruled.spec.versions[1].schema.openAPIV3Schema["x-kubernetes-validations"] = { { rule = "true" } }
    local list = warnings("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ruled)
    assert.are.equal(1, #list)
    assert.has_match("does not evaluate x-kubernetes-validations", list[1], 1, true)
  end)
end)
