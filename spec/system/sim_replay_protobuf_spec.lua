-- `kubelua sim --replay --encodings DIR`: pods as protobuf.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local protobuf = require "spec.support.protobuf"
local temp = require "spec.support.temp"

local pods = "/api/v1/pods"
local count = 12
local type_of = {
  pod = "application/vnd.kubernetes.protobuf",
  metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  metadata_list = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
}
local streaming = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

-- The fields of metadata that the source reads, and others around them.
local function metadata_of(item)
  local meta = item.metadata
  local fields = {
    { 1, meta.name }, { 2, meta.generateName }, { 3, meta.namespace }, { 4, "" }, { 5, meta.uid },
    { 6, meta.resourceVersion }, { 7, 0 }, { 8, protobuf.encode { { 1, 1700000000 } } },
  }
  for _, key in ipairs { "bench/first", "bench/sent-ns" } do
    local value = meta.annotations[key] or key == "bench/first" and "1"
    if value then fields[#fields + 1] = { 12, protobuf.encode { { 1, key }, { 2, value } } } end
  end
  return protobuf.encode(fields)
end

-- Stands for what the source does not look into; long enough for lengths of three bytes.
local function rest_of(item) return { 2, item.metadata.name .. (" spec"):rep(5000) }, { 3, "status" } end

local function write(path, items, message)
  local file = assert(io.open(path, "wb"))
  for i, item in ipairs(items) do assert(file:write(protobuf.framed(message(item, i)))) end
  assert(file:close())
end

-- What an object says of itself: its kind, and its message.
local function open_envelope(object)
  assert.are.equal("k8s\0", object:sub(1, 4))
  local unknown = object:sub(5)
  local kind = protobuf.one(unknown, 1)
  assert.are.equal("", protobuf.one(unknown, 3))
  assert.are.equal("", protobuf.one(unknown, 4))
  return protobuf.one(kind, 1) .. " " .. protobuf.one(kind, 2), protobuf.one(unknown, 2)
end

local function annotation(meta, key)
  for _, entry in ipairs(protobuf.all(meta, 12)) do
    if protobuf.one(entry, 1) == key then return protobuf.one(entry, 2) end
  end
end

local function summary(message)
  local meta = protobuf.one(message, 1)
  return {
    key = (protobuf.one(meta, 3) or "") .. "/" .. (protobuf.one(meta, 1) or ""),
    version = protobuf.one(meta, 6), sent = annotation(meta, "bench/sent-ns"), uid = protobuf.one(meta, 5),
    rest = { protobuf.one(message, 2), protobuf.one(message, 3) },
  }
end

local function summary_of_json(item)
  local meta, spec, status = item.metadata, rest_of(item)
  return {
    key = meta.namespace .. "/" .. meta.name, version = meta.resourceVersion, uid = meta.uid,
    sent = meta.annotations["bench/sent-ns"], rest = { spec[2], status[2] },
  }
end

local function without_rest(pod)
  pod.rest = {}
  return pod
end

describe("the replay source with protobuf #threads", function()
  local sim, dir, items, watches

  local function sources(args)
    return { "--replay", "--pods", tostring(count), "--replicas", "3", unpack(args or {}) }
  end

  setup(function()
    items = cluster.sim(sources()).api:get(pods).items
    cluster.stop_all()
    dir = temp.folder()
    write(dir .. "/pods.pb", items, function(item)
      return protobuf.encode { { 1, metadata_of(item) }, rest_of(item) }
    end)
    write(dir .. "/metadata.pb", items, function(item) return protobuf.encode { { 1, metadata_of(item) } } end)
  end)
  teardown(function() temp.remove(dir) end)

  before_each(function()
    sim, watches = cluster.sim(sources { "--encodings", dir }), {}
  end)
  after_each(function()
    for _, w in ipairs(watches) do
      w:kill "KILL"
      w:wait()
    end
    cluster.stop_all()
  end)

  local function post(path) return sim.api:request("POST", "/sim/replay/" .. path) end

  local function get(query, accept)
    local p = proc.spawn { "curl", "--silent", "--include", "--header", "Accept: " .. accept,
      sim.server .. pods .. query }
    assert.are.equal(0, p:wait())
    local head, body = p:out():match "^(.-)\r\n\r\n(.*)$"
    assert.truthy(head:find("HTTP/1.1 200", 1, true), head)
    return body, head:match "Content%-Type: ([^\r\n]*)"
  end

  local function watch(query, accept)
    local p = proc.spawn { "curl", "--silent", "--no-buffer", "--header", "Accept: " .. accept,
      sim.server .. pods .. query }
    watches[#watches + 1] = p
    return p
  end

  -- Events number `first` to `last`: their types, kinds and messages.
  local function events(w, first, last)
    local all, found = nil, {}
    w:wait_until(function()
      all = protobuf.frames(w:out())
      return #all >= last
    end, last .. " events")
    for i = first, last do
      local kind, message = open_envelope(protobuf.one(protobuf.one(all[i], 2), 1))
      found[#found + 1] = { type = protobuf.one(all[i], 1), kind = kind, message = message }
    end
    return found
  end

  it("lists pods, completely and in pages", function()
    local json = sim.api:get(pods)
    assert.are.same(items, json.items)
    local body, content_type = get("", type_of.pod)
    assert.are.equal("application/vnd.kubernetes.protobuf", content_type)
    local kind, list = open_envelope(body)
    assert.are.equal("v1 PodList", kind)
    assert.are.equal(json.metadata.resourceVersion, protobuf.one(protobuf.one(list, 1), 2))
    local listed = protobuf.all(list, 2)
    assert.are.equal(count, #listed)
    for i, item in ipairs(items) do assert.are.same(summary_of_json(item), summary(listed[i])) end

    local _, page = open_envelope((get("?limit=5", type_of.pod)))
    assert.are.equal(count - 5, protobuf.one(protobuf.one(page, 1), 4))
    assert.are.same({ unpack(listed, 1, 5) }, protobuf.all(page, 2))
    _, page = open_envelope((get("?limit=50&continue=" .. protobuf.one(protobuf.one(page, 1), 3), type_of.pod)))
    assert.are.same({ unpack(listed, 6) }, protobuf.all(page, 2))
    assert.are.equal("", protobuf.one(protobuf.one(page, 1), 3))
  end)

  it("lists metadata alone", function()
    local kind, list = open_envelope((get("", type_of.metadata_list)))
    assert.are.equal("meta.k8s.io/v1 PartialObjectMetadataList", kind)
    local listed = protobuf.all(list, 2)
    for i, item in ipairs(items) do
      assert.are.same(without_rest(summary_of_json(item)), summary(listed[i]))
      assert.are.equal(metadata_of(item), protobuf.one(listed[i], 1))
    end
  end)

  for accept, kind in pairs { pod = "v1 Pod", metadata = "meta.k8s.io/v1 PartialObjectMetadata" } do
    it("streams a list and a storm: " .. kind, function()
      local version = tonumber(sim.api:get(pods).metadata.resourceVersion)
      local w = watch(streaming, type_of[accept])
      for i, event in ipairs(events(w, 1, count)) do
        local wanted = summary_of_json(items[i])
        assert.are.equal("ADDED", event.type)
        assert.are.equal(kind, event.kind)
        assert.are.same(accept == "pod" and wanted or without_rest(wanted), summary(event.message))
      end
      local mark = events(w, count + 1, count + 1)[1]
      assert.are.equal("BOOKMARK", mark.type)
      assert.are.equal(kind, mark.kind)
      local meta = protobuf.one(mark.message, 1)
      assert.are.equal(tostring(version), protobuf.one(meta, 6))
      assert.are.equal("true", annotation(meta, "k8s.io/initial-events-end"))

      post("storm?count=" .. 2 * count)
      local last, first = {}, count + 2
      for i, event in ipairs(events(w, first, first + 2 * count - 1)) do
        local pod = summary(event.message)
        assert.are.equal("MODIFIED", event.type)
        assert.are.equal(tostring(version + i), pod.version)
        last[pod.key] = pod
      end
      for _, item in ipairs(sim.api:get(pods).items) do
        local pod = summary_of_json(item)
        assert.are.same(accept == "pod" and pod or without_rest(pod), last[pod.key])
      end
    end)
  end

  it("names the stream in its content type, and JSON is there as before", function()
    local w = watch("?watch=true&resourceVersion=0", type_of.pod)
    events(w, 1, count)
    local p = proc.spawn { "curl", "--silent", "--output", "/dev/null", "--write-out", "%{content_type}\n", "--header",
      "Accept: " .. type_of.pod .. ",application/json", sim.server .. pods .. "?watch=true&timeoutSeconds=1" }
    assert.are.equal("application/vnd.kubernetes.protobuf;stream=watch", p:wait_line "^.*$")
    local _, content_type = get("", "application/json," .. type_of.pod)
    assert.are.equal("application/json", content_type)
  end)

  it("makes markers in both encodings", function()
    local w = watch(streaming, type_of.pod)
    events(w, 1, count + 1)
    post "marker?name=marker-a"
    local event = events(w, count + 2, count + 2)[1]
    local pod, item = summary(event.message), sim.api:get(pods).items[1]
    assert.are.equal("ADDED", event.type)
    assert.are.equal("default/marker-a", pod.key)
    assert.are.equal(item.metadata.resourceVersion, pod.version)
    assert.are.equal(item.metadata.uid, pod.uid)
    assert.are.equal(("0"):rep(19), pod.sent)
    assert.are.equal("status", pod.rest[2])
    local _, list = open_envelope((get("", type_of.pod)))
    assert.are.equal(event.message, protobuf.all(list, 2)[1])
  end)

  it("reports in the stream that a version is too old", function()
    local old = sim.api:get(pods).metadata.resourceVersion
    post "expire"
    local event = events(watch("?watch=true&resourceVersion=" .. old, type_of.pod), 1, 1)[1]
    assert.are.equal("ERROR", event.type)
    assert.are.equal("v1 Status", event.kind)
    assert.are.equal("Failure", protobuf.one(event.message, 2))
    assert.truthy(protobuf.one(event.message, 3):find("too old resource version", 1, true))
    assert.are.equal("Expired", protobuf.one(event.message, 4))
    assert.are.equal(410, protobuf.one(event.message, 6))
    event = events(watch(streaming .. "&resourceVersion=" .. old + 100, type_of.pod), 1, 1)[1]
    assert.are.equal(504, protobuf.one(event.message, 6))
    assert.are.equal("ResourceVersionTooLarge", protobuf.one(protobuf.one(protobuf.one(event.message, 5), 4), 1))
  end)

  describe("refuses encodings of other pods:", function()
    local other

    before_each(function() other = temp.folder() end)
    after_each(function() temp.remove(other) end)

    local function refused(message, args)
      local p = proc.spawn { cluster.binary, "sim", unpack(args or sources { "--encodings", other }) }
      assert.are.equal(2, p:wait())
      assert.truthy(p:err():find(message, 1, true), p:err())
    end

    -- pods.pb with some items, and their fields of metadata changed.
    local function write_pods(some, change)
      write(other .. "/pods.pb", some, function(item)
        local copy = cjson.decode(cjson.encode(item))
        if change then change(copy.metadata) end
        return protobuf.encode { { 1, metadata_of(copy) }, rest_of(item) }
      end)
    end

    it("files that are missing or cut off", function()
      refused "pods.pb"
      write_pods(items)
      refused "metadata.pb"
      local file = assert(io.open(other .. "/pods.pb", "ab"))
      file:write "\0\0"
      file:close()
      refused(("pods.pb: unexpected end in object %d"):format(count))
      assert(io.open(other .. "/pods.pb", "wb")):close()
      refused(("pods.pb: contains 0 objects for %d pods"):format(count))
    end)

    it("too few, too many, other names", function()
      write_pods { unpack(items, 1, count - 1) }
      refused(("pods.pb: contains %d objects for %d pods"):format(count - 1, count))
      write_pods { items[1], unpack(items) }
      refused "pods.pb: object 1: found"
      write_pods(items)
      local all = io.open(other .. "/pods.pb", "rb"):read "*a"
      local file = assert(io.open(other .. "/pods.pb", "ab"))
      file:write(all)
      file:close()
      refused(("pods.pb: contains more objects than the %d pods"):format(count))
      write_pods(items, function(meta) meta.name = meta.name .. "x" end)
      refused "the encodings belong to other pods"
      write(other .. "/pods.pb", items, function() return "no message" end)
      refused "object 0: found nothing with a name"
    end)

    it("texts of another width", function()
      write_pods(items, function(meta) meta.resourceVersion = "1" end)
      refused "pods.pb: object 0: its resourceVersion has not 10 digits"
      write_pods(items, function(meta) meta.annotations["bench/sent-ns"] = nil end)
      refused "pods.pb: object 0: its annotation bench/sent-ns has not 19 digits"
    end)

    it("metadata that is not that of the pods", function()
      write_pods(items)
      write(other .. "/metadata.pb", items, function(item, i)
        return protobuf.encode { { 1, metadata_of(item) .. (i == 3 and protobuf.encode { { 7, 1 } } or "") } }
      end)
      refused "metadata.pb: object 2: it is not the metadata of the one in pods.pb"
    end)

    it("a source that is none", function()
      refused("--encodings needs --replay", { "--pods", "3", "--encodings", other })
    end)
  end)
end)
