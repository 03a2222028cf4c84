-- OpenAPI v3 of `kubelua sim`: the index, documents by their hash, and the schemas of definitions. The documents of
-- Kubernetes' own kinds are compared with those of a kube-apiserver in spec/real/sim_openapi_spec.lua.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local function definition(text)
  local spec = { type = "object", properties = { name = { type = "string", description = text } } }
  local schema = { type = "object", properties = { spec = spec } }
  return {
    kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1",
    metadata = { name = "shops.example.com" },
    spec = {
      group = "example.com", scope = "Namespaced", names = { plural = "shops", singular = "shop", kind = "Shop" },
      versions = { { name = "v1", served = true, storage = true, schema = { openAPIV3Schema = schema } } },
    },
  }
end

describe("OpenAPI of kubelua sim #threads", function()
  local sim
  before_each(function() sim = cluster.sim {} end)
  after_each(function() cluster.stop_all() end)

  local function url_of(place) return sim.api:get("/openapi/v3").paths[place].serverRelativeURL end

  -- Headers and code of an answer.
  local function head(path, more)
    return temp.run(("curl -sS -D - -o /dev/null %s '%s%s'"):format(more or "", sim.server, path))
  end

  it("is kept by its hash", function()
    local url = url_of "apis/apps/v1"
    local first = head(url)
    assert.has_match("^HTTP/1.1 200", first)
    assert.has_match("\nCache%-Control: public", first)
    local etag = first:match '\nETag: ("%x+")'
    assert.are.equal('"' .. url:match "hash=(%x+)$" .. '"', etag)
    assert.has_match("^HTTP/1.1 304", head(url, "-H 'If-None-Match: " .. etag .. "'"))
    assert.has_match("^HTTP/1.1 200", head(url, "-H 'If-None-Match: \"0\"'"))
    assert.is_nil(head("/openapi/v3/apis/apps/v1"):find "ETag")
    assert.has_match("^HTTP/1.1 404", head "/openapi/v3/apis/none/v1")
    assert.are.same({ {}, {} }, { sim.api:get("/openapi/v2").paths, sim.api:get("/openapi/v2").definitions })
  end)

  it("says that writes can be validated, of which fields, and changes with a definition", function()
    local patch = sim.api:get("/openapi/v3/api/v1").paths["/api/v1/namespaces/{namespace}/pods/{name}"].patch
    assert.are.same({ group = "", version = "v1", kind = "Pod" }, patch["x-kubernetes-group-version-kind"])
    local names = {}
    for _, parameter in ipairs(patch.parameters) do names[parameter.name] = parameter["in"] end
    assert.are.equal("query", names.fieldValidation)

    local path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    sim.api:create(path, definition "first")
    local made = sim.api:get(path .. "/shops.example.com") -- the create was answered before the names were accepted
    local url = url_of "apis/example.com/v1"
    local shop = sim.api:get(url).components.schemas["com.example.v1.Shop"]
    assert.are.equal("first", shop.properties.spec.properties.name.description)
    assert.are.same({ { group = "example.com", version = "v1", kind = "Shop" } },
      shop["x-kubernetes-group-version-kind"])
    local changed = definition "second"
    changed.metadata.resourceVersion = made.metadata.resourceVersion
    sim.api:update(path .. "/shops.example.com", changed)
    assert.are_not.equal(url, url_of "apis/example.com/v1")
  end)
end)
