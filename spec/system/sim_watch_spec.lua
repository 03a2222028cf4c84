-- `kubelua sim`: watches, bookmarks, watch-lists (contract A-2, A-3, A-4).
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local watching = require "spec.support.watching"

local configmaps = "/api/v1/namespaces/default/configmaps"
local secrets = "/api/v1/namespaces/default/secrets"
local initial = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

local function configmap(name, labels)
  return { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name, labels = labels }, data = { a = "b" } }
end

local function play(sim, ...) sim.api:create("/sim/scenario", { ... }) end

describe("a watch of the simulated server #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(function()
    watching.close_all()
    cluster.stop_all()
  end)

  local function create(name, labels) return sim.api:create(configmaps, configmap(name, labels)) end
  local function version() return sim.api:get(configmaps).metadata.resourceVersion end
  local function watch(query, headers) return watching.open(sim.server, configmaps .. query, headers) end

  it("goes on from a version with everything after it, once and in order", function()
    create "before"
    local from = version()
    create "a"
    local w = watch("?resourceVersion=" .. from)
    assert.are.same({ "ADDED a" }, w:short(1))
    sim.api:patch(configmaps .. "/a", { data = { a = "c" } })
    sim.api:delete(configmaps .. "/a")
    local changed, deleted = w:next(), w:next()
    assert.are.equal("MODIFIED", changed.type)
    assert.are.equal("c", changed.object.data.a)
    assert.are.equal("ConfigMap", changed.object.kind)
    assert.are.equal("DELETED", deleted.type)
    assert.is_true(deleted.object.metadata.resourceVersion > changed.object.metadata.resourceVersion)
  end)

  it("without a version begins with the present objects", function()
    create "a"
    create "b"
    for _, query in ipairs { "", "?resourceVersion=0" } do
      local w = watch(query)
      assert.are.same({ "ADDED a", "ADDED b" }, w:short(2))
    end
  end)

  it("may begin with now and nothing before it", function()
    create "a"
    local w = watch "?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=30"
    await(function() return sim.api:get("/sim/stats").open_watches == 1 end, "one open watch")
    create "b"
    assert.are.same({ "ADDED b" }, w:short(1))
  end)

  it("is a streaming list when it is requested", function()
    create "a"
    create "b"
    local w = watch(initial)
    assert.are.same({ "ADDED a", "ADDED b" }, w:short(2))
    local mark = w:next()
    assert.are.equal("BOOKMARK", mark.type)
    assert.are.equal("true", mark.object.metadata.annotations["k8s.io/initial-events-end"])
    assert.are.equal(version(), mark.object.metadata.resourceVersion)
    assert.are.equal("ConfigMap", mark.object.kind)
    create "c"
    assert.are.same({ "ADDED c" }, w:short(1))
  end)

  it("has no end mark for those who take no bookmarks", function()
    create "a"
    local w = watch "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    assert.are.same({ "ADDED a" }, w:short(1))
    create "b"
    assert.are.same({ "ADDED b" }, w:short(1))
  end)

  it("refuses options that contradict each other", function()
    for query, code in pairs {
      ["sendInitialEvents=true&allowWatchBookmarks=true"] = 422,
      ["resourceVersionMatch=NotOlderThan"] = 422,
      ["sendInitialEvents=true&resourceVersionMatch=Exact"] = 422,
      ["resourceVersion=abc"] = 500, -- without a reason, as seen
    } do
      local status = sim.api:request("GET", configmaps .. "?watch=true&" .. query, nil, nil, code)
      assert.are.equal("Failure", status.status, query)
    end
  end)

  it("sends an ERROR event of code 410 for a version that is too old", function()
    local w = watch "?resourceVersion=5"
    local event = w:next()
    assert.are.equal("ERROR", event.type)
    assert.are.equal(410, event.object.code)
    assert.are.equal("Expired", event.object.reason)
    assert.has_match("^too old resource version: 5 %(%d+%)$", event.object.message)
    assert.are.equal(0, (w:finish()))
  end)

  it("ends when its version expires, and does not begin again from it", function()
    create "a"
    local from = version()
    local w = watch("?resourceVersion=" .. from)
    create "b"
    w:short(1)
    play(sim, { ["do"] = "expire" })
    assert.are.equal(0, (w:finish()))
    assert.are.equal("ERROR", watch("?resourceVersion=" .. from):next().type)
    assert.are.same({ "ADDED a", "ADDED b", "BOOKMARK" }, watch(initial):short(3))
  end)

  it("outlives a compaction", function()
    create "a"
    local from = version()
    create "b"
    sim.api:create "/sim/compact"
    assert.are.same({ "ADDED b" }, watch("?resourceVersion=" .. from):short(1))
  end)

  it("shows objects that begin or cease to match as added and deleted", function()
    create("a", { colour = "red" })
    create("b", { colour = "blue" })
    local w = watch(initial .. "&labelSelector=colour%3Dred")
    assert.are.same({ "ADDED a", "BOOKMARK" }, w:short(2))
    local function paint(name, colour)
      sim.api:patch(configmaps .. "/" .. name, { metadata = { labels = { colour = colour } } })
      return version()
    end
    paint("b", "red")
    paint("b", "green")
    local last = paint("a", "blue")
    assert.are.same({ "ADDED b" }, w:short(1))
    local left = w:next()
    assert.are.equal("DELETED", left.type)
    assert.are.equal("red", left.object.metadata.labels.colour)
    left = w:next()
    assert.are.equal("DELETED", left.type)
    assert.are.equal("a", left.object.metadata.name)
    assert.are.equal(last, left.object.metadata.resourceVersion)
  end)

  it("keeps to its namespace and its field selector", function()
    sim.api:create("/api/v1/namespaces", { kind = "Namespace", apiVersion = "v1", metadata = { name = "other" } })
    local all = watching.open(sim.server, "/api/v1/configmaps" .. initial)
    local one = watch(initial .. "&fieldSelector=metadata.name%3Db")
    local here = watch(initial)
    for _, w in ipairs { all, one, here } do w:short(1) end
    sim.api:create("/api/v1/namespaces/other/configmaps", configmap "x")
    create "a"
    create "b"
    assert.are.same({ "ADDED x", "ADDED a", "ADDED b" }, all:short(3))
    assert.are.same({ "ADDED a", "ADDED b" }, here:short(2))
    assert.are.same({ "ADDED b" }, one:short(1))
  end)

  it("is also at the old paths, with or without a slash at the end", function()
    create "a"
    create "b"
    for _, path in ipairs { "configmaps/b", "configmaps/b/", "configmaps/b//" } do
      local old = watching.open(sim.server, "/api/v1/watch/namespaces/default/" .. path)
      assert.are.same({ "ADDED b" }, old:short(1), path)
    end
    assert.are.equal(404, (sim.api:curl("GET", "/api/v1/watch/configmaps/b/c/")))
    assert.are.equal("", sim:err())
  end)

  it("ends in good order after timeoutSeconds", function()
    local w = watch(initial .. "&timeoutSeconds=1")
    local code, text = w:finish(10)
    assert.are.equal(0, code)
    assert.has_match("BOOKMARK", text)
  end)

  it("has bookmarks of versions after its beginning only, when they are wanted", function()
    play(sim, { ["do"] = "set", bookmarks = "100ms" })
    create "before"
    local w = watch("?allowWatchBookmarks=true&resourceVersion=" .. version())
    local plain = watch("?resourceVersion=" .. version())
    local function next_mark()
      local mark = w:next()
      assert.is_nil(mark.object.metadata.annotations)
      return { mark.type, mark.object.metadata.resourceVersion }
    end
    local quiet = watch("?allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=" .. version())
    assert.are.same({ 0, "" }, { quiet:finish() })
    sim.api:create(secrets, { kind = "Secret", apiVersion = "v1", metadata = { name = "s" } })
    local newest = version()
    for _ = 1, 3 do assert.are.same({ "BOOKMARK", newest }, next_mark()) end
    create "a"
    assert.are.same({ "ADDED a" }, plain:short(1))
    local next_one
    repeat next_one = w:next() until next_one.type ~= "BOOKMARK"
    assert.are.equal("ADDED", next_one.type)
    assert.are.same({ "BOOKMARK", next_one.object.metadata.resourceVersion }, next_mark())
  end)

  it("sends one more bookmark shortly before its end", function()
    local function of_seconds(n)
      return watch(("?allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s"):format(n, version()))
    end
    local quiet, brief = of_seconds(3), of_seconds(1)
    assert.are.same({ { 0, "" }, { 0, "" } }, { { quiet:finish() }, { brief:finish() } })
    local w = of_seconds(3)
    sim.api:create(secrets, { kind = "Secret", apiVersion = "v1", metadata = { name = "s" } })
    assert.are.same({ "BOOKMARK" }, w:short(1))
    assert.are.equal(0, (w:finish()))
    w = of_seconds(3)
    create "a"
    assert.are.same({ "ADDED a" }, w:short(1)) -- it may have been there when the watch began
    create "b"
    assert.are.same({ "ADDED b", "BOOKMARK" }, w:short(2))
  end)

  it("sends Tables and metadata too", function()
    create "a"
    local w = watch(initial, { "Accept: application/json;as=Table;g=meta.k8s.io;v=v1" })
    local first = w:next()
    assert.are.equal("Table", first.object.kind)
    assert.are.equal("a", first.object.rows[1].cells[1])
    assert.is_true(#first.object.columnDefinitions > 0)
    local mark = w:next()
    assert.are.equal("BOOKMARK", mark.type)
    assert.are.equal("true", mark.object.rows[1].object.metadata.annotations["k8s.io/initial-events-end"])
    create "b"
    local second = w:next()
    assert.are.equal("b", second.object.rows[1].cells[1])
    assert.are.equal(cjson.null, second.object.columnDefinitions)
    w = watch(initial .. "&includeObject=None", { "Accept: application/json;as=Table;g=meta.k8s.io;v=v1" })
    assert.are.equal(cjson.null, w:next().object.rows[1].object)
    assert.are.equal("b", w:next().object.rows[1].cells[1])
    assert.are.equal("true", w:next().object.rows[1].object.metadata.annotations["k8s.io/initial-events-end"])
    w = watch(initial, { "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" })
    local partial = w:next()
    assert.are.equal("PartialObjectMetadata", partial.object.kind)
    assert.are.equal("a", partial.object.metadata.name)
    assert.is_nil(partial.object.data)
    assert.are.same({ "ADDED b", "BOOKMARK" }, w:short(2))
  end)

  it("sends them in v1beta1, the mark at the end too", function()
    create "a"
    local w = watch(initial, { "Accept: application/json;as=Table;g=meta.k8s.io;v=v1beta1" })
    for _, type in ipairs { "ADDED", "BOOKMARK" } do
      local event = w:next()
      assert.are.same({ type, "meta.k8s.io/v1beta1", "meta.k8s.io/v1beta1" },
        { event.type, event.object.apiVersion, event.object.rows[1].object.apiVersion })
    end
    w = watch(initial, { "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1" })
    for _, type in ipairs { "ADDED", "BOOKMARK" } do
      local event = w:next()
      assert.are.same({ type, "PartialObjectMetadata", "meta.k8s.io/v1beta1" },
        { event.type, event.object.kind, event.object.apiVersion })
    end
  end)

  it("is the same for many watches at a time, under many changes", function()
    local watches = {}
    for i = 1, 5 do watches[i] = watch(initial) end
    for _, w in ipairs(watches) do w:short(1) end
    local object = configmap "n${n}"
    play(sim, { ["do"] = "create", object = object, count = 200 },
      { ["do"] = "label", resource = "configmaps", labels = { round = "${n}" }, count = 5 },
      { ["do"] = "touch", resource = "configmaps", count = 3 }, { ["do"] = "delete", resource = "configmaps" })
    local lines
    for _, w in ipairs(watches) do
      local mine = {}
      for i = 1, 200 + 5 * 200 + 3 * 200 + 200 do mine[i] = w:line() end
      lines = lines or mine
      assert.are.same(lines, mine)
    end
    assert.has_match('^{"type":"DELETED"', lines[#lines])
  end)
end)
