-- Forms of objects besides the objects: metadata alone, Tables, and the bookmarks of watches, which are empty objects
-- of Go's types. The simulator and the real server give the same.
local both_servers = require "spec.support.both_servers"
local cjson = require "cjson"

local PARTIAL, TABLE = "PartialObjectMetadata", "Table"
local WATCH = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
  .. "&timeoutSeconds=1"

-- The lines of an answer, each of them JSON, without what differs from server to server.
local function lines_of(api, path, form)
  local accept = form and ("--header 'Accept: application/json;as=%s;v=v1;g=meta.k8s.io'"):format(form) or ""
  local pipe = io.popen(("curl --silent --max-time 30 %s %s %s %s '%s%s'"):format(accept,
    api.ca and "--cacert " .. api.ca or "", api.cert and "--cert " .. api.cert or "",
    api.key and "--key " .. api.key or "", api.server, path))
  local text, found = pipe:read "*a", {}
  pipe:close()
  local function own(value)
    if type(value) ~= "table" then return value end
    local copy = {}
    for key, inner in pairs(value) do
      local differs = key == "resourceVersion" or key == "uid" or key == "creationTimestamp" or key == "managedFields"
        or key == "columnDefinitions" or key == "cells"
      if not differs then copy[key] = own(inner) end
    end
    return copy
  end
  local whole, value = pcall(cjson.decode, text)
  if whole then return { own(value) } end
  for line in text:gmatch "[^\n]+" do found[#found + 1] = own(cjson.decode(line)) end
  return found
end

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  -- The lines, which both give.
  local function same(path, form)
    local mine = lines_of(both.sim.api, path, form)
    assert.same(lines_of(both.real:api(), path, form), mine)
    return mine
  end

  it("ends the initial events with an empty object of the kind", function()
    local places = { "/api/v1/namespaces/x/pods", "/api/v1/nodes", "/api/v1/namespaces/x/events",
      "/apis/apps/v1/namespaces/x/daemonsets", "/apis/apps/v1/namespaces/x/statefulsets",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/resource.k8s.io/v1/resourceslices",
      "/apis/autoscaling/v1/namespaces/x/horizontalpodautoscalers",
      "/apis/discovery.k8s.io/v1/namespaces/x/endpointslices" }
    for _, place in ipairs(places) do
      local function last(api)
        local found = lines_of(api, place .. WATCH)
        return found[#found]
      end
      assert.same(last(both.real:api()), last(both.sim.api), place)
    end
  end)

  it("gives the metadata of DaemonSets as they are stored", function()
    local path = "/apis/apps/v1/namespaces/default/daemonsets"
    local labels = { a = "b" }
    ask("POST", path, { kind = "DaemonSet", apiVersion = "apps/v1", metadata = { name = "d" }, spec = {
      selector = { matchLabels = labels }, template = { metadata = { labels = labels },
        spec = { containers = { { name = "c", image = "i" } } } } } })
    assert.is_nil(same(path, PARTIAL .. "List")[1].items[1].metadata.annotations)
    assert.is_nil(same(path .. "/d", PARTIAL)[1].metadata.annotations)
    same(path .. "/d", TABLE)
    same(path .. "?includeObject=Object", TABLE)
    same(path .. WATCH, PARTIAL)
    same(path .. WATCH .. "&includeObject=Object", TABLE)
  end)

  it("reads the first document of YAML", function()
    local path, head = "/api/v1/namespaces/default/configmaps?dryRun=All", "kind: ConfigMap\napiVersion: v1\n"
    local codes = {}
    for i, text in ipairs { "metadata: {name: a}\n---\nfoo: [", "metadata: {name: a}\n...\n}}}",
      "metadata: {name: a}\n}\n" } do
      codes[i] = ask("POST", path, head .. text, "application/yaml").code or 201
    end
    assert.same({ 201, 201, 400 }, codes)
    assert.equal(422, ask("POST", path, "---\n---\n" .. head .. "metadata: {name: a}\n", "application/yaml").code)
  end)

  it("refuses in YAML what Go's reader of YAML refuses", function()
    local maps, head = "/api/v1/namespaces/default/configmaps", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
    local json = [[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":"%s"}}]]
    for _, text in ipairs { head .. [[data: {a: "x\/y"}]], head .. 'data:\n  a: "\\\\"\n\n  b: "c\n    \\/"\n',
      [["\/"]], head .. [[data: {"a\/": b}]], json:format [[x\/y]], json:format [[\ud83d\ude00]],
      json:format [[\\\/]], "a: @", "a: 'b", 'a: "b\n', "a: b\n  c: d", "- a\nb: c", "%FOO\n---\na: b",
      "a: b\na: c\nb: [", "a: b\n" .. ("#\n"):rep(9) .. "\1" } do
      assert.equal(400, ask("POST", maps .. "?dryRun=All", text, "application/yaml").code)
      assert.equal(400, ask("PATCH", maps .. "/a?fieldManager=x", text, "application/apply-patch+yaml").code)
    end
    local good = "data:\n  a: 'x\\/y'\n  b: x\\/y\n  c: |\n    \"\\/\"\n  # \"\\/\"\n  d: \"\\\\/\"\n"
    for _, text in ipairs { head .. good, json:format [[\\/\n\u00e9\"]] } do
      ask("POST", maps .. "?dryRun=All", text, "application/yaml")
      ask("PATCH", maps .. "/a?dryRun=All&fieldManager=x", text, "application/apply-patch+yaml")
    end
  end)

  it("has null for the items of an empty list of metadata", function()
    local path = "/api/v1/namespaces/kube-public/secrets"
    assert.equal(cjson.null, same(path, PARTIAL .. "List")[1].items)
    assert.same({}, same(path)[1].items)
  end)
end)
