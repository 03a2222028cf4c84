-- `kubelua get` and `kubelua query`: what a running engine has cached, from the outside.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local WATCHES = [[
  local k8s = require "k8s"
  for _, kind in ipairs { "pods", "secrets", "configmaps", "nodes" } do k8s.informer(kind) end
  k8s.main(function() print "ready" end)
]]

local function made(kind, namespace, name, more)
  local object = { apiVersion = "v1", kind = kind, metadata = { namespace = namespace, name = name } }
  for field, value in pairs(more or {}) do object[field] = value end
  return object
end

describe("kubelua get", function()
  local place, engine, sim
  before_each(function()
    place = scripts_folder.new()
    place:write("it.lua", WATCHES)
    sim = cluster.sim { "--pods", "3" }
    local function create(resource, object)
      sim.api:create(("/api/v1/namespaces/%s/%s"):format(object.metadata.namespace, resource), object)
    end
    for _, name in ipairs { "shop", "ops" } do
      sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = name } })
    end
    create("secrets", made("Secret", "shop", "token", { data = { password = "aHVudGVyMg==" } }))
    for i = 1, 3 do
      create("configmaps", made("ConfigMap", i < 3 and "shop" or "ops", "map-" .. i, { data = { n = tostring(i) } }))
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

  it("prints tables of a kind, by any of its names", function()
    local out, _, code = run("get", "po")
    assert.are.equal(0, code)
    assert.has_match("^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\n", out)
    assert.are.equal(4, select(2, out:gsub("\n", "")))
    assert.has_match("^NAME +UNSCHEDULABLE +VERSION +AGE\n", (run("get", "nodes")))
    assert.has_match("RESTARTS +AGE +IP +NODE\n", (run("get", "pods", "-o", "wide")))
  end)

  it("selects by namespace, label, any field, and name", function()
    assert.are.equal("configmap/map-1\nconfigmap/map-2\n", (run("get", "cm", "-n", "shop", "-o", "name")))
    local fields = "data.n!=1,data.n!=2,data.n!=,metadata.name=map-3"
    assert.are.equal("configmap/map-3\n", (run("get", "cm", "--field-selector", fields, "-o", "name")))
    assert.are.equal("configmap/map-2\n", (run("get", "cm", "shop/map-2", "-o", "name")))
    assert.are.equal("", (run("get", "cm", "-l", "app=none", "-o", "name")))
    local _, err, code = run("get", "cm", "map-9")
    assert.are.same({ 'kubelua get: cm: "map-9" not found in the cache\n', 1 }, { err, code })
  end)

  it("prints JSON, YAML and columns of one's own", function()
    local list = cjson.decode((run("get", "cm", "-n", "shop", "-o", "json")))
    assert.are.same({ "List", 2, "1" }, { list.kind, #list.items, list.items[1].data.n })
    assert.are.equal("map-1", cjson.decode((run("get", "cm", "map-1", "-o", "json"))).metadata.name)
    assert.has_match('^apiVersion: "v1"\nkind: "ConfigMap"\n.-\n%-%-%-\napiVersion: "v1"\n',
      (run("get", "cm", "-n", "shop", "-o", "yaml")))
    assert.are.equal("WHO    N\nmap-3  3\nmap-1  1\nmap-2  2\n",
      (run("get", "cm", "-o", "custom-columns=WHO:.metadata.name,N:.data.n", "--field-selector", "data.n!=")))
  end)

  it("hides the data of Secrets unless it is wanted", function()
    for _, form in ipairs { "json", "yaml" } do
      local out = run("get", "secrets", "token", "-o", form)
      assert.has_no_match("aHVudGVyMg", out, 1, true)
      assert.has_match("<12 bytes>", out, 1, true)
      assert.has_match("aHVudGVyMg==", (run("get", "secrets", "token", "-o", form, "--show-secrets")), 1, true)
    end
    for _, expression in ipairs { "secrets", 'kind "v1/Secret"', 'secrets["shop/token"].data.password',
      'k8s.get("secret", "shop/token")', 'k8s.list("secrets")' } do
      local out, err, code = run("query", expression)
      assert.are.same({ "", 1 }, { out, code })
      assert.has_match("secrets are hidden; --show-secrets shows them", err, 1, true)
    end
    assert.are.equal('"aHVudGVyMg=="\n', (run("query", 'secrets["shop/token"].data.password', "--show-secrets")))
  end)

  it("evaluates one expression of the prompt", function()
    assert.are.equal("3\n", (run("query", "pods:count()")))
    local grouped = 'cm:query():where("data.n", "=", "3"):group("metadata.namespace"):count()'
    assert.are.same({ { key = "ops", count = 1 } }, cjson.decode((run("query", grouped, "-o", "json"))))
    assert.are.equal('n: "1"\n', (run("query", 'cm["shop/map-1"].data', "-o", "yaml")))
    local _, err, code = run("query", "podz:count()")
    assert.are.same({ 1, true }, { code, err:find('did you mean "pods"?', 1, true) ~= nil })
  end)

  it("names what is wrong", function()
    for _, case in ipairs {
      { "no kind: kubelua get KIND", "get" },
      { '"podz", did you mean "pods"?', "get", "podz" },
      { "services: the engine has no cache of this kind", "get", "services" },
      { '-o/--output: "xml" is not table|wide|json|yaml|name|custom-columns', "get", "pods", "-o", "xml" },
      { 'custom-columns: "NAME" is not HEADING:PATH', "get", "pods", "-o", "custom-columns=NAME" },
      { '--field-selector: "status" is not PATH=VALUE', "get", "pods", "--field-selector", "status" },
      { "expected one expression", "query" },
    } do
      local out, err, code = run(unpack(case, 2))
      assert.are.same({ "", 2 }, { out, code }, err)
      assert.has_match(case[1], err, 1, true)
    end
  end)
end)
