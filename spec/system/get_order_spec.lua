-- `kubelua get --show-labels`, `-L` and `--sort-by`: as kubectl has them.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"

local WATCHES = [[
  local k8s = require "k8s"
  for _, kind in ipairs { "pods", "secrets", "configmaps", "nodes" } do k8s.informer(kind) end
  k8s.main(function() print "ready" end)
]]

local function made(kind, name, more)
  local object = { apiVersion = "v1", kind = kind, metadata = { namespace = "shop", name = name } }
  for field, value in pairs(more or {}) do object[field] = value end
  return object
end

describe("kubelua get", function()
  local place, engine, sim
  before_each(function()
    place = scripts_folder.new()
    place:write("it.lua", WATCHES)
    sim = cluster.sim { "--pods", "3" }
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "shop" } })
    for i = 1, 2 do
      local map = made("ConfigMap", "map-" .. i, { data = { n = tostring(i) } })
      sim.api:create("/api/v1/namespaces/shop/configmaps", map)
    end
    engine = place:start(sim)
    engine:wait_line "^ready$"
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function run(...)
    local out, code, err = engine.ask(...)
    return out, err, code
  end

  -- The words at a place of the lines below the headings.
  local function column(text, at)
    local list = {}
    for line in text:gsub("^[^\n]*\n", ""):gmatch "[^\n]+" do
      local words = {}
      for word in line:gmatch "%S+" do words[#words + 1] = word end
      list[#list + 1] = words[at]
    end
    return table.concat(list, " ")
  end

  local function label(name, labels, data)
    local path = "/api/v1/namespaces/shop/configmaps"
    local map = made("ConfigMap", name, { data = data })
    map.metadata.labels = labels
    sim.api:create(path, map)
  end

  it("shows labels as columns", function()
    label("map-8", { app = "web", ["app.kubernetes.io/name"] = "it", ["a-b"] = "" })
    await(function() return (run("get", "cm", "map-8", "-o", "name")) == "configmap/map-8\n" end, "the map")
    for _, kind in ipairs { "cm", "pods" } do
      local out = run("get", kind, "-A", "-L", "app,app.kubernetes.io/name", "--label-columns=none", "--show-labels")
      assert.has_match("^NAMESPACE +NAME .* AGE +APP +NAME +NONE +LABELS\n", out)
    end
    local out = run("get", "cm", "-n", "shop", "--show-labels", "-L", "app", "-o", "wide")
    assert.has_match("\nshop +map%-1 +1 +%w+ +<none>\n", out)
    assert.has_match("\nshop +map%-8 +0 +%w+ +web +a%-b=,app%.kubernetes%.io/name=it,app=web\n", out)
    local node = run("get", "nodes", "--show-labels")
    assert.has_match("^NAME +STATUS +ROLES +AGE +VERSION +LABELS\n.-kubernetes%.io/hostname=", node)
    assert.are.equal("configmap/map-8\n", (run("get", "cm", "map-8", "-o", "name", "-L", "app")))
    local watch = cluster.kubelua { "get", "cm", "-l", "app=web", "-w", "-L", "app", "--output-watch-events",
      "--admin-socket", place.path .. "/admin.sock" }
    watch:wait_line "^EVENT +NAMESPACE +NAME +AGE +APP$"
    watch:wait_line "^ADDED +shop +map%-8 +%w+ +web$"
    watch:kill "TERM"
  end)

  it("sorts by a field, in each form", function()
    label("map-7", { rank = "9" }, { n = "1Gi", size = "100m" })
    label("map-8", { rank = "10" }, { n = "x", size = "2" })
    label("map-9", { rank = "9" }, { n = "5", size = "1" })
    await(function() return (run("get", "cm", "map-9", "-o", "name")) == "configmap/map-9\n" end, "the maps")
    assert.are.equal("map-7 map-9 map-8", column(run("get", "cm", "-l", "rank", "--sort-by", ".data.size"), 2))
    assert.are.equal("map-9 map-7 map-8", column(run("get", "cm", "-l", "rank", "--sort-by", "{.data.n}"), 2))
    for form, expected in pairs {
      name = "configmap/map-7\nconfigmap/map-9\nconfigmap/map-8\n",
      ["custom-columns=N:metadata.name"] = "N\nmap-7\nmap-9\nmap-8\n",
      ["jsonpath={.items[*].metadata.name}"] = "map-7 map-9 map-8",
    } do
      assert.are.equal(expected, (run("get", "cm", "-l", "rank", "-o", form, "--sort-by=metadata.labels.rank")))
    end
    local list = cjson.decode((run("get", "cm", "-l", "rank", "-o", "json", "--sort-by={..rank}"))).items
    assert.are.same({ "map-7", "map-9", "map-8" },
      { list[1].metadata.name, list[2].metadata.name, list[3].metadata.name })
    local _, err, code = run("get", "pods", "--sort-by", ".status.phaze")
    assert.are.same({ 2, 'kubelua get: --sort-by: couldn\'t find any field with path "{.status.phaze}" in the list of '
      .. 'objects: status of pods have no field phaze, did you mean "phase"?\n' }, { code, err })
    _, err, code = run("get", "pods", "--sort-by", "spec.containers", "-o", "name")
    assert.are.same({ 2, 'kubelua get: --sort-by: "{.spec.containers}" is an array, which has no order\n' },
      { code, err })
    -- Hidden values have no order.
    for name, password in pairs { a = "YWJjZGVmZw==", b = "MDEyMzQ1Ng==" } do
      sim.api:create("/api/v1/namespaces/shop/secrets", made("Secret", name, { data = { password = password } }))
    end
    await(function() return select(2, run("get", "secrets", "-o", "name"):gsub("\n", "")) == 2 end, "the Secrets")
    assert.are.equal("a b", column(run("get", "secrets", "--sort-by", ".data.password"), 2))
    assert.are.equal("b a", column(run("get", "secrets", "--sort-by", ".data.password", "--show-secrets"), 2))
  end)

  it("warns that changes are not sorted", function()
    label("map-0", {}, { n = "9" })
    await(function() return (run("get", "cm", "map-0", "-o", "name")) == "configmap/map-0\n" end, "the map")
    local watch = cluster.kubelua { "get", "cm", "-n", "shop", "-w", "-o", "name", "--sort-by", "data.n",
      "--admin-socket", place.path .. "/admin.sock" }
    watch:wait_line "^configmap/map%-0$"
    watch:kill "TERM"
    assert.are.equal("configmap/map-1\nconfigmap/map-2\nconfigmap/map-0\n", watch:out())
    assert.are.equal("Warning: --watch requested, --sort-by will be ignored for watch events received\n", watch:err())
  end)

  it("has the columns of labels and the order of kubectl", function()
    if os.execute "command -v kubectl >/dev/null" ~= 0 then
      assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", "there is no kubectl") -- CI has it
      pending "there is no kubectl"
      return
    end
    local values = { "10", "9", "1Gi", "x", "100m", "B", "1e3", "2.5", "5Mi", "a1" }
    for i, value in ipairs(values) do
      label("v-" .. i, { at = tostring(i % 3), ["x.io/name"] = "n" .. i }, { v = value })
    end
    await(function() return (run("get", "cm", "v-10", "-o", "name")) == "configmap/v-10\n" end, "the maps")
    local function both(...)
      local words = { "kubectl", "--server", sim.server, "--cache-dir", place.path, "get", ... }
      words.env = { HOME = place.path, KUBECONFIG = "/dev/null" }
      local p = proc.spawn(words)
      p:wait()
      return p:out() .. p:err(), (run("get", ...))
    end
    for _, path in ipairs { ".data.v", "{.metadata.labels.at}", "metadata.name", "{.metadata.labels['x\\.io/name']}",
      ".metadata.labels.x\\.io/name", "{..v}" } do
      local theirs, ours = both("cm", "-l", "at", "-n", "shop", "--sort-by", path)
      assert.are.equal(column(theirs, 1), column(ours, 2), path)
    end
    for _, kind in ipairs { "pods", "cm", "nodes" } do
      local theirs, ours = both(kind, "-A", "-L", "app,tier", "-L", "x.io/name", "--show-labels")
      assert.are.equal((theirs:match "^%S[^\n]*( APP[^\n]*)\n":gsub(" +", " ")),
        (ours:match "^%S[^\n]*( APP[^\n]*)\n":gsub(" +", " ")))
      assert.are.equal(#theirs:gsub("[^\n]", ""), #ours:gsub("[^\n]", ""))
      local function lasts(text)
        local list = {}
        for last in text:gmatch "(%S+)\n" do list[#list + 1] = last end
        table.sort(list)
        return list
      end
      if kind ~= "cm" then assert.are.same(lasts(theirs), lasts(ours)) end
    end
    local _, err = run("get", "pods", "-o", "json", "--show-labels")
    assert.are.equal("kubelua get: " .. both("pods", "-A", "-o", "json", "--show-labels"):gsub("^error: ", ""), err)
  end)
end)
