-- Protobuf of `kubelua sim`: what clients send and ask for. The bytes themselves are compared with those of a
-- kube-apiserver in spec/real/sim_protobuf_spec.lua.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local protobuf = require "spec.support.protobuf"
local temp = require "spec.support.temp"

local PROTOBUF = "application/vnd.kubernetes.protobuf"
local PARTIAL = ";as=PartialObjectMetadata%s;g=meta.k8s.io;v=v1"
local pods, configmaps = "/api/v1/pods", "/api/v1/namespaces/default/configmaps"

local definition = {
  kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1", metadata = { name = "shops.example.com" },
  spec = {
    group = "example.com", scope = "Namespaced", names = { plural = "shops", singular = "shop", kind = "Shop" },
    versions = { { name = "v1", served = true, storage = true, schema = { openAPIV3Schema = { type = "object",
      ["x-kubernetes-preserve-unknown-fields"] = true } } } },
  },
}

describe("protobuf of kubelua sim #threads", function()
  local sim, scratch
  before_each(function() scratch = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  -- The answer, its code and its Content-Type.
  local function get(path, accept, more)
    local text = temp.run(("curl -sS --max-time 20 -w '\\n%%{http_code} %%{content_type}' -H 'Accept: %s' %s '%s%s'")
      :format(accept, more or "", sim.server, path))
    local body, code, content_type = text:match "^(.*)\n(%d+) (.-)$"
    return body, code, content_type
  end

  -- The content of an envelope: the message, apiVersion and kind.
  local function open(bytes)
    assert.are.equal("k8s\0", bytes:sub(1, 4))
    local envelope = bytes:sub(5)
    local meta = protobuf.one(envelope, 1)
    return protobuf.one(envelope, 2), protobuf.one(meta, 1), protobuf.one(meta, 2)
  end

  local function name_of(message) return protobuf.one(protobuf.one(message, 1), 1) end

  it("is for objects, lists with pages, metadata and errors", function()
    sim = cluster.sim { "--pods", "30" }
    local body, code, content_type = get(pods .. "?limit=20", PROTOBUF .. ",application/json")
    assert.are.equal("200 " .. PROTOBUF, code .. " " .. content_type)
    local list, api_version, kind = open(body)
    assert.are.equal("v1 PodList", api_version .. " " .. kind)
    local items, meta = protobuf.all(list, 2), protobuf.one(list, 1)
    assert.are.equal(20, #items)
    assert.are.equal(10, protobuf.one(meta, 4)) -- remainingItemCount
    list = open((get(pods .. "?continue=" .. protobuf.one(meta, 3), PROTOBUF)))
    assert.are.equal(10, #protobuf.all(list, 2))

    local first = sim.api:get(pods .. "?limit=1").items[1].metadata
    assert.are.equal(first.name, name_of(items[1]))
    local path = ("/api/v1/namespaces/%s/pods/%s"):format(first.namespace, first.name)
    body, api_version, kind = open((get(path, PROTOBUF)))
    assert.are.equal("v1", api_version)
    assert.are.equal(first.name, name_of(body), kind)
    assert.is_truthy(protobuf.one(body, 2)) -- spec
    body, api_version, kind = open((get(path, PROTOBUF .. PARTIAL:format "")))
    assert.are.equal("meta.k8s.io/v1 PartialObjectMetadata", api_version .. " " .. kind)
    assert.is_nil(protobuf.one(body, 2))
    body, api_version, kind = open((get(pods, PROTOBUF .. PARTIAL:format "List")))
    assert.are.equal("meta.k8s.io/v1 PartialObjectMetadataList", api_version .. " " .. kind)
    assert.are.equal(30, #protobuf.all(body, 2))

    body, code = get(configmaps .. "/none", PROTOBUF)
    local status, _, status_kind = open(body)
    assert.are.equal("404 Status", code .. " " .. status_kind)
    assert.are.equal('configmaps "none" not found', protobuf.one(status, 3))
  end)

  it("is for watches: frames with an event each", function()
    sim = cluster.sim { "--pods", "3" }
    local file = scratch .. "/watch"
    local body, _, content_type = get(pods .. "?watch=1&timeoutSeconds=1&sendInitialEvents=true&"
      .. "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", PROTOBUF)
    temp.write(file, body)
    assert.are.equal(PROTOBUF .. ";stream=watch", content_type)
    local events = protobuf.frames(body)
    local types = {}
    for i, event in ipairs(events) do
      types[i] = protobuf.one(event, 1)
      local object, _, kind = open(protobuf.one(protobuf.one(event, 2), 1))
      assert.are.equal("Pod", kind)
      assert.is_truthy(protobuf.one(object, 1))
    end
    assert.are.same({ "ADDED", "ADDED", "ADDED", "BOOKMARK" }, { unpack(types, 1, 4) })
    sim:play { ["do"] = "compact" }
    sim:play { ["do"] = "expire", resource = "pods" }
    body = get(pods .. "?watch=1&resourceVersion=1", PROTOBUF)
    local event = protobuf.frames(body)[1]
    assert.are.equal("ERROR", protobuf.one(event, 1))
    local status = open(protobuf.one(protobuf.one(event, 2), 1))
    assert.are.equal(410, protobuf.one(status, 6))
  end)

  it("is what may be sent, as YAML may be", function()
    sim = cluster.sim {}
    local file = scratch .. "/body"
    local meta = protobuf.encode { { 1, "v1" }, { 2, "ConfigMap" } }
    local object = protobuf.encode { { 1, protobuf.encode { { 1, "one" } } },
      { 2, protobuf.encode { { 1, "a" }, { 2, "b" } } } }
    temp.write(file, "k8s\0" .. protobuf.encode { { 1, meta }, { 2, object } })
    local function post(content_type, expected)
      local text, code = get(configmaps, "application/json",
        ("-H 'Content-Type: %s' --data-binary @%s"):format(content_type, file))
      assert.are.equal(expected, code, text)
      return cjson.decode(text)
    end
    assert.are.same({ a = "b" }, post(PROTOBUF, "201").data)
    temp.write(file, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: two}\ndata: {a: 'yes'}\n")
    assert.are.same({ a = "yes" }, post("application/yaml", "201").data)
    temp.write(file, "kind: [\n")
    assert.is_truthy(post("application/yaml", "400").message:find "line")
    temp.write(file, "k8s\0" .. protobuf.encode { { 1, meta }, { 2, object } }:sub(1, -2))
    assert.is_truthy(post(PROTOBUF, "400").message:find "cut off")
    post("application/cbor", "415")
  end)

  it("is not for custom kinds, but for their metadata", function()
    sim = cluster.sim {}
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    local shops = "/apis/example.com/v1/namespaces/default/shops"
    sim.api:create(shops, { kind = "Shop", apiVersion = "example.com/v1", metadata = { name = "mine" } })
    local body, code, content_type = get(shops, PROTOBUF .. ",application/json")
    assert.are.equal("200 application/json", code .. " " .. content_type)
    assert.are.equal("ShopList", cjson.decode(body).kind)
    assert.are.equal("406", select(2, get(shops, PROTOBUF)))
    local list = open((get(shops, PROTOBUF .. PARTIAL:format "List")))
    assert.are.equal("mine", name_of(protobuf.one(list, 2)))
    assert.are.equal("406", select(2, get(shops, PROTOBUF .. ";as=Table;g=meta.k8s.io;v=v1")))
  end)

  it("lets faults break off what clients read", function()
    sim = cluster.sim { "--pods", "3" }
    sim:play { ["do"] = "fault", what = "cut", resource = "pods", verb = "list", after = 1 }
    local _, code = temp.run(("curl -sS -H 'Accept: %s,application/json' %s%s -o /dev/null")
      :format(PROTOBUF, sim.server, pods))
    assert.are.equal(18, code)
  end)
end)
