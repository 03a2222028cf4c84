-- `kubelua get` and `kubelua query`: what a running engine has cached, from the outside.
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

-- Templates of JSONPath for a pod, and for a list of pods whose lines may come in any order.
local OF_ONE = {
  "{.metadata.name}", "{.metadata}", "{.spec.containers[*].name} {.spec.containers[0]}", "{.nothing}", "plain",
  '{range .spec.containers[*]}{.name}{"\\t"}{.ports[*].containerPort}{"\\n"}{end}', "{.spec.containers[-1:].image}",
  '{.status.conditions[?(@.type=="Ready")].status}', "{.status.conditions[?(@.status!='False')].type}",
  "{.metadata.ownerReferences..kind}", "{.status.conditions}", "{.metadata.labels['app','tier']}",
  "{.metadata['name', 'namespace']}", "{.metadata.generation} {.spec.restartPolicy}x", "{.metadata.creationTimestamp}",
  "{.status.containerStatuses[*].ready} {.status.containerStatuses[0].restartCount}",
  "{.spec.containers[::2].name}{.spec.containers[0:0].name}", "{.spec.containers[?(@.image)].name}{true}{1}{1.5}",
}
local OF_LISTS = {
  "{.kind}", '{range .items[*]}{.metadata.name}{"\\n"}{end}', "{.items[*].kind}", "{.items[0].kind}",
  "{range .items[?(@.kind=='Pod')]}{.kind} {end}", "{len}",
}

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
    assert.has_match("^NAME +STATUS +ROLES +AGE +VERSION\n%S+ +Ready +", (run("get", "nodes")))
    local node = sim.api:get("/api/v1/nodes").items[1].metadata.name
    sim.api:patch("/api/v1/nodes/" .. node, { spec = { unschedulable = true },
      metadata = { labels = { ["node-role.kubernetes.io/control-plane"] = "" } } })
    await(function()
      return run("get", "nodes", node):find "\n%S+ +Ready,SchedulingDisabled +control%-plane +"
    end, "the node")
    assert.has_match("map%[.*node%-role%.kubernetes%.io/control%-plane:.*%]",
      (run("get", "nodes", node, "-o", "custom-columns=L:metadata.labels")))
    assert.has_match("RESTARTS +AGE +IP +NODE\n", (run("get", "pods", "-o", "wide")))
    -- In the cache these are in the order in which they came.
    sim.api:create("/api/v1/namespaces/ops/configmaps", made("ConfigMap", "ops", "last"))
    await(function() return (run("get", "cm", "-n", "ops", "-o", "name")):find "last" end, "the last map")
    assert.are.equal("ops/last ops/map-3 shop/map-1 shop/map-2", ((run("get", "cm")):gsub("^[^\n]+\n", "")
      :gsub("(%S+) +(%S+)[^\n]*\n", "%1/%2 "):gsub(" $", "")))
  end)

  it("selects by namespace, label, any field, and name", function()
    assert.are.equal("configmap/map-1\nconfigmap/map-2\n", (run("get", "cm", "-n", "shop", "-o", "name")))
    local fields = "data.n!=1,data.n!=2,data.n!=,metadata.name=map-3"
    assert.are.equal("configmap/map-3\n", (run("get", "cm", "--field-selector", fields, "-o", "name")))
    assert.are.equal("configmap/map-2\n", (run("get", "cm", "shop/map-2", "-o", "name")))
    local both = run("get", "cm/map-2", "cm/map-1", "-n", "shop", "-o", "name")
    assert.are.equal("configmap/map-1\nconfigmap/map-2\n", both)
    local _, mixed, usage = run("get", "cm/map-2", "secrets/token")
    assert.are.same({ 'kubelua get: "secrets/token" is not cm/NAME: one kind at a time\n', 2 }, { mixed, usage })
    assert.are.equal("", (run("get", "cm", "-l", "app=none", "-o", "name")))
    local _, err, code = run("get", "cm", "map-9")
    assert.are.same({ 'kubelua get: cm: "map-9" not found in the cache\n', 1 }, { err, code })
  end)

  it("warns of paths of field selectors that the kind does not have", function()
    local function why(kind, selector)
      local out, err, code = run("get", kind, "-o", "name", "--field-selector", selector)
      assert.are.same({ "", 0 }, { out, code })
      return (err:gsub("No objects found in the cache%.\n", ""))
    end
    local head = "Warning: --field-selector: path "
    assert.are.equal(head .. 'status.phaze: status of pods have no field phaze, did you mean "phase"?\n',
      why("po", "status.phaze=Running"))
    assert.are.equal(head .. "spec.containers.image: image follows a list: write [*] or [0] before it\n",
      why("po", "metadata.labels.some=x,spec.containers.image=x"))
    assert.are.equal(head .. 'spec.containers[*].imag: containers of spec of pods have no field imag, did you mean '
      .. '"image"?\n', why("po", "spec.containers[*].imag=x"))
    assert.are.equal(head .. 'date: configmaps have no field date, did you mean "data"?\n', why("cm", "date=x"))
    assert.are.equal("", why("cm", "data.any=x,metadata.annotations.any=x"))
  end)

  it("prints JSON, YAML and columns of one's own", function()
    local list = cjson.decode((run("get", "cm", "-n", "shop", "-o", "json")))
    assert.are.same({ "List", 2, "1" }, { list.kind, #list.items, list.items[1].data.n })
    assert.are.equal("map-1", cjson.decode((run("get", "cm", "map-1", "-o", "json"))).metadata.name)
    assert.has_match('^apiVersion: v1\nkind: ConfigMap\n.-\n%-%-%-\napiVersion: v1\n',
      (run("get", "cm", "-n", "shop", "-o", "yaml")))
    assert.are.equal("WHO    N\nmap-3  3\nmap-1  1\nmap-2  2\n",
      (run("get", "cm", "-o", "custom-columns=WHO:.metadata.name,N:.data.n", "--field-selector", "data.n!=")))
  end)

  it("prints what a template of JSONPath makes of objects", function()
    local template = "jsonpath={.items[?(@.metadata.namespace=='shop')].data.n}"
    assert.are.equal("1 2", (run("get", "cm", "map-1", "map-2", "-n", "shop", "-o", template)))
    local _, err, code = run("get", "cm", "map-1", "-o", "jsonpath={.data[0]}")
    assert.are.same({ 'kubelua get: jsonpath "{.data[0]}": an object is not an array\n', 2 }, { err, code })
    local out
    out, err, code = run("get", "cm", "map-9", "-o", "jsonpath=name {.metadata.name}")
    assert.are.same({ "", 'kubelua get: cm: "map-9" not found in the cache\n', 1 }, { out, err, code })
  end)

  it("makes of templates what kubectl makes of them", function()
    if os.execute "command -v kubectl >/dev/null" ~= 0 then
      assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", "there is no kubectl") -- CI has it
      pending "there is no kubectl"
      return
    end
    local pod = run("get", "pods", "-o", "custom-columns=NAME:metadata.namespace,N:metadata.name"):match "\n(%S+ +%S+)"
    local namespace, name = pod:match "(%S+) +(%S+)"
    local function kubectl(...)
      local words = { "kubectl", "--server", sim.server, "--cache-dir", place.path, "get", ... }
      words.env = { HOME = place.path, KUBECONFIG = "/dev/null" }
      local p = proc.spawn(words)
      p:wait()
      return p:out()
    end
    for _, template in ipairs(OF_ONE) do
      local ours = run("get", "pods", name, "-n", namespace, "-o", "jsonpath=" .. template)
      local theirs = kubectl("pods", name, "-n", namespace, "-o", "jsonpath=" .. template)
      assert.are.equal(theirs, ours, template)
    end
    local function sorted(text)
      local lines = {}
      for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
      table.sort(lines)
      return lines
    end
    for _, template in ipairs(OF_LISTS) do
      local ours = run("get", "pods", "-o", "jsonpath=" .. template)
      assert.are.same(sorted(kubectl("pods", "-A", "-o", "jsonpath=" .. template)), sorted(ours), template)
    end
  end)

  it("watches: what is there, then each change, in each form", function()
    local function start(...) return cluster.kubelua { "get", "--admin-socket", place.path .. "/admin.sock", ... } end
    local table_ = start("cm", "-n", "shop", "-w", "-o", "custom-columns=NAME:metadata.name,N:data.n")
    local names = start("cm", "-n", "shop", "--output-watch-events", "-o", "name")
    local only = start("cm", "--watch-only", "-o", "json", "--output-watch-events")
    local template = start("cm", "-n", "shop", "-w", "-o", "jsonpath={.metadata.name}{'\\n'}")
    local chosen = start("cm", "--field-selector", "data.n=7", "-w", "--output-watch-events", "-o",
      "custom-columns=NAME:metadata.name,N:data.n")
    table_:wait_line "^map%-1 +1$"
    names:wait_line "^ADDED configmap/map%-1$"
    template:wait_line "^map%-1$"
    await(function() return #cjson.decode((run("status", "-o", "json"))).prompts == 5 end, "five watches")
    run("query", "pods:count()") -- those that began before are evaluated before
    local maps = "/api/v1/namespaces/shop/configmaps"
    local long = "map-with-a-long-name"
    sim.api:create(maps, made("ConfigMap", "shop", long, { data = { n = "7" } }))
    chosen:wait_line "^EVENT +NAME +N$"
    chosen:wait_line("^ADDED +" .. long:gsub("%-", "%%-") .. " +7$")
    sim.api:request("PUT", maps .. "/" .. long, made("ConfigMap", "shop", long, { data = { n = "8" } }))
    chosen:wait_line "^DELETED .- 7$" -- it is none of them any more; the server shows what it was, too
    sim.api:request("DELETE", maps .. "/" .. long)
    local event = cjson.decode(only:wait_line "^.*DELETED.*$")
    assert.are.same({ long, "ConfigMap" }, { event.object.metadata.name, event.object.kind })
    names:wait_line "^DELETED configmap/map%-with"
    template:wait_line "^map%-with"
    table_:wait_line "^map%-with%-a%-long%-name  7$"
    table_:wait_line "^map%-with%-a%-long%-name  8$"
    assert.are.equal("ADDED", cjson.decode(only:out():match "^[^\n]+").type)
    engine:kill "TERM"
    assert.are.equal(0, engine:wait())
    for _, watch in ipairs { table_, names, only, template, chosen } do
      assert.are.equal(3, watch:wait(), watch:report())
      assert.are.equal("kubelua get: the engine is shutting down\n", watch:err())
    end
  end)

  it("watches an empty cache, and hides Secrets in changes too", function()
    sim.api:request("DELETE", "/api/v1/namespaces/shop/secrets/token")
    await(function() return run("query", "secrets:count()", "--show-secrets") == "0\n" end, "no Secrets")
    local function start(...) return cluster.kubelua { "get", "--admin-socket", place.path .. "/admin.sock", ... } end
    local table_, json = start("secrets", "-w"), start("secrets", "-w", "-o", "json")
    await(function() return #cjson.decode((run("status", "-o", "json"))).prompts == 2 end, "two watches")
    run("query", "pods:count()")
    sim.api:create("/api/v1/namespaces/shop/secrets",
      made("Secret", "shop", "new", { data = { password = "aHVudGVyMg==" }, type = "Opaque" }))
    table_:wait_line "^NAMESPACE +NAME +TYPE +AGE$"
    table_:wait_line "^shop +new +Opaque +"
    assert.has_match("<7 bytes>", json:wait_line "^.*$", 1, true)
    local gone = cluster.kubelua { "get", "--admin-socket", place.path .. "/admin.sock", "cm", "map-9", "-w" }
    assert.are.same({ 1, 'kubelua get: cm: "map-9" not found in the cache\n' }, { gone:wait(), gone:err() })
  end)

  it("hides the data of Secrets unless it is wanted", function()
    for _, form in ipairs { "json", "yaml" } do
      local out = run("get", "secrets", "token", "-o", form)
      assert.has_no_match("aHVudGVyMg", out, 1, true)
      assert.has_match("<7 bytes>", out, 1, true)
      assert.has_match("aHVudGVyMg==", (run("get", "secrets", "token", "-o", form, "--show-secrets")), 1, true)
    end
    sim.api:patch("/api/v1/namespaces/shop/secrets/token", { metadata = { annotations = {
      ["kubectl.kubernetes.io/last-applied-configuration"] = "hunter2" } } })
    local columns = "custom-columns=N:.metadata.name,P:.data.password,D:.data,L:" ..
      ".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'],M:.metadata,A:['data']['password']"
    await(function() return run("get", "secrets", "token", "-o", columns, "--show-secrets"):find "hunter2" end,
      "the patch")
    local hidden = run("get", "secrets", "token", "-o", columns)
    assert.has_match("\ntoken +<7 bytes> +", hidden)
    assert.has_no_match("aHVudGVyMg", hidden, 1, true)
    assert.has_no_match("hunter2", hidden, 1, true)
    assert.has_match("aHVudGVyMg==", (run("get", "secrets", "token", "-o", columns, "--show-secrets")), 1, true)
    for _, path in ipairs { "data.password", "['data'].password", ".data.password" } do
      for _, value in ipairs { "aHVudGVyMg==", "bm8=" } do
        local found, why, code = run("get", "secrets", "--field-selector", path .. "=" .. value, "-o", "name")
        assert.are.same({ "", 2 }, { found, code })
        assert.has_match("--field-selector: the data of Secrets is hidden; --show-secrets shows it", why, 1, true)
      end
    end
    assert.are.equal("secret/token\n", (run("get", "secrets", "--field-selector", "metadata.name=token", "-o", "name")))
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
    assert.are.equal('"n": "1"\n', (run("query", 'cm["shop/map-1"].data', "-o", "yaml")))
    local _, err, code = run("query", "podz:count()")
    assert.are.same({ 1, true }, { code, err:find('did you mean "pods"?', 1, true) ~= nil })
    for _, form in ipairs { "table", "json" } do
      _, err, code = run("query", "pods where 1", "-o", form)
      assert.are.equal(1, code)
      assert.has_match("near 'where'; an expression is Lua, such as pods:count()\n", err, 1, true)
    end
  end)

  it("names what is wrong", function()
    for _, case in ipairs {
      { "no kind: kubelua get KIND", "get" },
      { '"podz", did you mean "pods"?', "get", "podz" },
      { "services: the engine has no cache of this kind; kubelua status lists the caches\n", "get", "services" },
      { '-l/--selector: "a in (b": character', "get", "pods", "-l", "a in (b" },
      { '-l/--selector: "a in (b": character', "get", "pods", "-w", "-l", "a in (b" },
      { '-o/--output: "xml" is not table|wide|json|yaml|name|custom-columns', "get", "pods", "-o", "xml" },
      { 'custom-columns: "NAME" is not HEADING:PATH', "get", "pods", "-o", "custom-columns=NAME" },
      { '-L/--label-columns: "a=b" is not the key of a label', "get", "pods", "-L", "a=b" },
      { "--sort-by: unexpected path string, expected a 'name1.name2'", "get", "pods", "--sort-by", "{.a}{.b}" },
      { "--show-labels option cannot be used with json printer", "get", "pods", "-o", "json", "--show-labels" },
      { '--field-selector: "status" is not PATH=VALUE', "get", "pods", "--field-selector", "status" },
      { "expected one expression", "query" },
    } do
      local out, err, code = run(unpack(case, 2))
      assert.are.same({ "", 2 }, { out, code }, err)
      assert.has_match(case[1], err, 1, true)
    end
  end)
end)
