-- Indexes of a script's own, on the simulated API server (contract S-5..S-9).
local cluster = require "spec.support.cluster"

local pods = "/api/v1/namespaces/%s/pods"

local function pod(namespace, name, node, image, labels)
  return {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = namespace, labels = labels },
    spec = { nodeName = node, containers = { { name = "main", image = image }, { name = "side", image = "envoy:1" } } },
  }
end

local function create(api, ...)
  local p = pod(...)
  api:create(pods:format(p.metadata.namespace), p)
end

-- Runs `body` in k8s.main with `pods`, `lister` and `keys` at hand; gives what it printed, line by line.
local function exec(sim, head, body)
  local engine = cluster.kubelua { "exec", "--limit=filter-cpu=1m", "-s", sim.server, cluster.script(([[
    local k8s = require "k8s"
    local pods = k8s.informer("pods")
    local lister = pods:lister()
    local function keys(list)
      local out = {}
      for i, obj in ipairs(list) do out[i] = obj:key() end
      return table.concat(out, " ")
    end
    %s
    k8s.main(function() %s end)
  ]]):format(head, body)) }
  engine.code = engine:wait(30)
  return engine
end

local function assert_prints(sim, head, body, expected)
  local engine = exec(sim, head, body)
  assert.are.equal("", engine:err())
  assert.are.equal(expected, engine:out())
  assert.are.equal(0, engine.code)
end

