-- Queries and snapshots of scripts, on the simulated API server.
local cluster = require "spec.support.cluster"

local pods = "/api/v1/namespaces/%s/pods"

local function create(api, namespace, name, spec)
  local p = {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = namespace, labels = { app = spec.app } },
    spec = { nodeName = spec.node, priority = spec.priority, containers = {} },
  }
  for i, cpu in ipairs(spec.cpu) do
    p.spec.containers[i] = { name = "c" .. i, image = spec.image, resources = { requests = { cpu = cpu } } }
  end
  api:create(pods:format(namespace), p)
end

local function start()
  local sim = cluster.sim()
  sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "shop" } })
  create(sim.api, "default", "a",
    { app = "web", node = "n1", image = "nginx:1.25", cpu = { "100m", "1" }, priority = 3 })
  create(sim.api, "default", "b", { app = "db", node = "n2", image = "pg:16", cpu = { "500m" }, priority = 10 })
  create(sim.api, "shop", "c", { app = "web", node = "n1", image = "nginx:1.26", cpu = { "2" } })
  create(sim.api, "shop", "d", { app = "job", image = "busybox", cpu = { "0.3" } })
  return sim
end

-- Runs `body` in k8s.main; what it printed must be `expected`, and stderr must stay empty.
local function assert_prints(sim, body, expected)
  local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script(([[
    local k8s = require "k8s"
    local pods = k8s.informer("pods")
    local spaces = k8s.informer("namespaces")
    local function keys(list)
      local out = {}
      for i, obj in ipairs(list) do out[i] = obj:key() end
      return table.concat(out, " ")
    end
    local function why(...) print((select(2, pcall(...)):gsub("^.-:%%d+: ", ""))) end
    local q = function() return pods:query() end
    k8s.main(function() %s end)
  ]]):format(body)) }
  local code = engine:wait(30)
  assert.are.equal("", engine:err())
  assert.are.equal(expected, engine:out())
  assert.are.equal(0, code)
end

describe("pods:query()", function()
  local sim
  before_each(function() sim = start() end)
  after_each(cluster.stop_all)

  it("selects by any number of conditions", function()
    assert_prints(sim, [[
      print(q():count(), keys(q():rows()))
      print(keys(q():where("spec.nodeName", "=", "n1"):rows()))
      print(keys(q():where("spec.nodeName", "~=", "n1"):rows()))
      print(keys(q():where("spec.nodeName", "=", k8s.null):rows()))
      print(keys(q():where("spec.containers[*].image", "matches", "nginx:*"):namespace "shop":rows()))
      print(keys(q():label "app in (web, db)":where("metadata.namespace", "in", { "default", "x" }):rows()))
      print(keys(q():where("spec.containers[*].resources.requests.cpu", ">", "400m"):rows()))
      print(keys(q():where("spec.containers[*].resources.requests.cpu", "=", k8s.quantity "0.1"):rows()))
      print(keys(q():where("spec.priority", ">=", 3):where("spec.priority", "<", k8s.int64(10)):rows()))
      print(keys(q():where("metadata.creationTimestamp", ">", "2020-01-01T00:00:00Z"):limit(2):rows()))
      for pod in q():where("metadata.name", "<=", "b"):each() do print("each", pod:name()) end
    ]], [[
4	default/a default/b shop/c shop/d
default/a shop/c
default/b shop/d
shop/d
shop/c
default/a default/b
default/a default/b shop/c
default/a
default/a
default/a default/b
each	a
each	b
]])
  end)

  it("orders, limits and sums", function()
    assert_prints(sim, [[
      local cpu = "spec.containers[*].resources.requests.cpu"
      print(keys(q():order("metadata.name", "desc"):rows()))
      print(keys(q():order "spec.priority":limit(3):rows()))
      print(keys(q():order("metadata.labels.app"):order("metadata.name", "desc"):rows()))
      print(q():sum(cpu), q():sum "spec.priority", q():where("metadata.name", "=", "none"):sum(cpu))
      print(q():sum(cpu) > k8s.quantity "3", type(q():sum "spec.priority"))
      print(q():limit(1):sum(cpu), q():limit(2):count(), q():limit(0):count())
    ]], [[
shop/d shop/c default/b default/a
shop/c shop/d default/a
default/b shop/d shop/c default/a
3900m	13	0
true	number
1100m	2	0
]])
  end)

  it("groups", function()
    assert_prints(sim, [[
      for _, row in ipairs(q():group "spec.nodeName":count()) do print(row.key, row.count, row.sum) end
      local cpu = "spec.containers[*].resources.requests.cpu"
      for _, row in ipairs(q():group "spec.nodeName":order("sum", "desc"):limit(2):sum(cpu)) do
        print(row.key, row.count, row.sum)
      end
      for row in q():group "spec.containers[*].image":order("count", "desc"):order("key", "desc"):each() do
        print(row.key, row.count)
      end
      print(#q():namespace "nowhere":group "spec.nodeName":rows(), q():group("spec.priority"):rows()[2].key)
    ]], [[
n1	2	nil
n2	1	nil
nil	1	nil
n1	2	3100m
n2	1	500m
pg:16	1
nginx:1.26	1
nginx:1.25	1
busybox	1
0	3
]])
  end)

  it("reports unsupported queries", function()
    assert_prints(sim, [[
      why(q().where, q(), "a", "===", 1)
      why(q().where, q(), "a", "=", nil)
      why(q().where, q(), "a", "=", {})
      why(q().where, q(), "a", "in", "b")
      why(q().where, q(), "a", "in", { 1, {} })
      why(q().where, q(), "a..b", "=", 1)
      why(q().where, q(), 1, "=", 1)
      why(q().where, q(), "a", "<", true)
      why(q().where, q(), "a", "=", 0/0)
      why(q().where, q(), "a", "matches", 1)
      why(q().label, q(), "a=b=c")
      why(q().limit, q(), -1)
      why(q().limit, q(), 1.5)
      why(q().order, q(), "a", "down")
      why(q().sum, q(), nil)
      local grouped = q():group "a":order "metadata.name"
      why(grouped.rows, grouped)
      why(q().rows, pods)
      local full = q()
      for i = 1, 32 do full:where("a", "=", i) end
      why(full.where, full, "a", "=", 1)
    ]], [[
query:where: unknown operator "===", known are = ~= < <= > >= in matches
query:where: the value is nil; use k8s.null to match absent fields
query:where: cannot compare with table
query:where: in needs an array of values, not string
query:where: cannot compare with table
query:where: path "a..b": empty name at 3
query:where: path must be a string, not number
query:where: null and booleans cannot be ordered
query:where: the value is not a number (nan)
query:where: a pattern must be a string
query:label: selector "a=b=c": character 4: found '=', expected: ',' or 'end of string'
query:limit: expected a whole number from 0 to 1000000000
query:limit: expected a whole number from 0 to 1000000000
query:order: the direction is "asc" or "desc", not "down"
query:sum: path must be a string, not nil
query:rows: groups are ordered by "key", "count" or "sum", not by "metadata.name"
query:rows: called on informer, not on a query (methods are called with ':')
query:where: a query has at most 32 conditions
]])
  end)

  it("may run again, and sees the cache as it is then", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods")
      local on_n1 = pods:query():where("spec.nodeName", "=", "n1")
      pods:add_index("node", "spec.nodeName")
      pods:on_delete(function() print("left", on_n1:count()) end)
      k8s.main(function() print("first", on_n1:count()) end)
    ]])
    engine:wait_line "^first\t2$"
    sim.api:delete(pods:format "default" .. "/a?gracePeriodSeconds=0")
    engine:wait_line "^left\t1$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

