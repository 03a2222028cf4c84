-- Parts of an API that the simulator has beside the plain objects: the same requests to it and to the real server give
-- the same codes and bodies.
local cjson = require "cjson"
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local same = require "spec.support.same_answers"

local PODS, ACCOUNTS = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/serviceaccounts"
local REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

local function pod(name, node, ...)
  local containers = {}
  for i, container in ipairs { ... } do containers[i] = { name = container, image = "i" } end
  return { kind = "Pod", apiVersion = "v1", metadata = { name = name }, spec = {
    nodeName = node, containers = containers } }
end

describe("the simulator as a real server", function()
  local real, ask

  setup(function()
    real = apiserver.start()
    ask = same.new(real:api(), cluster.sim {}.api)
  end)
  teardown(function()
    cluster.stop_all()
    real:stop()
  end)

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
end)
