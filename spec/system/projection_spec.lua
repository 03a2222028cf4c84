-- What is kept of objects (prune, fields, metadata_only), through lists, watches and a server that refuses.
local cluster = require "spec.support.cluster"

local pods = "/api/v1/namespaces/default/pods"

local function pod(name)
  return {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = "default", labels = { app = "web" }, annotations = { note = "long" } },
    spec = {
      containers = { {
        name = "main", image = "web:1", env = { { name = "TOKEN", value = "s3cret" } },
      } },
    },
  }
end

-- Prints every event as JSON, without what differs from run to run.
local script = [[
  local k8s = require "k8s"
  local pods = k8s.informer("pods", { %s })
  local function show(what, obj)
    local copy = obj:copy()
    for _, name in ipairs { "uid", "resourceVersion", "creationTimestamp", "generation" } do
      copy.metadata[name] = nil
    end
    print(what .. " " .. k8s.json.encode(copy))
  end
  pods:on_add(function(obj) show("add", obj) end)
  pods:on_update(function(_, obj) show("update", obj) end)
  k8s.main(function()
    local status = pods:status()
    print(("synced %%d objects, %%d bytes each"):format(status.objects, status.bytes / status.objects))
  end)
]]

describe("an informer that keeps a part of its objects", function()
  local sim, engine

  before_each(function()
    sim = cluster.sim()
    sim.api:create(pods, pod "a")
  end)

  after_each(cluster.stop_all)

  local function start(options)
    engine = cluster.run(sim.server, cluster.script(script:format(options)))
  end

  local function finish()
    assert.are.equal(0, cluster.terminate(engine))
  end

  local image_only = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},' ..
    '"spec":{"containers":%[{"image":"web:1"}%]}}$'

  it("by fields, in the list and in the watch", function()
    start [[fields = { "spec.containers[*].image" }]]
    engine:wait_line("^add " .. image_only)
    engine:wait_line "^synced"
    sim.api:patch(pods .. "/a", { metadata = { labels = { more = "yes" } } })
    engine:wait_line("^update " .. image_only)
    finish()
  end)

  it("by prune", function()
    start [[prune = { "metadata.managedFields", "status", "spec.containers[*].env" }]]
    engine:wait_line "^synced"
    sim.api:patch(pods .. "/a", { metadata = { labels = { more = "yes" } } })
    engine:wait_line '^update .*"more":"yes"'
    local out = engine:out()
    assert.is_truthy(out:find('"annotations":{"note":"long"}', 1, true))
    assert.is_truthy(out:find('"image":"web:1"', 1, true))
    for _, gone in ipairs { "managedFields", "status", "TOKEN", "s3cret" } do
      assert.is_nil(out:find(gone, 1, true), gone)
    end
    finish()
  end)

  local metadata = '{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"note":"long"},"labels":{"app":"web"'

  -- F-9
  it("by metadata_only: an object keeps its kind and nothing but metadata", function()
    start "metadata_only = true"
    engine:wait_line "^synced"
    sim.api:patch(pods .. "/a", { metadata = { labels = { more = "yes" } } })
    engine:wait_line '^update .*"more":"yes"'
    local out = engine:out()
    assert.is_truthy(out:find("add " .. metadata .. "},", 1, true), out)
    assert.is_truthy(out:find("update " .. metadata .. ',"more":"yes"},', 1, true), out)
    assert.is_nil(out:find '"spec"')
    finish()
  end)

  it("by metadata_only, from a server that refuses to send metadata alone", function()
    sim:play { ["do"] = "fault", verb = "list", resource = "pods", what = "status", code = 406 }
    start "metadata_only = true"
    engine:wait_line "^synced"
    sim.api:patch(pods .. "/a", { metadata = { labels = { more = "yes" } } })
    engine:wait_line '^update .*"more":"yes"'
    assert.is_truthy(engine:out():find("update " .. metadata .. ',"more":"yes"},', 1, true))
    assert.is_nil(engine:out():find '"spec"')
    assert.is_nil(engine:err():find "List or watch failed, retrying")
    finish()
  end)

  it("is refused with the script's line when a path cannot be followed", function()
    start [[prune = { "metadata.name" }]]
    engine:wait_error 'prune: path "metadata.name": identifying fields cannot be dropped'
    assert.are.equal(2, engine:wait())
  end)
end)

-- The figures of docs/lua-api.md; each in a process of its own, as the objects of one share what is equal.
describe("what objects take in memory", function()
  after_each(cluster.stop_all)

  it("falls with what is not kept", function()
    local sim = cluster.sim { "--pods", "5000" }
    local bytes = {}
    for i, options in ipairs { "", 'prune = { "metadata.managedFields" }', "metadata_only = true" } do
      local source = script:format(options):gsub("pods:on_%a+%b()", "")
      local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script(source) }
      local objects, each = engine:wait_line("^synced (%d+) objects, (%d+) bytes each", 60)
      assert.are.equal("5000", objects)
      assert.are.equal(0, engine:wait())
      bytes[i] = tonumber(each)
    end
    print(("bytes of a pod: %d whole, %d without managedFields, %d metadata only"):format(unpack(bytes)))
    assert.is_true(bytes[2] < bytes[1] and bytes[3] < bytes[2] * 0.55)
  end)
end)