describe("k8s.snapshot", function()
  local sim
  before_each(function() sim = start() end)
  after_each(cluster.stop_all)

  it("keeps several caches as they were while they change", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods, spaces = k8s.informer("pods"), k8s.informer("namespaces")
      pods:add_index("node", "spec.nodeName")
      pods:add_index("app", function(pod, emit) emit(pod:label "app") end)
      local snap, kept
      local function show(what)
        local frozen = snap:lister(pods)
        print(what, pods:lister():count(), frozen:count(),
          #frozen:by_index("node", "n1"), #frozen:by_index("app", "web"),
          frozen:namespace "default":get "a":name(), snap:query(pods):where("spec.nodeName", "=", "n1"):count(),
          snap:lister(spaces):get "shop":name(), table.concat(frozen:index_values "app", ","))
      end
      pods:on_delete(function() show "deleted" end)
      k8s.main(function()
        snap = k8s.snapshot(pods, spaces)
        show "taken"
      end)
    ]])
    engine:wait_line "^taken\t4\t4\t2\t2\ta\t2\tshop\tdb,job,web$"
    sim.api:delete(pods:format "default" .. "/a?gracePeriodSeconds=0")
    engine:wait_line "^deleted\t3\t4\t2\t2\ta\t2\tshop\tdb,job,web$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is closed by hand or by the collector, and reports it", function()
    assert_prints(sim, [[
      local snap = k8s.snapshot(pods)
      local lister, query = snap:lister(pods), snap:query(pods)
      local all = lister:list()
      snap:close()
      snap:close()
      print(all():key())
      why(lister.count, lister)
      why(lister:namespace("a").list_all, lister:namespace("a"))
      why(query.count, query)
      why(snap.lister, snap, pods)
      for _ = 1, 200 do snap = k8s.snapshot(pods, spaces):lister(pods) end
      print(snap:count())
    ]], [[
default/a
the snapshot is closed
the snapshot is closed
the snapshot is closed
snapshot:lister: the snapshot is closed
4
]])
  end)

  it("stays open while an index function reads it", function()
    assert_prints(sim, [[
      local snap
      pods:add_index("closing", function(pod, emit)
        if snap then why(snap.close, snap) end
        emit(pod:name())
      end)
      local open = k8s.snapshot(pods)
      local lister = open:lister(pods)
      snap = open
      print(#lister:by_index("closing", "a"), lister:count())
      snap:close()
      why(lister.count, lister)
    ]], [[
snapshot:close may not be called in an index function
snapshot:close may not be called in an index function
snapshot:close may not be called in an index function
snapshot:close may not be called in an index function
1	4
the snapshot is closed
]])
  end)

  it("reports what is wrong", function()
    assert_prints(sim, [[
      why(k8s.snapshot)
      why(k8s.snapshot, "pods")
      local snap = k8s.snapshot(pods)
      why(snap.lister, snap, spaces)
      why(snap.query, snap, nil)
    ]], [[
k8s.snapshot: expected 1 to 100 informers
k8s.snapshot: expected an informer, not string
snapshot:lister: the snapshot does not have this informer of v1 namespaces; it contains v1 pods
snapshot:query: expected an informer, not nil
]])
  end)
end)
