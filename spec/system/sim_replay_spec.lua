-- `kubelua sim --replay`: the source of benchmarks.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local watching = require "spec.support.watching"

local pods = "/api/v1/pods"
local count = 30
local streaming = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
local metadata_only = "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

local function version_of(object) return tonumber(object.metadata.resourceVersion) end
local function key_of(object) return object.metadata.namespace .. "/" .. object.metadata.name end
local function sent_ns(object) return object.metadata.annotations["bench/sent-ns"] end

-- What differs between an object of a watch and the same one in a list.
local function as_item(object)
  object.kind, object.apiVersion = nil, nil
  return object
end

local function by_key(items)
  local map = {}
  for _, item in ipairs(items) do map[key_of(item)] = item end
  return map
end

describe("the replay source #threads", function()
  local sim
  before_each(function() sim = cluster.sim { "--replay", "--pods", tostring(count), "--replicas", "3" } end)
  after_each(function()
    watching.close_all()
    cluster.stop_all()
  end)

  local function post(path, code) return sim.api:request("POST", "/sim/replay/" .. path, nil, nil, code) end
  local function stats() return sim.api:get "/sim/stats" end
  local function code_of(method, path) return (sim.api:curl(method, path)) end

  local function watch(query, headers)
    local open = stats().open_watches
    local w = watching.open(sim.server, pods .. query, headers)
    await(function() return stats().open_watches == open + 1 end, "one more open watch")
    return w
  end

  -- A watch of what comes from now on.
  local function watch_now() return watch("?resourceVersion=" .. sim.api:get(pods).metadata.resourceVersion) end

  local function events(w, n)
    local all = {}
    for i = 1, n do all[i] = w:next() end
    return all
  end

  it("lists the pods of the simulated server, in the same order", function()
    local list = sim.api:get(pods)
    assert.are.same(cluster.sim({ "--pods", tostring(count), "--replicas", "3" }).api:get(pods).items, list.items)
    assert.are.equal("PodList", list.kind)
    assert.are.equal(count, #list.items)
    assert.are.equal(("0"):rep(19), sent_ns(list.items[1]))
    assert.are.same(list, sim.api:get(pods .. "?resourceVersion=0&limit=7"))
  end)

  it("lists in pages, which last until something changes", function()
    local whole, items, token = sim.api:get(pods), {}, ""
    for _, left in ipairs { 18, 6, false } do
      local page = sim.api:get(pods .. "?limit=12" .. token)
      assert.are.equal(left or nil, page.metadata.remainingItemCount)
      assert.are.equal(whole.metadata.resourceVersion, page.metadata.resourceVersion)
      for _, item in ipairs(page.items) do items[#items + 1] = item end
      token = "&continue=" .. (page.metadata.continue or "")
    end
    assert.are.same(whole.items, items)

    token = sim.api:get(pods .. "?limit=12").metadata.continue
    post "marker?name=marker-a"
    local expired = sim.api:request("GET", pods .. "?limit=12&continue=" .. token, nil, nil, 410)
    assert.are.equal("Expired", expired.reason)
    local rest = sim.api:get(pods .. "?continue=" .. expired.metadata.continue)
    assert.are.same({ unpack(whole.items, 13) }, rest.items)
    assert.are.equal(400, code_of("GET", pods .. "?continue=nonsense"))
  end)

  it("lists the present version and no other", function()
    local version = sim.api:get(pods).metadata.resourceVersion
    post "marker?name=marker-a"
    local exact = pods .. "?resourceVersionMatch=Exact&resourceVersion="
    assert.are.equal(410, code_of("GET", exact .. version))
    assert.are.equal(200, code_of("GET", exact .. version + 1))
    assert.are.equal(504, code_of("GET", pods .. "?resourceVersion=" .. version + 2))
    assert.are.equal(200, code_of("GET", pods .. "?resourceVersion=" .. version))
  end)

  it("streams a list, and goes on as a watch", function()
    local list = sim.api:get(pods)
    local w = watch(streaming)
    for i, event in ipairs(events(w, count)) do
      assert.are.equal("ADDED", event.type)
      assert.are.equal("Pod", event.object.kind)
      assert.are.equal("v1", event.object.apiVersion)
      assert.are.same(list.items[i], as_item(event.object))
    end
    local mark = w:next()
    assert.are.equal("BOOKMARK", mark.type)
    assert.are.equal("Pod", mark.object.kind)
    assert.are.equal("true", mark.object.metadata.annotations["k8s.io/initial-events-end"])
    assert.are.equal(list.metadata.resourceVersion, mark.object.metadata.resourceVersion)
    post "marker?name=marker-a"
    assert.are.same({ "ADDED marker-a" }, w:short(1))
  end)

  it("watches without a version begin with all pods, and those of another kind with none", function()
    assert.are.equal(count, #events(watch "", count))
    local w = watch "?sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
    post "marker?name=marker-a"
    assert.are.same({ "ADDED marker-a" }, w:short(1))
  end)

  it("sends a storm to each open watch, in order, and lists what it sent", function()
    local before, n = sim.api:get(pods), 2 * count + 5
    local version, first, second = version_of(before), watch_now(), watch_now()
    local answer = post("storm?count=" .. n)
    assert.are.equal(n, answer.events)
    assert.are.equal(2, answer.watches)
    local sent, last, start = events(first, n), {}, os.time()
    assert.are.same(sent, events(second, n))
    for i, event in ipairs(sent) do
      assert.are.equal("MODIFIED", event.type)
      assert.are.equal(version + i, version_of(event.object))
      if i > count then assert.are.equal(key_of(sent[i - count].object), key_of(event.object)) end
      assert.is_true(math.abs(tonumber(sent_ns(event.object)) / 1e9 - start) < 60)
      last[key_of(event.object)] = as_item(event.object)
    end
    local after = sim.api:get(pods)
    assert.are.equal(version + n, version_of(after))
    assert.are.same(last, by_key(after.items))
    -- Nothing but the two texts has changed.
    for i, item in ipairs(after.items) do
      item.metadata.resourceVersion = before.items[i].metadata.resourceVersion
      item.metadata.annotations["bench/sent-ns"] = ("0"):rep(19)
    end
    assert.are.same(before.items, after.items)
  end)

  it("sends each update of a pod as it was, also when it has few pods", function()
    cluster.stop_all()
    sim = cluster.sim { "--replay", "--pods", "2" }
    local version, w = version_of(sim.api:get(pods)), watch_now()
    post "storm?count=50"
    for i, event in ipairs(events(w, 50)) do assert.are.equal(version + i, version_of(event.object)) end
  end)

  it("paces a storm", function()
    local w = watch_now()
    assert.is_true(post("storm?count=21&rate=100").wall_us >= 200000)
    local sent = events(w, 21)
    local span = tonumber(sent_ns(sent[21].object)) - tonumber(sent_ns(sent[1].object))
    assert.is_true(span > 0.1e9, "all at once")
  end)

  it("sends a watch from an older version what it missed", function()
    local version = sim.api:get(pods).metadata.resourceVersion
    local w = watch_now()
    post("storm?count=" .. count + 3)
    post "marker?name=marker-a"
    events(w, count + 4)
    local late = events(watch("?resourceVersion=" .. version), count + 1)
    for i = 1, count do
      assert.are.equal("MODIFIED", late[i].type)
      assert.are.equal(tonumber(version) + 3 + i, version_of(late[i].object))
    end
    assert.are.equal("ADDED", late[count + 1].type)
    assert.are.equal("marker-a", late[count + 1].object.metadata.name)
  end)

  it("refuses a storm that nobody sees, or that makes no sense", function()
    assert.truthy(post("storm?count=5", 409).message:find("no watch is open", 1, true))
    for _, query in ipairs { "", "?count=0", "?count=x", "?count=5&rate=0", "?count=5&rate=1.5" } do
      post("storm" .. query, 400)
    end
    assert.are.equal(405, code_of("GET", "/sim/replay/storm?count=5"))
    assert.are.equal(0, stats().events)
  end)

  it("ends a storm when the last watch goes away", function()
    local w = watch_now()
    local storm = proc.spawn { "curl", "--silent", "--request", "POST",
      sim.server .. "/sim/replay/storm?count=100000&rate=100" }
    w:next()
    watching.close_all()
    assert.are.equal(0, storm:wait())
    assert.truthy(storm:out():find "no watch is open any more after %d+ updates")
  end)

  it("lets a storm wait for a client that does not read, and buffers nothing for it", function()
    local n = 20000
    local reader = proc.spawn { "curl", "--silent", "--output", "/dev/null", sim.server .. pods .. "?watch=true" }
    await(function() return stats().open_watches == 1 end, "an open watch")
    post "storm?count=30"
    local before, first = sim:rss(), stats().events
    reader:kill "STOP"
    local storm = proc.spawn { "curl", "--silent", "--request", "POST",
      sim.server .. "/sim/replay/storm?count=" .. n }
    local last
    await(function()
      local now = stats().events
      local stands = now > first and now == last
      last = now
      return stands
    end, "a storm that stands still")
    assert.is_true(last < n)
    assert.is_true(sim:rss() - before < 8 * 2 ^ 20)
    reader:kill "CONT"
    assert.are.equal(0, storm:wait(60))
    assert.are.equal(n, cjson.decode(storm:out()).events)
    cluster.terminate(sim)
    assert.are.equal(18, reader:wait()) -- which is how curl says that the server went away
  end)

  it("stops while a storm waits for a client that does not read", function()
    local w = watch_now()
    w.proc:kill "STOP"
    proc.spawn { "curl", "--silent", "--request", "POST", sim.server .. "/sim/replay/storm?count=1000000" }
    await(function() return stats().events > 100 end, "the storm")
    assert.are.equal(0, cluster.terminate(sim))
  end)

  it("makes markers, pods of their own that later lists have", function()
    local before, w = sim.api:get(pods), watch_now()
    assert.are.same({ name = "marker-a", version = version_of(before) + 1 }, post "marker?name=marker-a")
    local event, list = w:next(), sim.api:get(pods)
    assert.are.equal("ADDED", event.type)
    assert.are.equal("default/marker-a", key_of(event.object))
    assert.are.equal("default/marker-a", key_of(list.items[1]))
    assert.are.same(list.items[1], as_item(event.object))
    assert.are.same(before.items, { unpack(list.items, 2) })
    assert.is_nil(cjson.encode(before.items):find(event.object.metadata.uid, 1, true))
    post("marker?name=marker-a", 409)
    post("marker?name=No_Name", 400)
    post("marker", 400)
    post "storm?count=31"
    local sent = events(w, 31)
    assert.are.equal(key_of(sent[1].object), key_of(sent[31].object)) -- storms leave markers alone
  end)

  it("expires: watches end, old versions are too old, the pods stay as they are", function()
    local w = watch_now()
    post "storm?count=7"
    local before = sim.api:get(pods)
    events(w, 7)
    post "expire"
    post("storm?count=3", 409) -- it has no open watch, so nothing changes
    assert.are.equal(0, (w:finish()))
    local old = watching.open(sim.server, pods .. "?resourceVersion=" .. before.metadata.resourceVersion):next()
    assert.are.equal("ERROR", old.type)
    assert.are.equal(410, old.object.code)
    local after = sim.api:get(pods)
    assert.are.same(before.items, after.items)
    assert.is_true(version_of(after) > version_of(before))
    w = watch_now()
    post "marker?name=marker-a"
    assert.are.same({ "ADDED marker-a" }, w:short(1))
  end)

  it("ends a watch when its time is over", function()
    assert.are.equal(0, (watching.open(sim.server, pods .. "?resourceVersion=0&timeoutSeconds=1"):finish()))
  end)

  it("has metadata alone, in lists and in watches", function()
    local accept = metadata_only:gsub("PartialObjectMetadata", "%0List")
    local full = sim.api:get(pods)
    local reader = proc.spawn { "curl", "--silent", "--header", accept, sim.server .. pods }
    assert.are.equal(0, reader:wait())
    local list = cjson.decode(reader:out())
    assert.are.equal("PartialObjectMetadataList", list.kind)
    assert.are.equal(full.metadata.resourceVersion, list.metadata.resourceVersion)
    for i, item in ipairs(list.items) do
      assert.are.same({
        kind = "PartialObjectMetadata", apiVersion = "meta.k8s.io/v1", metadata = full.items[i].metadata,
      }, item)
    end
    local w = watch(streaming, { metadata_only })
    for i, event in ipairs(events(w, count)) do assert.are.same(list.items[i], event.object) end
    assert.are.equal("PartialObjectMetadata", w:next().object.kind)
    post "storm?count=1"
    local event = w:next()
    assert.are.equal("MODIFIED", event.type)
    assert.are.same({ "apiVersion", "kind", "metadata" }, (function()
      local keys = {}
      for key in pairs(event.object) do keys[#keys + 1] = key end
      table.sort(keys)
      return keys
    end)())
  end)

  it("serves many requests on one connection", function()
    local url = sim.server .. pods
    local reader = proc.spawn { "curl", "--silent", "--output", "/dev/null", "--output", "/dev/null", "--write-out",
      "%{num_connects} %{http_code}\n", url, url .. "?watch=true&resourceVersion=0&timeoutSeconds=1" }
    assert.are.equal(0, reader:wait())
    assert.are.equal("1 200\n0 200\n", reader:out())
  end)

  it("counts what it does", function()
    local w = watch(streaming)
    post "storm?count=40"
    events(w, count + 1 + 40)
    sim.api:get(pods)
    local now = stats()
    assert.are.equal(count + 40, now.events)
    assert.are.equal(1, now.bookmarks)
    assert.are.equal(1, now.watch_lists)
    assert.are.equal(1, now.lists)
    assert.are.same({ objects = count, watches = 1 }, now.resources.pods)
    assert.is_true(now.bytes > (2 * count + 40) * 9000)
  end)

  it("is discovered as a server of pods", function()
    local resources = sim.api:get("/api/v1").resources
    assert.are.equal("pods", resources[1].name)
    assert.are.same({ "v1" }, sim.api:get("/api").versions)
    assert.are.same({}, sim.api:get("/apis").groups)
    local aggregated = proc.spawn { "curl", "--silent", "--header",
      "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", sim.server .. "/api" }
    assert.are.equal(0, aggregated:wait())
    local document = cjson.decode(aggregated:out())
    assert.are.equal("APIGroupDiscoveryList", document.kind)
    assert.are.equal("pods", document.items[1].versions[1].resources[1].resource)
    assert.are.equal("ok", sim.api:get "/readyz")
  end)

  it("refuses what it does not know", function()
    assert.are.equal(400, code_of("GET", pods .. "?labelSelector=a%3Db"))
    assert.are.equal(400, code_of("GET", pods .. "?watch=1&fieldSelector=metadata.name%3Da"))
    assert.are.equal(404, code_of("GET", "/api/v1/configmaps"))
    assert.are.equal(405, code_of("DELETE", pods))
    for accept, code in pairs {
      ["application/vnd.kubernetes.protobuf"] = 406,
      ["application/vnd.kubernetes.protobuf,application/json"] = 200,
      ["application/json;as=Table;v=v1;g=meta.k8s.io"] = 406,
      ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json"] = 200,
    } do
      local reader = proc.spawn { "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
        "--header", "Accept: " .. accept, sim.server .. pods }
      assert.are.equal(0, reader:wait())
      assert.are.equal(tostring(code), reader:out())
    end
  end)

  it("feeds an engine: sync, storm, marker, and a relist that changes nothing", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods, updates = k8s.informer "pods", 0
      pods:add_event_handler {
        OnAdd = function(obj, ev) if not ev.initial then print("added", obj:name(), updates) end end,
        OnUpdate = function() updates = updates + 1 end,
        OnDelete = function(obj) print("deleted", obj:name()) end,
      }
      k8s.main(function() print("synced", pods:lister():count()) end)
    ]])
    engine:wait_line("^synced\t" .. count .. "$")
    await(function() return stats().open_watches == 1 end, "an open watch")
    post "storm?count=75"
    post "marker?name=marker-a"
    engine:wait_line "^added\tmarker%-a\t75$"
    post "expire"
    post "marker?name=marker-b"
    engine:wait_line "^added\tmarker%-b\t75$"
    assert.is_nil(engine:out():find "deleted")
  end)
end)

describe("the replay source's flags", function()
  local function refused(args, message)
    local p = proc.spawn { cluster.binary, "sim", "--replay", unpack(args) }
    assert.are.equal(2, p:wait())
    assert.truthy(p:err():find(message, 1, true), p:err())
  end

  it("report what is missing, and what does not go together", function()
    refused({}, "--replay needs --pods N")
    refused({ "--pods", "3", "--load", "x.json" }, "--load and --replay are mutually exclusive")
    refused({ "--pods", "3", "--script", "x.json" }, "--script and --replay are mutually exclusive")
    refused({ "--pods", "3", "--listen", "nowhere" }, "cannot listen on nowhere")
  end)
end)
