-- `kubelua run --history`, `kubelua history` and k8s.history: the last versions of objects.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local MAPS = "/api/v1/namespaces/default/configmaps"

local WRITES = scripts_folder.HEAD .. [[
  k8s.writes { "configmaps:patch" }
  k8s.informer("configmaps"):on_update(function(_, map)
    if (map.data or {}).mark == "please" then assert(k8s.patch(map, { data = { mark = "done" } })) end
  end)
  k8s.command("versions", function(name)
    local list, err = k8s.history { kind = "configmaps", namespace = "default", name = name }
    if not list then return err.message end
    local out = {}
    for i, one in ipairs(list) do
      out[i] = one.event .. " " .. (one.script and "script" or "-")
      for _, change in ipairs(one.changes) do
        out[i] = out[i] .. (" %s:%s>%s"):format(change.path, tostring(change.old), tostring(change.new))
      end
    end
    return table.concat(out, "\n")
  end)
  k8s.command("lost", function() return select(2, k8s.history { kind = "pods", name = "x" }).message end)
  k8s.main(function() print "ready" end)
]]

describe("the history of objects", function()
  local place, sim, engine
  before_each(function()
    place = scripts_folder.new()
    place:write("it.lua", WRITES)
    sim = cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function start(...)
    engine = place:start(sim, nil, { "--history", ... })
    engine:wait_line "^ready$"
  end

  local function map(name, data, kind)
    return { apiVersion = "v1", kind = kind or "ConfigMap", metadata = { name = name }, data = data }
  end

  local function stats()
    return cjson.decode((engine.ask("status", "-ojson"))).engine.history
  end

  -- Waits until the newest version is this one.
  local function await_version(version)
    await(function() return (engine.ask("history", "cm/a")):find(version, 1, true) end, version)
  end

  local function patch(data)
    local object = sim.api:patch(MAPS .. "/a", { data = data })
    await_version(object.metadata.resourceVersion)
    return object
  end

  -- The informer of a kind as the status has it.
  local function cache(kind)
    for _, one in ipairs(cjson.decode((engine.ask("status", "-ojson"))).informers) do
      if one.kind == kind then return one end
    end
  end

  it("has a cache of its own that the status shows, or shares one of a script", function()
    start "pods,cm,things"
    await(function() return cache("pods").synced end, "the cache of pods")
    assert.are.same({ {}, true, 1 }, { cache("pods").scripts, cache("pods").history, cache("pods").claims })
    local shared = cache "configmaps"
    assert.are.same({ 1, true, 2 }, { #shared.scripts, shared.history, shared.claims })
    assert.is_nil(cache "cm")
    assert.are.equal("unknown kind", cache("things").state)
    local text, wide = (engine.ask "status"), (engine.ask("status", "-owide"))
    assert.has_match("\npods +synced .-\n    kept for %-%-history\n", text)
    assert.has_match('a resource type "things"; kept for --history\n', text, 1, true)
    assert.has_match("\nconfigmaps +synced [^\n]+\n", text)
    assert.are.equal(2, select(2, text:gsub("kept for %-%-history", "")))
    assert.has_match("\npods +synced [^\n]+ %-%-history\n", wide)
    assert.has_match("\nconfigmaps +synced [^\n]+/it,%-%-history\n", wide)
  end)

  it("is no part of the status of caches without --history", function()
    engine = place:start(sim)
    engine:wait_line "^ready$"
    assert.are.same({ 1, false }, { cache("configmaps").claims, cache("configmaps").history })
  end)

  it("shows what changed, and which script it was, the newest first", function()
    start "cm"
    sim.api:create(MAPS, map("a", { x = "1" }))
    patch { x = "2", ["a.b"] = "new" }
    patch { x = cjson.null }
    patch { mark = "please" }
    await(function() return stats().versions == 5 end, "the script's version")
    sim.api:delete(MAPS .. "/a")
    await(function() return stats().versions == 6 end, "the delete")
    local expected = {
      "deleted -", "updated script data.mark:please>done", "updated - data.mark:nil>please", "updated - data.x:2>nil",
      "updated - data.x:1>2 data['a.b']:nil>new", "created -",
    }
    assert.are.equal(table.concat(expected, "\n") .. "\n", (engine.ask("call", "versions", "a")))
    local out, code = engine.ask("history", "cm/a")
    assert.are.equal(0, code)
    assert.has_match("^TIME +AGE +EVENT +VERSION +BY +SCRIPT\n%d+%-%d+%-%d+T%d+:%d+:%d+Z +%d+s  deleted ", out)
    assert.has_match("updated +%d+ +[^\n]+/it\n      data.mark: please %-> done\n", out)
    assert.has_match("\n    %+ data%['a%.b'%]: new\n", out)
    assert.has_match("\n    %- data.x: 2\n", out)
    assert.has_match('"changes":[],"event":"created"', (engine.ask("history", "cm/a", "-ojson")), 1, true)
    local asked = 'k8s.history { kind = "configmaps", namespace = "default", name = "a" }'
    out, code = engine.ask("query", asked, "-ojson")
    assert.are.same({ 0, 6, "deleted" }, { code, #cjson.decode(out), cjson.decode(out)[1].event })
    assert.has_match("^%- changes: {}\n  event: deleted\n  resource_version: ", (engine.ask("query", asked)))
    assert.are.equal("true\nConfigMap\n", (engine.ask("query", ("(%s).deleted, (%s).kind"):format(asked, asked))))
    -- One of the same name is the next version.
    sim.api:create(MAPS, map("a", { y = "again" }))
    await(function() return stats().versions == 7 end, "the next one")
    assert.has_match("created[^\n]*data.y:nil>again", (engine.ask("call", "versions", "a")))
  end)

  it("has each object as it was", function()
    local seed = tonumber(os.getenv "SEED") or os.time()
    print("# object_history_spec: SEED=" .. seed)
    math.randomseed(seed)
    local function value(depth)
      local kind = math.random(depth > 0 and 6 or 4)
      if kind == 1 then return math.random(1000) end
      if kind == 2 then return ("text "):rep(math.random(5)) end
      if kind == 3 then return math.random(2) == 1 end
      if kind == 4 then return "it's [a] \"quote\"" end
      local made = {}
      for i = 1, math.random(4) do made[kind == 5 and i or ("k." .. math.random(6) .. "'")] = value(depth - 1) end
      return made
    end
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      metadata = { name = "things.example.com" },
      spec = {
        group = "example.com", scope = "Namespaced", names = { plural = "things", singular = "thing", kind = "Thing" },
        versions = { {
          name = "v1", served = true, storage = true,
          schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
        } },
      },
    })
    start("cm,things.example.com=50")
    local path = "/apis/example.com/v1/namespaces/default/things"
    local states = {}
    engine:wait_until(function() return engine:err():find 'Synced" informer="things' end, "the cache of things")
    local first = { apiVersion = "example.com/v1", kind = "Thing", metadata = { name = "a" }, spec = {} }
    local object = sim.api:create(path, first)
    for i = 1, 40 do
      object.spec = {}
      for _ = 1, math.random(5) do object.spec["f" .. math.random(5)] = value(2) end
      object.spec.round = i
      object = sim.api:update(path .. "/a", object)
      states[i] = { version = object.metadata.resourceVersion, spec = object.spec }
    end
    await(function() return stats().versions >= 41 end, "all versions")
    local versions = cjson.decode((engine.ask("history", "things/a", "-ojson", "--objects")))
    assert.are.equal(41, #versions)
    for i, state in ipairs(states) do
      local known = versions[41 - i]
      assert.are.equal(state.version, known.resource_version)
      assert.are.same(state.spec, known.object.spec)
    end
  end)

  it("is bounded by number and by memory, the oldest first", function()
    start("cm=3", "--history-memory", "64Ki")
    sim.api:create(MAPS, map("a", { x = "0" }))
    for i = 1, 6 do patch { x = tostring(i) } end
    assert.are.equal("updated - data.x:5>6\nupdated - data.x:4>5\nupdated - data.x:3>4\n",
      (engine.ask("call", "versions", "a")))
    for i = 1, 400 do sim.api:create(MAPS, map("many-" .. i, { x = "0" })) end
    await(function() return stats().evicted > 0 end, "an eviction")
    assert.is_true(stats().bytes <= 64 * 1024)
    assert.are.equal("", (engine.ask("call", "versions", "a")))
  end)

  it("keeps deleted objects for a time", function()
    start("cm", "--history-deleted", "1s")
    sim.api:create(MAPS, map("a", { x = "0" }))
    sim.api:delete(MAPS .. "/a")
    await(function() return stats().versions == 2 end, "two versions")
    await(function() return stats().versions == 0 end, "none")
    assert.are.equal(0, stats().objects)
    local _, code, err = engine.ask("history", "cm/a")
    assert.are.same({ 1, "kubelua history: cm/a: no versions are known; there is no such object\n" }, { code, err })
  end)

  it("hides the data of Secrets", function()
    start "secrets"
    local path = "/api/v1/namespaces/default/secrets"
    sim.api:create(path, map("s", { password = "aHVudGVyMQ==" }, "Secret"))
    sim.api:patch(path .. "/s", { data = { password = "aHVudGVyMg==" } })
    await(function() return stats().versions == 2 end, "two versions")
    for _, form in ipairs { "table", "json", "yaml" } do
      local out = engine.ask("history", "secret/s", "-o", form, "--objects")
      assert.has_no_match("aHVudGVy", out, 1, true)
      assert.has_match("<7 bytes>", out, 1, true)
    end
    -- The last applied configuration has the data too, here in a map that was not there before.
    local last = { ["kubectl.kubernetes.io/last-applied-configuration"] = '{"data":{"password":"aHVudGVyMw=="}}' }
    sim.api:patch(path .. "/s", { metadata = { annotations = last } })
    await(function() return stats().versions == 3 end, "three versions")
    for _, form in ipairs { "table", "json", "yaml" } do
      assert.has_no_match("aHVudGVy", (engine.ask("history", "secret/s", "-o", form, "--objects")), 1, true)
    end
    for _, named in ipairs { 'kind = "secrets"', 'kind = "v1/Secret"', 'kind = "Secret"' } do
      local _, code, err = engine.ask("query", ('k8s.history { %s, namespace = "default", name = "s" }'):format(named))
      assert.are.equal(1, code)
      assert.has_match("secrets are hidden; --show-secrets shows them", err, 1, true)
    end
    assert.has_match("aHVudGVyMQ== -> aHVudGVyMg==", (engine.ask("history", "secret/s", "--show-secrets")), 1, true)
  end)

  it("says of an object without changes whether it is there", function()
    sim.api:create(MAPS, map("old", { x = "0" }))
    start "cm,nodes"
    local function says(text, ...)
      local _, code, err = engine.ask("history", ...)
      assert.are.same({ 1, "kubelua history: " .. text .. "\n" }, { code, err })
    end
    says("cm/old: no change of it was seen yet: it is as it was listed", "cm/old")
    says("cm/old: no versions are known; shop has no such object (-n)", "cm/old", "-n", "shop")
    says("nodes/n: no versions are known; there is no such object", "nodes/n")
    local old = 'k8s.history { kind = "cm", namespace = "default", name = "old" }'
    assert.are.same({ "[]\n", 0, "" }, { engine.ask("query", old, "-o", "json") })
    assert.are.equal("false\nConfigMap\n",
      (engine.ask("query", ("(%s).deleted, (%s).kind"):format(old, old))))
  end)

  it("says what is wrong", function()
    start "cm"
    assert.has_match("no history of pods is kept (run --history)", (engine.ask("call", "lost")), 1, true)
    local _, code, err = engine.ask("history", "pods/x")
    assert.are.same({ 2, "kubelua history: no history of pods is kept (run --history)\n" }, { code, err })
    -- Arguments are never Lua.
    _, code, err = engine.ask("history", "cm/x", "-n", '") error "run" --')
    assert.are.same({ 1, "kubelua history: cm/x: no versions are known; there is no such object\n" }, { code, err })
    _, code, err = engine.ask("history", "podz/x")
    assert.are.equal(2, code)
    assert.has_match('did you mean "pods"?', err, 1, true)
    for given, message in pairs {
      ["pods=0"] = '--history: "pods=0": the number of versions must be 1 to 1000',
      ["pods=x"] = '--history: "pods=x": the number of versions must be 1 to 1000',
      ["=3"] = '--history: "=3" names no kind',
    } do
      local p = cluster.run(sim.server, place.path .. "/scripts", { "--history", given })
      assert.are.equal(2, p:wait())
      assert.has_match(message, p.streams.err.text, 1, true)
    end
  end)

  it("names the kind that a misspelt one means", function()
    start "configmapz"
    assert.has_match('No history is kept" kind="configmapz" error="[^\n]*, did you mean ..configmaps', engine:err())
  end)
end)
