-- kubectl, unchanged, on `kubelua sim`.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local has_kubectl = os.execute "command -v kubectl >/dev/null" == 0

describe("kubectl on the simulated server", function()
  local sim, home
  before_each(function()
    home = temp.folder()
    sim = cluster.sim { "--pods", "12" }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(home)
  end)

  -- A kubectl that knows no other cluster than this one.
  local function start(...)
    local words = { "kubectl", "--server", sim.server, "--cache-dir", home, ... }
    words.env = { HOME = home, KUBECONFIG = "/dev/null" }
    return proc.spawn(words)
  end

  local function kubectl(...)
    local p = start(...)
    local code = p:wait(30)
    return p:out(), code, p:err()
  end

  local function works(...)
    local out, code, err = kubectl(...)
    assert.are.equal(0, code, err)
    return out
  end

  local function create(object)
    local namespace = object.metadata.namespace or "default"
    sim.api:create(("/api/v1/namespaces/%s/%ss"):format(namespace, object.kind:lower()), object)
  end

  local function configmap(name, labels)
    create { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name, labels = labels }, data = { a = "b" } }
  end

  local function it_does(what, test)
    it(what, function()
      if not has_kubectl then
        assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", "kubectl is not installed") -- CI has it
        return pending "kubectl is not installed"
      end
      test()
    end)
  end

  it_does("gets tables, wide ones, and by label", function()
    local out = works("get", "pods", "-n", "team-000")
    assert.has_match("^NAME%s+READY%s+STATUS%s+RESTARTS%s+AGE\n", out)
    assert.has_match("\nsvc%-0000%-%w+%-%w+%s+2/2%s+Running", out)
    assert.has_match("^NAME.*IP%s+NODE", works("get", "pods", "-n", "team-000", "-o", "wide"))
    local _, lines = works("get", "po", "-A", "-l", "tier!=api"):gsub("\n", "")
    assert.are.equal(1 + 9, lines)
    assert.has_match("^NAME%s+STATUS%s+ROLES%s+AGE%s+VERSION\n", works("get", "nodes"))
    assert.has_match("\nteam%-000%s+Active", works("get", "ns"))
    assert.has_match("No resources found", select(3, kubectl("get", "deployments")))
  end)

  it_does("gets names, JSON and YAML", function()
    configmap "one"
    assert.are.equal("configmap/one\n", works("get", "cm", "-o", "name"))
    local object = cjson.decode(works("get", "configmap", "one", "-o", "json"))
    assert.are.equal("ConfigMap", object.kind)
    assert.are.same({ a = "b" }, object.data)
    local list = cjson.decode(works("get", "pods", "-A", "-o", "json", "--chunk-size", "5"))
    assert.are.equal(12, #list.items)
    assert.are.equal("Pod", list.items[1].kind)
    assert.has_match("\n  name: one\n", works("get", "cm", "one", "-o", "yaml"))
    local out, code, err = kubectl("get", "cm", "two")
    assert.are.equal("", out)
    assert.are.equal(1, code)
    assert.are.equal('Error from server (NotFound): configmaps "two" not found\n', err)
  end)

  it_does("watches", function()
    configmap "one"
    local p = start("get", "cm", "-w")
    p:wait_line "^one%s+1%s"
    configmap "two"
    p:wait_line "^two%s+1%s"
    sim.api:patch("/api/v1/namespaces/default/configmaps/two", { data = { c = "d" } })
    p:wait_line "^two%s+2%s"
    p:kill "INT"
    p:wait()
  end)

  it_does("describes", function()
    local pod = works("get", "pods", "-n", "team-001", "-o", "name"):match "^(%S+)"
    local out = works("describe", "-n", "team-001", pod)
    assert.has_match("\nNamespace:%s+team%-001\n", out)
    assert.has_match("\nControlled By:%s+ReplicaSet/svc%-0001%-", out)
    assert.has_match("\n  Ready%s+True", out)
    local node = sim.api:get("/api/v1/pods?limit=1").items[1].spec.nodeName
    out = works("describe", "node", node)
    assert.has_match("\nNon%-terminated Pods:%s+%(%d+ in total%)", out)
    configmap "one"
    assert.has_match("\nData\n====\na:\n", works("describe", "cm", "one"))
  end)

  it_does("applies pods, and merges their containers by name", function()
    local file = home .. "/one.json"
    local function pod(image)
      temp.write(file, cjson.encode { apiVersion = "v1", kind = "Pod",
        metadata = { name = "one", namespace = "default" },
        spec = { containers = { { name = "a", image = image }, { name = "b", image = "2" } } } })
      return works("apply", "--validate=false", "-f", file)
    end
    assert.are.equal("pod/one created\n", pod "1")
    assert.are.equal("pod/one configured\n", pod "3")
    local containers = sim.api:get("/api/v1/namespaces/default/pods/one").spec.containers
    assert.are.same({ "3", "2" }, { containers[1].image, containers[2].image })
  end)

  it_does("applies on the server, with conflicts and without", function()
    configmap("one", { old = "x" })
    local file = home .. "/one.json"
    temp.write(file, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default",'
      .. '"labels":{"old":"y"}},"data":{"new":"1"}}')
    local function apply(...) return kubectl("apply", "--server-side", "--validate=false", "-f", file, ...) end
    local _, code, err = apply()
    assert.are.equal(1, code)
    assert.has_match("conflict with \"curl\" using v1: .metadata.labels.old", err, 1, true)
    local out
    out, code = apply "--force-conflicts"
    assert.are.same({ "configmap/one serverside-applied\n", 0 }, { out, code })
    local object = sim.api:get "/api/v1/namespaces/default/configmaps/one"
    assert.are.same({ old = "y" }, object.metadata.labels)
    assert.are.same({ "kubectl", "Apply" },
      { object.metadata.managedFields[1].manager, object.metadata.managedFields[1].operation })
  end)

  it_does("labels and annotates", function()
    configmap("one", { old = "x" })
    works("label", "cm", "one", "colour=red", "old-")
    works("annotate", "cm", "one", "note=some words")
    local object = sim.api:get "/api/v1/namespaces/default/configmaps/one"
    assert.are.same({ colour = "red" }, object.metadata.labels)
    assert.are.same({ note = "some words" }, object.metadata.annotations)
    local _, code, err = kubectl("label", "cm", "one", "colour=blue")
    assert.are.equal(1, code)
    assert.has_match("%-%-overwrite", err)
    assert.has_match("^pod/%S+ labeled\n", works("label", "pods", "-n", "team-001", "--all", "x=y"))
  end)

  it_does("patches", function()
    configmap "one"
    assert.are.equal("configmap/one patched\n", works("patch", "cm", "one", "--type=merge", "-p", '{"data":{"c":"d"}}'))
    works("patch", "cm", "one", "--type=json", "-p", '[{"op":"remove","path":"/data/a"}]')
    assert.are.same({ c = "d" }, sim.api:get("/api/v1/namespaces/default/configmaps/one").data)
    assert.are.equal("configmap/one patched (no change)\n",
      works("patch", "cm", "one", "--type=merge", "-p", '{"data":{"c":"d"}}'))
    local _, code = kubectl("patch", "cm", "one", "--type=json", "-p", '[{"op":"test","path":"/data/c","value":"x"}]')
    assert.are.equal(1, code)
    if not works("patch", "--help"):find("--subresource", 1, true) then return end -- older than kubectl 1.24
    works("patch", "pod", "-n", "team-001", works("get", "pods", "-n", "team-001", "-o", "name"):match "pod/(%S+)",
      "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Failed"}}')
    assert.has_match("Failed", works("get", "pods", "-n", "team-001"))
  end)

  it_does("creates from JSON, deletes and waits", function()
    local path = home .. "/object.json"
    local file = io.open(path, "w")
    file:write [[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"}}]]
    file:close()
    assert.are.equal("configmap/one created\n", works("create", "--validate=false", "-f", path))
    -- Newer ones name the namespace.
    local gone = works("delete", "cm", "one"):gsub(" from default namespace\n$", "\n")
    assert.are.equal('configmap "one" deleted\n', gone)
    local names = works("get", "pods", "-n", "team-001", "-o", "name")
    local first, second = names:match "^pod/(%S+)\npod/(%S+)"
    local deleted = works("delete", "pod", "-n", "team-001", first)
    assert.has_match('pod "' .. first .. '" deleted', deleted, 1, true)
    works("delete", "pod", "-n", "team-001", second, "--grace-period=0", "--force")
    local _, count = works("get", "pods", "-n", "team-001", "-o", "name"):gsub("\n", "")
    assert.are.equal(1, count)
    works("wait", "-n", "team-000", "pod", "--all", "--for=condition=Ready", "--timeout=10s")
    local waiting = start("wait", "-n", "team-000", "pod", "--all", "--for=delete", "--timeout=20s")
    await(function() -- a kubectl that finds nothing to wait for fails
      return sim.api:get("/sim/stats").open_watches > 0
    end, function() return "kubectl's watch" .. waiting:report() end)
    sim.api:create("/sim/scenario", { { ["do"] = "delete", resource = "pods", namespace = "team-000" } })
    assert.are.equal(0, waiting:wait(20), waiting:err())
    works("delete", "ns", "team-001")
    assert.are.equal(1, select(2, kubectl("get", "ns", "team-001")))
  end)

  it_does("knows custom resources", function()
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      kind = "CustomResourceDefinition",
      apiVersion = "apiextensions.k8s.io/v1",
      metadata = { name = "widgets.example.com" },
      spec = {
        group = "example.com",
        scope = "Namespaced",
        names = { kind = "Widget", plural = "widgets", singular = "widget", shortNames = { "wd" } },
        versions = { { name = "v1", served = true, storage = true, schema = cluster.any_schema,
          additionalPrinterColumns = { { name = "Size", type = "integer", jsonPath = ".spec.size" } } } },
      },
    })
    works("wait", "crd/widgets.example.com", "--for=condition=Established", "--timeout=10s")
    sim.api:create("/apis/example.com/v1/namespaces/default/widgets",
      { kind = "Widget", apiVersion = "example.com/v1", metadata = { name = "w" }, spec = { size = 3 } })
    assert.has_match("^NAME%s+SIZE\nw%s+3%s*\n$", works("get", "wd"))
    works("label", "widget", "w", "x=y")
    works("patch", "wd", "w", "--type=merge", "-p", '{"spec":{"size":5}}')
    assert.has_match("\n%s*Size:%s+5", works("describe", "widget", "w"))
    assert.has_match("^NAME%s+SHORTNAMES", works("api-resources", "--api-group=example.com"))
    works("delete", "wd", "w")
  end)
end)
