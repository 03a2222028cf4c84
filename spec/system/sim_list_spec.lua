-- `kubelua sim`: lists, versions, pages, selectors and forms (contract A-1, A-5, A-6).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, labels)
  return { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name, labels = labels }, data = { a = "b" } }
end

-- Answer with its headers, as text.
local function raw(sim, path, accept)
  local p = proc.spawn { "curl", "--silent", "--include", "--header", "Accept: " .. (accept or "*/*"),
    sim.server .. path }
  assert.are.equal(0, p:wait())
  return p:out()
end

local function names(list)
  local result = {}
  for i, item in ipairs(list.items) do result[i] = item.metadata.name end
  return result
end

local function play(sim, step) sim.api:create("/sim/scenario", { step }) end

describe("a list of the simulated server #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  local function fill(count)
    for i = 1, count do sim.api:create(configmaps, configmap(("c%02d"):format(i), { odd = tostring(i % 2) })) end
  end

  it("has kind and version in its head and not in its items", function()
    fill(2)
    local list = sim.api:get(configmaps)
    assert.are.equal("ConfigMapList", list.kind)
    assert.are.equal("v1", list.apiVersion)
    assert.are.same({ "c01", "c02" }, names(list))
    assert.is_nil(list.items[1].kind)
    assert.is_nil(list.items[1].apiVersion)
    assert.are.equal(list.items[2].metadata.resourceVersion, list.metadata.resourceVersion)
    assert.are.equal("ConfigMap", sim.api:get(configmaps .. "/c01").kind)
  end)

  it("comes in pages of one consistent state", function()
    fill(5)
    local first = sim.api:get(configmaps .. "?limit=2")
    assert.are.same({ "c01", "c02" }, names(first))
    assert.are.equal(3, first.metadata.remainingItemCount)
    sim.api:delete(configmaps .. "/c03")
    sim.api:create(configmaps, configmap "c035")
    sim.api:patch(configmaps .. "/c04", { data = { a = "changed" } })
    local second = sim.api:get(configmaps .. "?limit=2&continue=" .. first.metadata.continue)
    assert.are.same({ "c03", "c04" }, names(second))
    assert.are.equal("b", second.items[2].data.a)
    assert.are.equal(first.metadata.resourceVersion, second.metadata.resourceVersion)
    local third = sim.api:get(configmaps .. "?limit=2&continue=" .. second.metadata.continue)
    assert.are.same({ "c05" }, names(third))
    assert.is_nil(third.metadata.continue)
    assert.is_nil(third.metadata.remainingItemCount)
  end)

  it("refuses an old page with 410 and a token that goes on", function()
    fill(5)
    local first = sim.api:get(configmaps .. "?limit=2")
    sim.api:delete(configmaps .. "/c03")
    sim.api:create("/sim/compact")
    local path = configmaps .. "?limit=2&continue="
    local status = sim.api:request("GET", path .. first.metadata.continue, nil, nil, 410)
    assert.are.equal("Expired", status.reason)
    assert.has_match("too old to display a consistent list", status.message)
    local rest = sim.api:get(path .. status.metadata.continue)
    assert.are.same({ "c04", "c05" }, names(rest))
  end)

  it("keeps to the versions that are requested", function()
    fill(1)
    local old = sim.api:get(configmaps).metadata.resourceVersion
    sim.api:create(configmaps, configmap "c02")
    local exact = sim.api:get(configmaps .. "?resourceVersionMatch=Exact&resourceVersion=" .. old)
    assert.are.same({ "c01" }, names(exact))
    assert.are.equal(old, exact.metadata.resourceVersion)
    assert.are.same({ "c01" }, names(sim.api:get(configmaps .. "?limit=5&resourceVersion=" .. old)))
    assert.are.same({ "c01", "c02" }, names(sim.api:get(configmaps .. "?resourceVersion=" .. old)))
    assert.are.same({ "c01", "c02" }, names(sim.api:get(configmaps .. "?limit=1&resourceVersion=0")))
    play(sim, { ["do"] = "set", watch_cache = false })
    assert.are.same({ "c01" }, names(sim.api:get(configmaps .. "?limit=1&resourceVersion=0")))
    sim.api:create("/sim/compact")
    local exactly = configmaps .. "?resourceVersionMatch=Exact&resourceVersion="
    local status = sim.api:request("GET", exactly .. old, nil, nil, 410)
    assert.are.equal("Expired", status.reason)
  end)

  it("refuses a version that is still to come, and sets when to try again", function()
    local text = raw(sim, configmaps .. "?resourceVersion=9000000000000000")
    assert.has_match("^HTTP/1.1 504", text)
    assert.has_match("Retry%-After: 1\r", text)
    local status = cjson.decode(text:match "\r\n\r\n(.*)$")
    assert.are.equal("Timeout", status.reason)
    assert.are.equal("ResourceVersionTooLarge", status.details.causes[1].reason)
    assert.are.equal(1, status.details.retryAfterSeconds)
  end)

  it("refuses options that contradict each other", function()
    for query, code in pairs {
      ["resourceVersionMatch=Exact"] = 422,
      ["resourceVersionMatch=Exact&resourceVersion=0"] = 422,
      ["resourceVersionMatch=Newest&resourceVersion=5"] = 422,
      ["sendInitialEvents=true"] = 422,
      ["resourceVersion=abc"] = 400,
      ["limit=many"] = 400,
      ["continue=nonsense"] = 400,
      ["labelSelector=a%3D%3Db%3D%3Dc"] = 400,
      ["fieldSelector=spec.colour%3Dred"] = 400,
    } do
      local status = sim.api:request("GET", configmaps .. "?" .. query, nil, nil, code)
      assert.are.equal("Failure", status.status, query)
    end
  end)

  it("is cut by selectors", function()
    fill(4)
    local function list(query) return names(sim.api:get(configmaps .. query)) end
    assert.are.same({ "c01", "c03" }, list "?labelSelector=odd%3D1")
    assert.are.same({ "c02", "c04" }, list "?labelSelector=odd%21%3D1")
    assert.are.same({ "c02" }, list "?fieldSelector=metadata.name%3Dc02")
    assert.are.same({ "c01" }, list "?labelSelector=odd&fieldSelector=metadata.name%3Dc01")
    local page = sim.api:get(configmaps .. "?labelSelector=odd%3D1&limit=1")
    assert.is_nil(page.metadata.remainingItemCount)
    assert.are.same({ "c03" }, list("?labelSelector=odd%3D1&limit=1&continue=" .. page.metadata.continue))
  end)

  it("comes as a Table or as metadata only", function()
    fill(2)
    local text = raw(sim, configmaps, "application/json;as=Table;g=meta.k8s.io;v=v1")
    local result = cjson.decode(text:match "\r\n\r\n(.*)$")
    assert.are.equal("Table", result.kind)
    assert.are.equal("c01", result.rows[1].cells[1])
    text = raw(sim, configmaps, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    result = cjson.decode(text:match "\r\n\r\n(.*)$")
    assert.are.equal("PartialObjectMetadataList", result.kind)
    assert.are.equal("PartialObjectMetadata", result.items[1].kind)
    assert.are.equal("c01", result.items[1].metadata.name)
    assert.is_nil(result.items[1].data)
    text = raw(sim, configmaps, "application/json;as=Table;g=meta.k8s.io;v=v1beta1")
    result = cjson.decode(text:match "\r\n\r\n(.*)$")
    assert.are.equal("meta.k8s.io/v1beta1", result.apiVersion)
    assert.are.equal("meta.k8s.io/v1beta1", result.rows[1].object.apiVersion)
  end)

  it("is YAML as a server writes it, of objects, lists and errors", function()
    sim = cluster.sim {}
    local api, at = sim.api, "/api/v1/namespaces/default/configmaps"
    api:create(at, { metadata = { name = "c" }, data = { yes = "no", port = "80", at = "2026-1-31", time = "1:30",
      id = "1797fc9f-e82d", lines = "a\nb\n", long = ("word "):rep(20) .. "end", colon = "a: b" } })
    local text = raw(sim, at .. "/c", "application/yaml")
    assert.has_match("content%-type: application/yaml", text:lower())
    assert.has_match('\napiVersion: v1\ndata:\n  at: "2026%-1%-31"\n  colon: \'a: b\'\n  id: 1797fc9f%-e82d\n'
      .. '  lines: |\n    a\n    b\n  long: word [word ]+\n    word word[word ]* end\n  port: "80"\n  time: "1:30"\n'
      .. '  "yes": "no"\nkind: ConfigMap\n', text:match "\r\n\r\n.*$")
    assert.has_match("\nitems:\n%- data:\n", raw(sim, at, "application/yaml"))
    assert.has_match('\ncode: 404\n.*\nmessage: configmaps "x" not found\n', raw(sim, at .. "/x", "application/yaml"))
    assert.has_match("^HTTP/1.1 406.*application/json;stream=watch", raw(sim, at .. "?watch=1", "application/yaml"))
  end)

  it("is refused before all else where the client takes none of its forms", function()
    sim = cluster.sim {}
    local at = "/api/v1/namespaces/default/configmaps/none"
    for accept, message in pairs {
      ["text/html"] = "406: Not Acceptable\\n\\nAvailable representations: application/json, ",
      ["application/*"] = "406: Not Acceptable\\n\\nAvailable representations: application/json, ",
      ["application/json;as=Odd;g=a;v=b"] = "only the following media types are accepted: application/json, ",
    } do
      local text = raw(sim, at, accept)
      assert.has_match("^HTTP/1.1 406", text)
      assert.has_match(message, text, 1, true)
    end
    local partial = "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata"
    local text = raw(sim, "/api/v1/namespaces", partial)
    assert.has_match("but the requested object is a list (*core.NamespaceList)", text, 1, true)
    assert.has_match("but the requested object is not a list (*core.Namespace)",
      raw(sim, "/api/v1/namespaces/default", partial .. "List"), 1, true)
  end)
end)

describe("generated pods #threads", function()
  after_each(cluster.stop_all)

  it("are the same at every start, with a list that is newer each time", function()
    local function take()
      local sim = cluster.sim { "--pods", "30" }
      local list = sim.api:get "/api/v1/pods"
      cluster.stop_all()
      return list
    end
    local before, after = take(), take()
    assert.are.equal(30, #before.items)
    assert.are.same(before.items, after.items)
    assert.is_true(after.metadata.resourceVersion > before.metadata.resourceVersion)
    assert.is_true(#cjson.encode(before.items[1]) > 8000)
  end)

  it("are in namespaces and on nodes that are there", function()
    local sim = cluster.sim { "--pods", "30" }
    local pod = sim.api:get "/api/v1/pods?limit=1".items[1]
    assert.are.equal("Active", sim.api:get("/api/v1/namespaces/" .. pod.metadata.namespace).status.phase)
    assert.are.equal("Node", sim.api:get("/api/v1/nodes/" .. pod.spec.nodeName).kind)
    local there = sim.api:get("/api/v1/pods?fieldSelector=spec.nodeName%3D" .. pod.spec.nodeName)
    assert.are.equal(pod.metadata.name, there.items[1].metadata.name)
    assert.are.equal(30, #sim.api:get("/api/v1/pods?fieldSelector=status.phase%3DRunning").items)
  end)

  it("are compressed for clients that take it", function()
    local sim = cluster.sim { "--pods", "100" }
    local function encoding(path)
      local curl = proc.spawn { "curl", "--silent", "--include", "--output", "-", "--header", "Accept-Encoding: gzip",
        sim.server .. path }
      assert.are.equal(0, curl:wait())
      return curl:out():match "^(.-)\r\n\r\n":match "Content%-Encoding: (%w+)", #curl:out()
    end
    local coding, size = encoding "/api/v1/pods"
    assert.are.equal("gzip", coding)
    assert.is_true(size < 200000)
    assert.is_nil((encoding "/api/v1/pods?limit=3"))
    local whole = proc.spawn { "curl", "--silent", "--compressed", sim.server .. "/api/v1/pods" }
    assert.are.equal(0, whole:wait())
    assert.are.equal(100, #cjson.decode(whole:out()).items)
    play(sim, { ["do"] = "set", gzip = false })
    assert.is_nil((encoding "/api/v1/pods"))
  end)
end)
