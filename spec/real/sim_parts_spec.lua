-- Parts of an API that the simulator has beside the plain objects: the same requests to it and to the real server give
-- the same codes and bodies.
local cjson = require "cjson"
local both_servers = require "spec.support.both_servers"
local await = require "spec.support.await"

local PODS, ACCOUNTS = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/serviceaccounts"
local REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

local function pod(name, node, ...)
  local containers = {}
  for i, container in ipairs { ... } do containers[i] = { name = container, image = "i" } end
  return { kind = "Pod", apiVersion = "v1", metadata = { name = name }, spec = {
    nodeName = node, containers = containers } }
end

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  it("answers for kubelets that it cannot reach", function()
    local port = { kubeletEndpoint = { Port = 10250 } }
    ask("POST", "/api/v1/nodes", { kind = "Node", apiVersion = "v1", metadata = { name = "silent" }, status = {
      addresses = { { type = "InternalIP", address = "127.0.0.9" } }, daemonEndpoints = port } })
    ask("POST", "/api/v1/nodes", { kind = "Node", apiVersion = "v1", metadata = { name = "nowhere" } })
    ask("POST", PODS, pod("unbound", nil, "c"))
    ask("POST", PODS, pod("lost", "none", "c"))
    ask("POST", PODS, pod("bare", "nowhere", "c"))
    ask("POST", PODS, pod("bound", "silent", "c"))
    ask("POST", PODS, pod("two", "silent", "c", "d"))
    local answers = 0
    for _, name in ipairs { "unbound", "lost", "bare", "bound", "two", "none" } do
      for _, sub in ipairs { "log", "exec", "attach", "portforward", "log?container=c", "exec?container=x",
        "attach?container=d" } do
        for _, method in ipairs { "GET", "POST", "PUT", "DELETE" } do
          ask(method, PODS .. "/" .. name .. "/" .. sub)
          answers = answers + 1
        end
      end
    end
    assert.equal(6 * 7 * 4, answers)
  end)

  it("makes tokens of service accounts", function()
    ask("POST", ACCOUNTS, { kind = "ServiceAccount", apiVersion = "v1", metadata = { name = "a" } })
    local function token(spec) return ask("POST", ACCOUNTS .. "/a/token", { spec = spec }) end
    for _, spec in ipairs {
      {}, { audiences = { "x", "y" } }, { expirationSeconds = 60 }, { expirationSeconds = 4294967297 },
      { expirationSeconds = 4000 }, { boundObjectRef = { kind = "Pod", apiVersion = "v1", name = "none" } },
      { boundObjectRef = { kind = "X", apiVersion = "v1", name = "none" } },
    } do token(next(spec) and spec or cjson.decode "{}") end
    ask("POST", ACCOUNTS .. "/none/token", { spec = cjson.decode "{}" })
    ask("GET", ACCOUNTS .. "/a/token")
  end)

  it("knows its tokens in reviews", function()
    local reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
    local wanted, found = ask("POST", ACCOUNTS .. "/a/token", { spec = { audiences = { "x", "y" } } })
    local function review(audiences)
      local function of(object)
        return { kind = "TokenReview", apiVersion = "authentication.k8s.io/v1", spec = {
          token = object.status.token, audiences = audiences } }
      end
      return ask("POST", reviews, of(wanted), nil, of(found))
    end
    assert.is_true(review { "y", "z" }.status.authenticated)
    assert.is_nil(review({ "z" }).status.authenticated)
    assert.is_nil(review(nil).status.authenticated)
    wanted, found = ask("POST", ACCOUNTS .. "/a/token", { spec = cjson.decode "{}" })
    assert.is_true(review(nil).status.authenticated)
  end)

  it("approves certificate signing requests", function()
    local request = [[LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENB]]
      .. [[UUF3RERFS01BZ0dBMVVFQXd3QmRUQlpNQk1HQnlx]]
      .. [[R1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCSkVGYnl5emVFTXBybDNSMGpRY2RsQnBabllpR29rajJkNWpZbmhQazlnUTBWQklY]]
      .. [[UzllRzludEdzTlJxdEUrCnQwcUhGUXhIYitzeXk0Ynl2QkIvRmxLZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQWRLaHg0Vmp1]]
      .. [[MmhqQm8KWG5IRTdMK01MUENFaHdwTEUwVS84M3kyZlpHaXlBSWhBSWt1c0ZBSzloaThFWWRvRWRkNXd5SlMxT1Z1MWRvNApOWUM3]]
      .. [[bHVkWHQvbWwKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==]]
    ask("POST", REQUESTS, { kind = "CertificateSigningRequest", apiVersion = "certificates.k8s.io/v1",
      metadata = { name = "c" }, spec = { request = request, signerName = "example.com/x", usages = { "client auth" },
        username = "somebody" } })
    local function patch(sub, body)
      return ask("PATCH", REQUESTS .. "/c" .. sub, body, "application/merge-patch+json")
    end
    local function condition(type, status)
      return { type = type, status = status or "True", reason = "r", message = "m" }
    end
    local labels = { labels = { a = "b" } }
    patch("", { spec = { usages = { "any" } }, status = { conditions = { condition "Approved" } } })
    patch("/status", { status = { conditions = { condition "Approved" } } })
    local approved = patch("/approval", { metadata = labels, spec = { usages = { "any" } },
      status = { conditions = { condition "Approved" }, certificate = "eA==" } })
    assert.is_string(approved.status.conditions[1].lastUpdateTime)
    patch("/approval", { status = { conditions = cjson.empty_array } })
    patch("/approval", { status = { conditions = { condition "Denied" } } })
    patch("/status", { metadata = { labels = { a = "c" } }, spec = { usages = { "any" } },
      status = { conditions = { condition "Approved", condition "Failed" } } })
    patch("/status", { status = { conditions = { condition "Approved" } } })
    ask("GET", REQUESTS .. "/c/approval")
    ask("DELETE", REQUESTS .. "/c/approval")
  end)

  describe("serves a kind in two versions:", function()
    local EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
    local OLD_EVENTS = "/api/v1/namespaces/default/events"
    local V1 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    local V2 = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    local MERGE = "application/merge-patch+json"

    it("events", function()
      local time = "2026-11-27T12:00:00.000000Z"
      ask("POST", EVENTS, { kind = "Event", apiVersion = "events.k8s.io/v1", metadata = { name = "e" },
        eventTime = time, reportingController = "a.b/c", reportingInstance = "i", action = "act", reason = "why",
        regarding = { kind = "Pod", name = "p", namespace = "default" }, related = { kind = "Node", name = "n" },
        note = "text", type = "Normal", series = { count = 2, lastObservedTime = time } })
      ask("POST", OLD_EVENTS, { kind = "Event", apiVersion = "v1", metadata = { name = "f" },
        involvedObject = { kind = "Pod", name = "q", namespace = "default" }, reason = "r", message = "m",
        source = { component = "kubelet", host = "h" }, firstTimestamp = "2026-11-27T12:00:00Z", count = 3,
        lastTimestamp = "2026-11-27T12:00:00Z", type = "Warning" })
      for _, name in ipairs { "e", "f", "none" } do
        ask("GET", OLD_EVENTS .. "/" .. name)
        ask("GET", EVENTS .. "/" .. name)
      end
      ask("PATCH", EVENTS .. "/e", { series = { count = 3 }, metadata = { labels = { a = "b" } } }, MERGE)
      ask("PATCH", OLD_EVENTS .. "/f", { count = 4, metadata = { labels = { a = "b" } } }, MERGE)
      ask("GET", OLD_EVENTS .. "/e")
      assert.equal(1, #ask("GET", EVENTS .. "?fieldSelector=regarding.name%3Dp").items)
      ask("GET", EVENTS .. "?fieldSelector=involvedObject.name%3Dp")
      ask("GET", OLD_EVENTS .. "?fieldSelector=regarding.name%3Dp")
      assert.equal(2, #ask("GET", EVENTS .. "?labelSelector=a%3Db").items)
      ask("DELETE", EVENTS .. "/e")
      ask("GET", OLD_EVENTS .. "?labelSelector=a%3Db") -- the real server has made events of its own
      ask("DELETE", EVENTS)
    end)

    it("horizontal pod autoscalers", function()
      local function hpa(version, name, spec)
        spec.maxReplicas, spec.scaleTargetRef = 3, { kind = "Deployment", name = "d", apiVersion = "apps/v1" }
        return { kind = "HorizontalPodAutoscaler", apiVersion = "autoscaling/" .. version, metadata = { name = name },
          spec = spec }
      end
      local function metric(type, field, rest) return { type = type, [field] = rest } end
      local function target(type, field, value) return { type = type, [field] = value } end
      local selector = { matchLabels = { a = "b" } }
      local metrics = {
        metric("Resource", "resource", { name = "memory", target = target("AverageValue", "averageValue", "5") }),
        metric("Resource", "resource", { name = "cpu", target = target("Utilization", "averageUtilization", 50) }),
        metric("Pods", "pods", { metric = { name = "m", selector = selector },
          target = target("AverageValue", "averageValue", "7") }),
        metric("Object", "object", { metric = { name = "m" }, target = target("Value", "value", "7"),
          describedObject = { kind = "k", name = "n", apiVersion = "v1" } }),
        metric("External", "external", { metric = { name = "m", selector = selector },
          target = target("AverageValue", "averageValue", "7") }),
        metric("ContainerResource", "containerResource", { name = "cpu", container = "c",
          target = target("Utilization", "averageUtilization", 50) }),
      }
      ask("POST", V1, hpa("v1", "a", {}))
      ask("POST", V1, hpa("v1", "b", { targetCPUUtilizationPercentage = 40, minReplicas = 2 }))
      ask("POST", V2, hpa("v2", "c", { metrics = metrics }))
      local status = { currentReplicas = 1, desiredReplicas = 2, conditions = { { type = "AbleToScale",
        status = "True" } }, currentMetrics = { metric("Resource", "resource", { name = "cpu", current = {
        averageUtilization = 10, averageValue = "3" } }), metric("Resource", "resource", { name = "memory",
        current = { averageValue = "3" } }) } }
      ask("PATCH", V2 .. "/c/status", { status = status }, MERGE)
      local function look()
        for _, name in ipairs { "a", "b", "c" } do
          ask("GET", V1 .. "/" .. name)
          ask("GET", V2 .. "/" .. name)
        end
      end
      look()
      ask("PATCH", V1 .. "/a", { spec = { targetCPUUtilizationPercentage = 70 } }, MERGE)
      ask("PATCH", V1 .. "/c", { spec = { targetCPUUtilizationPercentage = 60, minReplicas = 2 } }, MERGE)
      look()
      ask("DELETE", V1 .. "/a")
      ask("GET", V2 .. "/a")
    end)
  end)

  describe("has custom kinds", function()
    local WIDGETS = "/apis/e.com/v1/namespaces/default/ws"
    local CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

    local function definition(plural, kind, ...)
      local fields = {}
      for i, path in ipairs { ... } do fields[i] = { jsonPath = path } end
      local text, map = { type = "string", default = "d" }, { type = "object" }
      map.properties = { x = text }
      local spec = { type = "object", required = { "color" }, properties = { color = { type = "string",
        enum = { "red", "blue" } }, n = { type = "integer", default = 3 }, on = { type = "boolean" }, m = map } }
      return { kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1",
        metadata = { name = plural .. ".e.com" }, spec = { group = "e.com", scope = "Namespaced",
          names = { plural = plural, singular = kind:lower(), kind = kind }, versions = { { name = "v1", served = true,
            storage = true, selectableFields = fields, schema = { openAPIV3Schema = { type = "object",
              properties = { spec = spec } } } } } } }
    end

    setup(function()
      local function created(client)
        client:create(CRDS, definition("ws", "W", ".spec.color", ".spec.n", ".spec.on"))
        await(function() return client:curl("GET", WIDGETS) == 200 end, "the kind W")
      end
      created(both.real:api())
      created(both.sim.api)
    end)

    it("whose fields select", function()
      local function widget(name, spec)
        ask("POST", WIDGETS, { kind = "W", apiVersion = "e.com/v1", metadata = { name = name }, spec = spec })
      end
      widget("a", { color = "red", on = true })
      widget("b", { color = "blue", n = 4, on = false })
      local counts = {}
      for _, selector in ipairs { "spec.color=red", "spec.color!=red", "spec.n=3", "spec.n=4", "spec.on=true",
        "spec.on=false", "spec.m=1", "metadata.name=a,spec.n=3", "metadata.namespace=default" } do
        local answer = ask("GET", WIDGETS .. "?fieldSelector=" .. selector:gsub("=", "%%3D"))
        counts[#counts + 1] = answer.items and #answer.items or answer.code
      end
      assert.same({ 1, 1, 1, 1, 1, 1, 400, 1, 2 }, counts)
      ask("POST", CRDS, definition("vs", "V", ".spec.nope", ".metadata.name", ".spec.m", ""))
    end)

    it("whose schema an apply obeys", function()
      local function apply(query, spec)
        local body = cjson.encode { kind = "W", apiVersion = "e.com/v1", metadata = { name = "c" }, spec = spec }
        return ask("PATCH", WIDGETS .. "/c?fieldManager=m" .. query, (body:gsub("\\/", "/")),
          "application/apply-patch+yaml")
      end
      apply("", { color = "red", zz = 1 })
      apply("&fieldValidation=Strict", { color = "red", zz = 1 })
      local made = apply("", { color = "red", m = cjson.decode "{}" })
      assert.same({ color = "red", n = 3, m = { x = "d" } }, made.spec)
      apply("", { color = "green" })
      apply("", { n = 4 })
      apply("", { color = 1 })
      apply("", { color = "blue" })
      ask("GET", WIDGETS .. "/c")
    end)
  end)
end)