describe("an index #threads", function()
  local sim

  before_each(function()
    sim = cluster.sim()
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "shop" } })
    create(sim.api, "default", "a", "n1", "nginx:1")
    create(sim.api, "default", "b", "n2", "nginx:2", { tier = "1" })
    create(sim.api, "shop", "c", "n1", "nginx:1")
  end)
  after_each(cluster.stop_all)

  it("finds objects by a path", function()
    assert_prints(sim, [[pods:add_index("node", "spec.nodeName")]], [[
      print(keys(lister:by_index("node", "n1")))
      print(keys(lister:by_index("node", "nowhere")) == "")
      print(table.concat(lister:index_values("node"), " "))
    ]], "default/a shop/c\ntrue\nn1 n2\n")
  end)

  it("puts an object under every value of a path with [*]", function()
    assert_prints(sim, [[pods:add_index("image", "spec.containers[*].image")]], [[
      print(keys(lister:by_index("image", "nginx:1")))
      print(keys(lister:by_index("image", "envoy:1")))
      print(table.concat(lister:index_values("image"), " "))
    ]], "default/a shop/c\ndefault/a default/b shop/c\nenvoy:1 nginx:1 nginx:2\n")
  end)

  it("returns objects that share a value with an object, and sorted keys (S-7)", function()
    assert_prints(sim, [[
      pods:add_index("image", "spec.containers[*].image")
      pods:add_index("node", function(obj, emit) emit(obj.spec.nodeName) end)
    ]], [[
      local a, b = lister:get "default/a", lister:get "default/b"
      print(keys(lister:by_index("image", b)))
      print(keys(lister:by_index("node", a)), keys(lister:namespace "shop":by_index("node", a)))
      print(keys(lister:by_index("namespace", a)))
      print(table.concat(lister:index_keys("image", "nginx:1"), " "), #lister:index_keys("image", "none"))
    ]], "default/a default/b shop/c\ndefault/a shop/c\tshop/c\ndefault/a default/b\ndefault/a shop/c\t0\n")
  end)

  it("may bring a handler, which keeps nobody waiting", function()
    assert_prints(sim, [[
      local told = 0
      pods:add_index("name", function(obj, emit)
        if obj:name() == "b" then
          pods:add_event_handler { OnAdd = function() told = told + 1 end }
        end
        emit(obj:name())
      end)
    ]], 'print(told == lister:count())', "true\n")
  end)

  it("is filled at once when it comes late, by a function too (S-8)", function()
    assert_prints(sim, "", [[
      pods:add_index("repository", function(obj, emit)
        for _, c in ipairs(obj.spec.containers) do emit(c.image:match "^[^:]*") end
        emit(obj.spec.missing) -- nil is no value
      end)
      print(keys(lister:by_index("repository", "nginx")))
      print(table.concat(lister:index_values("repository"), " "))
    ]], "default/a default/b shop/c\nenvoy nginx\n")
  end)

  it("is always there for the namespace, and listers of one namespace see theirs only (S-9)", function()
    assert_prints(sim, [[pods:add_index("node", "spec.nodeName")]], [[
      print(keys(lister:by_index("namespace", "default")))
      print(table.concat(lister:index_values("namespace"), " "))
      local shop = lister:namespace "shop"
      print(keys(shop:by_index("node", "n1")), keys(shop:by_index("namespace", "default")) == "")
      print(table.concat(shop:index_values("node"), " "), table.concat(shop:index_values("namespace"), " "))
    ]], "default/a default/b\ndefault shop\nshop/c\ttrue\nn1\tshop\n")
  end)

  it("takes numbers and booleans as values", function()
    assert_prints(sim, [[
      pods:add_index("count", function(obj, emit) emit(#obj.spec.containers) emit(true) end)
    ]], [[
      print(#lister:by_index("count", 2), #lister:by_index("count", "2"), #lister:by_index("count", true))
    ]], "3\t3\t3\n")
  end)

  it("may read caches while its function runs", function()
    assert_prints(sim, [[pods:add_index("node", "spec.nodeName")]], [[
      pods:add_index("neighbours", function(obj, emit)
        emit(#lister:by_index("node", obj.spec.nodeName))
        emit(#lister:by_index("namespace", obj:namespace()) .. " in " .. obj:namespace())
      end)
      print(table.concat(lister:index_values("neighbours"), ","))
    ]], "1,1 in shop,2,2 in default\n")
  end)

  it("may not wait in its function", function()
    local engine = exec(sim, "", [[
      pods:add_index("sleepy", function() k8s.sleep(1) end)
      print(#lister:index_values("sleepy"))
    ]])
    assert.are.equal("0\n", engine:out())
    assert.has_match("k8s.sleep may not be called in an index function", engine:err(), 1, true)
  end)

  it("refuses a name twice, an unknown name, a bad path (S-7, S-8)", function()
    assert_prints(sim, [[pods:add_index("node", "spec.nodeName")]], [[
      local function why(...) print((select(2, pcall(...)):gsub("^.-:%d+: ", ""))) end
      why(pods.add_index, pods, "node", "spec.other")
      why(pods.add_index, pods, "namespace", "spec.other")
      why(pods.add_index, pods, "bad", "a..b")
      why(pods.add_index, pods, "bad", 7)
      why(pods.add_index, pods, "", "a")
      why(lister.by_index, lister, "bad", "x")
      why(lister.index_values, lister, "bad")
      why(lister.by_index, lister, "node")
      print(#lister:by_index("node", "n1"))
    ]], table.concat({
      "add_index: Index with name node exists already",
      "add_index: Index with name namespace exists already",
      'add_index: path "a..b": empty name at 3',
      "add_index: expected a path or a function, not number",
      "add_index: name must have 1 to 253 characters",
      "lister:by_index: Index with name bad does not exist",
      "lister:index_values: Index with name bad does not exist",
      "lister:by_index: the value must be a string, a number or a boolean, not nil",
      "2", "" }, "\n"))
  end)

  it("outlives a failing function: the object stays, under no value (S-6)", function()
    local engine = exec(sim, "", [[
      local kept
      pods:add_index("fails", function(obj, emit)
        kept = emit
        emit "before"
        if obj:name() == "b" then error "no b" end
      end)
      print(keys(lister:by_index("fails", "before")))
      print(pcall(kept, "late"))
      print(lister:count())
      pods:add_index("wild", function(obj, emit) emit {} end)
      pods:add_index("nested", function() pods:add_index("more", "kind") end)
      pods:add_index("many", function(_, emit) for i = 1, 10001 do emit(i) end end)
      print(#lister:index_values("wild"), #lister:index_values("nested"), #lister:index_values("many"))
    ]])
    assert.has_match("^default/a shop/c\nfalse\t[^\n]*emit: the index function has returned\n3\n0\t0\t0\n$",
      engine:out())
    local err = engine:err()
    assert.has_match('Index function failed" script=[^\n]* index="fails" key="default/b"[^\n]*no b', err)
    assert.has_match("emit: a value must be a string, a number or a boolean, not table", err, 1, true)
    assert.has_match("an index function may not add an index", err, 1, true)
    assert.has_match("more than 10000 values for one object", err, 1, true)
  end)

  it("is not used by its own function, in a snapshot either (S-6)", function()
    local engine = exec(sim, "", [[
      local function why(f, ...) return (tostring(select(2, pcall(f, ...))):gsub("^.-:%d+: ", "")) end
      local function anew(name, value) return k8s.snapshot(pods):lister(pods):by_index(name, value) end
      pods:add_index("own", function(obj, emit)
        emit(why(anew, "own", "x"))
        emit(why(anew, "own", obj))
        emit(why(lister.by_index, lister, "own", obj))
        emit(why(lister.index_values, lister, "own"))
      end)
      print(table.concat(lister:index_values("own"), "\n"))
      pods:add_index("plain", function(obj, emit) emit(#anew("plain", "x")) end)
      local asked = 0
      pods:add_index("one", function(obj, emit) asked = asked + 1 emit(#anew("other", "x")) end)
      pods:add_index("other", function(obj, emit) emit "x" anew("one", "x") end)
      asked = 0
      print(#lister:index_values "plain", #anew("one", "0"), asked, lister:count())
    ]])
    local refused = "%s: the function of index own must not use that index\n"
    assert.are.equal(refused:format "lister:by_index" .. refused:format "lister:index_values" .. "0\t3\t3\t3\n",
      engine:out())
    assert.has_match('index="plain"[^\n]*lister:by_index: the function of index plain must not use that index',
      engine:err())
    assert.is_nil(engine:err():find("stack overflow", 1, true))
  end)

  it("is usable however deep the calls are nested, or refused, and works on", function()
    assert_prints(sim, [[ pods:add_index("named", function(obj, emit) kept = emit emit(obj:name()) end) ]], [[
      local one, refused = lister:get "default/a"
      local function deeper()
        if refused then return end
        local ok, err = pcall(lister.by_index, lister, "named", one)
        if not ok then refused = err return end
        pcall(coroutine.wrap(deeper))
      end
      deeper()
      for i = 1, 200 do local garbage = {} for j = 1, 5000 do garbage[j] = { j } end end
      print((tostring(refused):match "stack overflow: .*nested too deeply"))
      print((select(2, pcall(kept, "late")):match "emit: .*"))
      print(#lister:by_index("named", one), #k8s.snapshot(pods):lister(pods):by_index("named", one))
      pods:add_index("other", "metadata.name")
    ]], "stack overflow: C calls and coroutines are nested too deeply\n"
      .. "emit: the index function has returned\n1\t1\n")
  end)

  it("follows adds, updates and deletes, and is there before handlers are called", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods")
      local lister = pods:lister()
      pods:add_index("tier", function(obj, emit) emit(obj:label "tier") end)
      local function show(what)
        return function(obj)
          local names = {}
          for i, p in ipairs(lister:by_index("tier", "1")) do names[i] = p:name() end
          print(what, obj:name(), table.concat(names, ","), table.concat(lister:index_values("tier"), ","))
        end
      end
      k8s.main(function()
        print "synced"
        pods:on_add(function(obj, ev) if not ev.initial then show "add"(obj) end end)
        pods:on_update(show "update")
        pods:on_delete(show "delete")
      end)
    ]])
    engine:wait_line "^synced$"
    create(sim.api, "default", "d", "n1", "x", { tier = "1" })
    engine:wait_line "^add\td\tb,d\t1$"
    sim.api:patch(pods:format "default" .. "/b", { metadata = { labels = { tier = "2" } } })
    engine:wait_line "^update\tb\td\t1,2$"
    sim.api:delete(pods:format "default" .. "/d?gracePeriodSeconds=0")
    engine:wait_line "^delete\td\t\t2$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has names for each script alone", function()
    local text = [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods")
      pods:add_index("x", %q)
      k8s.main(function() print("%s", table.concat(pods:lister():index_values("x"), " ")) end)
    ]]
    local engine = cluster.run(sim.server, cluster.script(text:format("spec.nodeName", "first")),
      { "-f", cluster.script(text:format("metadata.namespace", "second")) })
    engine:wait_line "^first\tn1 n2$"
    engine:wait_line "^second\tdefault shop$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

describe("k8s.selects", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  it("reports whether a selector selects labels (X-1, X-2, X-5)", function()
    create(sim.api, "default", "a", "n1", "nginx:1", { app = "web", tier = "1" })
    assert_prints(sim, "", [[
      local labels = { app = "web", tier = "1" }
      local pod = lister:get "default/a"
      local all = { "", "app=web", "app!=web", "app in (web,db)", "app notin (web)", "tier>0", "!none", "none!=x" }
      for _, s in ipairs(all) do
        print(s, k8s.selects(s, labels), k8s.selects(s, pod.metadata.labels), k8s.selects(s, pod), k8s.selects(s))
      end
      local no, err = k8s.selects("a=b=c", labels)
      print(no, err.code, err.reason, err)
    ]], [[
	true	true	true	true
app=web	true	true	true	false
app!=web	false	false	false	true
app in (web,db)	true	true	true	false
app notin (web)	false	false	false	true
tier>0	true	true	true	false
!none	true	true	true	true
none!=x	true	true	true	true
nil	400	BadRequest	selector "a=b=c": character 4: found '=', expected: ',' or 'end of string'
]])
  end)

  it("takes the labels of what has metadata, and nothing that is neither", function()
    create(sim.api, "default", "a", "n1", "nginx:1", { app = "web" })
    assert_prints(sim, "", [[
      local pod = lister:get "default/a"
      local template = k8s.json.decode '{"metadata":{"labels":{"app":"web"}},"spec":{}}'
      for _, labels in ipairs { template, { metadata = pod.metadata }, { metadata = { labels = pod.metadata.labels } },
        { metadata = {} }, { metadata = "a label" }, {} } do
        print(k8s.selects("app=web", labels), k8s.selects({ app = "web" }, labels))
      end
      for _, none in ipairs { pod.spec, pod.spec.containers, { spec = {} }, { "a" }, { metadata = { labels = 5 } } } do
        print((select(2, pcall(k8s.selects, "app=web", none)):gsub("^.-:%d+: ", "")))
      end
    ]], [[
true	true
true	true
true	true
false	false
false	false
false	false
k8s.selects: labels must be a map of labels or an object with metadata.labels: field containers is a list
k8s.selects: labels must be a map of labels or an object with metadata.labels, not a list
k8s.selects: labels must be a map of labels or an object with metadata.labels: field spec is a table
k8s.selects: labels must be a map of labels or an object with metadata.labels, not a list
k8s.selects: metadata.labels must be a table, not number
]])
  end)

  it("takes what a Deployment and what a Service have as selectors", function()
    create(sim.api, "default", "a", "n1", "nginx:1", { app = "web" })
    assert_prints(sim, "", [[
      local labels = { app = "web", tier = "1" }
      print(k8s.selects({ matchLabels = { app = "web" } }, labels), k8s.selects({ app = "web" }, labels),
        k8s.selects({ app = "db" }, labels), k8s.selects({}, labels),
        k8s.selects(lister:get("default/a").metadata.labels, labels))
      local function by(key, operator, values)
        return k8s.selects({ matchExpressions = { { key = key, operator = operator, values = values } } }, labels)
      end
      print(by("app", "In", { "web", "x" }), by("app", "NotIn", { "web" }))
      print(by("app", "Exists"), by("app", "DoesNotExist"))
      print(select(2, by("app", "Like", {})).message)
      print(select(2, by("app", "In", {})).message)
      print(select(2, by("app", "In", { "a,b" })).message)
      print(select(2, k8s.selects({ app = "a,b=c" }, labels)).message)
      print(select(2, k8s.selects({ matchLabels = { ["a b"] = "c" } }, labels)).message)
      print((select(2, pcall(k8s.selects, 7, labels)):gsub("^.-:%d+: ", "")))
      print((select(2, pcall(k8s.selects, "a=b", { a = 7 })):gsub("^.-:%d+: ", "")))
      print((select(2, pcall(k8s.selects, "a=b", "c")):gsub("^.-:%d+: ", "")))
    ]], [[
true	true	false	true	true
true	false
true	false
selector: the operator "Like" is not valid
selector: In of app needs values
selector: the value "a,b" is not valid
selector: the value "a,b=c" is not valid
selector: the key "a b" is not valid
k8s.selects: selector must be a string, not number
k8s.selects: the value of the label a must be a string, not number
k8s.selects: labels must be a table, not string
]])
  end)
end)
