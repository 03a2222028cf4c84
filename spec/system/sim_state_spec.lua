-- `kubelua sim --state`: objects that outlive their server.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"
local scratch, state

local function configmap(name, data)
  return { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name }, data = data }
end

local definition = {
  kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1", metadata = { name = "shops.example.com" },
  spec = {
    group = "example.com", scope = "Namespaced", names = { plural = "shops", singular = "shop", kind = "Shop" },
    versions = { { name = "v1", served = true, storage = true, schema = { openAPIV3Schema = { type = "object",
      ["x-kubernetes-preserve-unknown-fields"] = true } } } },
  },
}

-- All objects of a list, by name, without their order.
local function all(sim, path)
  local found = {}
  for _, item in ipairs(sim.api:get(path).items) do
    found[(item.metadata.namespace or "") .. "/" .. item.metadata.name] = item
  end
  return found
end

local function refuses(pattern, ...)
  local before = temp.run("md5sum " .. state)
  local p = cluster.start { cluster.binary, "sim", "--state", state, ... }
  assert.are.equal(2, p:wait())
  assert.is_truthy(p:err():find("^kubelua sim: " .. state:gsub("%p", "%%%0") .. ": " .. pattern .. "\n$"), p:err())
  assert.are.equal(before, (temp.run("md5sum " .. state)))
end

