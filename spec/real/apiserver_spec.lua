-- The real API server of the specs keeps what spec/support/apiserver.lua and spec/support/relay.lua promise.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local relay = require "spec.support.relay"

local configmaps = "/api/v1/namespaces/default/configmaps"

describe("the real API server", function()
  local server, admin

  setup(function()
    server = apiserver.start()
    admin = server:api()
  end)

  teardown(function()
    if server then assert.are.equal(0, server:stop()) end
  end)

  -- The first event of a watch, at most a second after it began.
  local function first_event(path, version)
    local _, text = admin:curl("GET", ("%s?watch=1&timeoutSeconds=1&resourceVersion=%s"):format(path, version))
    return cjson.decode(text:match("^[^\n]+"))
  end

  it("is what its version says", function()
    local version = cjson.decode(server:kubectl("version --output json"))
    assert.are.equal("v1.36.3", version.serverVersion.gitVersion)
    assert.are.equal(version.clientVersion.gitVersion, version.serverVersion.gitVersion)
  end)

  it("creates and gets by kubectl", function()
    server:kubectl("create configmap one --from-literal=colour=red")
    assert.are.equal("red", server:kubectl("get configmap one --output jsonpath={.data.colour}"))
  end)

  it("authenticates users", function()
    assert.are.equal("admin", admin:create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      apiVersion = "authentication.k8s.io/v1", kind = "SelfSubjectReview",
    }).status.userInfo.username)
    assert.are.equal("ConfigMapList", server:api("admin"):get(configmaps).kind)
    assert.are.equal(403, (server:api("nobody"):curl("GET", configmaps)))
    local output, code = server:try_kubectl("--context nobody get configmaps")
    assert.are.equal(1, code)
    assert.has_match('User "nobody" cannot list resource "configmaps"', output, 1, true)
    assert.has_match("one", server:kubectl("--context admin-token get configmaps"), 1, true)
  end)

  it("serves custom resources", function()
    server:apply {
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      metadata = { name = "trees.wood.example" },
      spec = {
        group = "wood.example", scope = "Namespaced", names = { plural = "trees", singular = "tree", kind = "Tree" },
        versions = { {
          name = "v1", served = true, storage = true, subresources = { status = cjson.decode("{}") },
          schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
        } },
      },
    }
    server:kubectl("wait --for condition=established crd/trees.wood.example --timeout 20s")
    server:apply { apiVersion = "wood.example/v1", kind = "Tree", metadata = { name = "oak" }, spec = { metres = 20 } }
    assert.are.equal("20", server:kubectl("get tree oak --output jsonpath={.spec.metres}"))
  end)

  it("deletes an unbound pod at once", function()
    server:apply {
      apiVersion = "v1", kind = "Pod", metadata = { name = "lone" },
      spec = { containers = { { name = "a", image = "a" } } },
    }
    assert.are.equal("Pending", server:kubectl("get pod lone --output jsonpath={.status.phase}"))
    server:kubectl("delete pod lone --timeout 10s")
    assert.are.equal(404, (admin:curl("GET", "/api/v1/namespaces/default/pods/lone")))
  end)

  it("goes on with an old watch, until it is expired", function()
    local object = admin:create(configmaps, { metadata = { name = "old" } })
    local version = object.metadata.resourceVersion
    admin:patch(configmaps .. "/old", { data = { a = "1" } })
    server:compact()
    assert.are.equal("MODIFIED", first_event(configmaps, version).type)
    server:expire()
    local event = first_event(configmaps, version)
    assert.are.equal("ERROR", event.type)
    assert.are.equal(410, event.object.code)
    assert.are.equal("Expired", event.object.reason)
    local code = admin:curl("GET", ("%s?resourceVersionMatch=Exact&resourceVersion=%s"):format(configmaps, version))
    assert.are.equal(410, code)
    local list = admin:get(configmaps)
    admin:patch(configmaps .. "/old", { data = { a = "2" } })
    assert.are.equal("MODIFIED", first_event(configmaps, list.metadata.resourceVersion).type)
  end)

  it("outlives a cut of its storage", function()
    server:cut(300)
    assert.has_match("one", server:kubectl("get configmaps"), 1, true)
  end)

  it("counts the requests of each", function()
    local filter = { verb = "watch", resource = "configmaps", user = "admin" }
    local watches, lists = #server:requests(filter), #server:requests { verb = "list", user = "nobody" }
    first_event(configmaps, "0")
    server:api("nobody"):curl("GET", configmaps)
    server:api("nobody"):curl("GET", configmaps)
    assert.are.equal(watches + 1, #server:requests(filter))
    local denied = server:requests { verb = "list", user = "nobody" }
    assert.are.equal(lists + 2, #denied)
    assert.are.equal(403, denied[#denied].responseStatus.code)
  end)

  it("is reached through a relay that can be cut and mended", function()
    local link = relay.start(server.url)
    local through = server:api("admin")
    through.server = link.url
    assert.are.equal("ConfigMapList", through:get(configmaps).kind)
    link:cut()
    assert.are.equal(0, (through:curl("GET", configmaps)))
    link:mend()
    assert.are.equal("ConfigMapList", through:get(configmaps).kind)
    link:stop()
  end)

  it("continues with its directory", function()
    local kubeconfig, dir = server.kubeconfig, server.dir
    local one = admin:get(configmaps .. "/one")
    server.keep = true
    assert.are.equal(0, server:stop())
    server = apiserver.start { dir = dir }
    server.keep = false
    assert.are.equal(kubeconfig, server.kubeconfig)
    assert.are.same(one, admin:get(configmaps .. "/one"))
  end)
end)