describe("kubelua sim --state #threads", function()
  before_each(function()
    scratch = temp.folder()
    state = scratch .. "/state"
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("begins without a file, which is no error", function()
    local sim = cluster.sim { "--state", state }
    assert.are.same({ 0, "" }, { cluster.terminate(sim), sim:err() })
  end)

  it("is of one simulator at a time", function()
    local first = cluster.sim { "--state", state }
    first.api:create(configmaps, configmap("one", {}))
    await(function() return temp.run("ls " .. scratch):find "^state\n" end)
    refuses "another kubelua sim keeps its objects there"
    assert.are.equal(0, cluster.terminate(first))
    assert.are.equal("state\n", (temp.run("ls " .. scratch)))
    local again = cluster.sim { "--state", state }
    again:kill "KILL"
    again:wait()
    assert.are.equal(0, cluster.terminate(cluster.sim { "--state", state }))
  end)

  it("brings every object back as it was, and goes on from there", function()
    local sim = cluster.sim { "--state", state, "--pods", "50" }
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    sim.api:create(configmaps, configmap("one", { a = "b" }))
    sim.api:create("/apis/example.com/v1/namespaces/default/shops",
      { kind = "Shop", apiVersion = "example.com/v1", metadata = { name = "mine" }, spec = { open = true } })
    sim.api:patch(configmaps .. "/one", { data = { c = "d" } })
    local paths = { "/api/v1/pods", "/api/v1/namespaces", "/api/v1/nodes", "/api/v1/configmaps",
      "/apis/example.com/v1/shops", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" }
    local before, version = {}, sim.api:get(configmaps).metadata.resourceVersion
    for _, path in ipairs(paths) do before[path] = all(sim, path) end
    assert.are.equal(0, cluster.terminate(sim))
    assert.are.equal("-rw-------", temp.run("ls -l " .. state):match "^%S+")

    sim = cluster.sim { "--state", state, "--pods", "50" }
    for _, path in ipairs(paths) do assert.are.same(before[path], all(sim, path), path) end
    sim:wait_error 'Took the objects of the state, and none of %-%-load and %-%-pods'
    sim.api:create(configmaps, configmap "two")
    assert.is_true(sim.api:get(configmaps).metadata.resourceVersion > version)
    local code = sim.api:curl("GET", configmaps .. "?resourceVersionMatch=Exact&resourceVersion=" .. version)
    assert.are.equal(410, code)
  end)

  it("saves while it runs: a server that is killed loses a second or two", function()
    local sim = cluster.sim { "--state", state }
    sim.api:create(configmaps, configmap("one", { a = "b" }))
    await(function() return temp.run("ls " .. scratch):find "^state\n" end)
    sim:kill "KILL"
    sim:wait()
    sim = cluster.sim { "--state", state }
    assert.are.same({ a = "b" }, sim.api:get(configmaps .. "/one").data)
  end)

  it("ends pods that were about to end", function()
    local sim = cluster.sim { "--state", state, "--pods", "3" }
    local pod = sim.api:get("/api/v1/pods?limit=1").items[1].metadata
    local path = ("/api/v1/namespaces/%s/pods/%s"):format(pod.namespace, pod.name)
    sim:play { ["do"] = "set", terminate = "1h" }
    assert.is_truthy(sim.api:delete(path).metadata.deletionTimestamp)
    cluster.terminate(sim)
    sim = cluster.sim { "--state", state }
    await(function() return sim.api:curl("GET", path) == 404 end)
  end)

  it("refuses a file that is torn, changed, newer or of something else, and leaves it as it is", function()
    local sim = cluster.sim { "--state", state, "--pods", "20" }
    cluster.terminate(sim)
    local good = temp.read(state)
    local function with(text) temp.write(state, text) end
    for _, n in ipairs { 5, 40, math.floor(#good / 2), #good - 1 } do
      with(good:sub(1, n))
      refuses "incomplete"
    end
    for _ = 1, 20 do
      local at = math.random(33, #good)
      with(good:sub(1, at - 1) .. string.char((good:byte(at) + 1) % 256) .. good:sub(at + 1))
      refuses "damaged: the checksum is wrong"
    end
    with(good:sub(1, 8) .. "\9" .. good:sub(10))
    refuses "format 9, this version reads format 1"
    with(cjson.encode(configmap "one") .. (" "):rep(100))
    refuses "not a file of this kind"
    with ""
    refuses "incomplete"
    with(good)
    temp.run("chmod 666 " .. state)
    refuses "other users may write it"
    temp.run("chmod 600 " .. state)
    sim = cluster.sim { "--state", state }
    assert.are.equal(20, #sim.api:get("/api/v1/pods").items)
  end)

  it("goes on without a place to write, with one line, and saves when there is one", function()
    local folder = scratch .. "/folder"
    os.execute("mkdir " .. folder)
    local sim = cluster.sim { "--state", folder .. "/state" }
    os.execute("mv " .. folder .. " " .. folder .. "2")
    sim.api:create(configmaps, configmap "one")
    sim:wait_error "Failed to save the state.*/folder/state: No such file or directory"
    sim.api:create(configmaps, configmap "two")
    os.execute("mv " .. folder .. "2 " .. folder)
    sim:wait_error "Saved the state again"
    cluster.terminate(sim)
    assert.are.equal(1, select(2, sim:err():gsub("Failed to save", "")))
    sim = cluster.sim { "--state", folder .. "/state" }
    assert.is_truthy(all(sim, configmaps)["default/two"])
  end)

  it("keeps the last good file when the disk is full", function()
    local sim = cluster.sim { "--state", state }
    sim.api:create(configmaps, configmap "one")
    await(function() return temp.run("ls " .. scratch):find "^state\n" end)
    assert.are.equal(0, select(2, temp.run(("prlimit --pid %d --fsize=100:"):format(sim.pid))))
    sim.api:create(configmaps, configmap "two")
    sim:wait_error "Failed to save the state.*File too large"
    sim:kill "KILL"
    sim:wait()
    sim = cluster.sim { "--state", state }
    assert.is_truthy(all(sim, configmaps)["default/one"])
  end)

  it("does not make a file when it cannot serve", function()
    local p = cluster.start { cluster.binary, "sim", "--state", state, "--listen", "192.0.2.1" }
    assert.are.equal(2, p:wait())
    assert.are.equal("", (temp.run("ls " .. scratch)))
  end)
end)
