-- A NUL byte ends a C string: what is behind it would be cut off, and "\0team-a" be the namespace "", which is all of
-- them. No text that a script gives has one, whatever it names; contents may.
local cluster = require "spec.support.cluster"

local head = [[
  local k8s = require "k8s"
  local http = require "http"
  k8s.reads { "*:*" }
  k8s.writes { "*:*" }
  local function tried(what, fn, ...)
    local ok, err = pcall(fn, ...)
    local text = (tostring(err):gsub("^%S-:%d+: ", ""))
    if ok or text ~= what .. " must not contain a NUL byte" then print(what, ok, text) end
  end
]]

describe("NUL bytes #threads", function()
  local sim

  before_each(function()
    sim = cluster.sim()
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "team-b" } })
  end)
  after_each(cluster.stop_all)

  local function exec(text, ...)
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script(head .. text), ... }
    p:wait(30)
    return p:out(), p.exit_code, p:report()
  end

  local function create(path, kind, namespace, name)
    local object = { apiVersion = "v1", kind = kind, metadata = { name = name, namespace = namespace } }
    sim.api:create(path, object)
  end

  it("are in no namespace of k8s.list: no object of another one comes back", function()
    for i = 1, 50 do
      create("/api/v1/namespaces/team-b/configmaps", "ConfigMap", "team-b", "map-" .. i)
    end
    for _, verb in ipairs { "list", "pages", "watch" } do
      local out, code, report = exec(([[
        k8s.main(function()
          local ok, got = pcall(function()
            local all = 0
            if "%s" == "list" then return #k8s.list("configmaps", { namespace = "\0team-a" }) end
            local watch = { namespace = "\0team-a", resource_version = "1" }
            if "%s" == "watch" then return k8s.watch("configmaps", watch) end
            for page in k8s.pages("configmaps", { namespace = "\0team-a" }) do all = all + #page end
            return all
          end)
          print(ok, (tostring(got):gsub("^%%S-:%%d+: ", "")))
        end)
      ]]):format(verb, verb))
      assert.are.equal(0, code, report)
      assert.are.equal(("false\tk8s.%s: namespace must not contain a NUL byte\n"):format(verb), out)
    end
  end)

  it("are in no namespace of k8s.informer: the script does not load", function()
    create("/api/v1/namespaces/team-b/configmaps", "ConfigMap", "team-b", "map")
    for option, name in pairs {
      ['namespace = "\\0team-a"'] = "k8s.informer: namespace",
      ['namespaces = { "team-b", "\\0team-a" }'] = "k8s.informer: namespaces: [2]",
      ['selector = "\\0a"'] = "k8s.informer: selector",
      ['field_selector = "\\0a"'] = "k8s.informer: field_selector",
    } do
      local out, code, report = exec(([[
        k8s.informer("configmaps", { %s }):on_add(function(map) print(map:key()) end)
        k8s.main(function() end)
      ]]):format(option))
      assert.are.equal("", out)
      assert.are.equal(2, code, report)
      assert.has_match(name .. " must not contain a NUL byte", report, 1, true)
    end
  end)

  it("are in nothing that is named while a script loads", function()
    local out, code, report = exec [[
      tried("k8s.informer: kind", k8s.informer, "pods\0")
      tried("k8s.informer: fields: [1]", k8s.informer, "pods", { fields = { "a\0" } })
      tried("k8s.informer: prune: [2]", k8s.informer, "pods", { prune = { "a", "a\0" } })
      tried("k8s.factory: namespace", k8s.factory, { namespace = "\0" })
      tried("k8s.reads: each entry", k8s.reads, { "pods\0:get" })
      tried("k8s.writes: each entry", k8s.writes, { "pods:patch\0" })
      tried("k8s.leader: lease", k8s.leader, { lease = "a\0" })
      tried("k8s.leader: duration", k8s.leader, { duration = "1s\0" })
      tried("k8s.leader: labels: each key and value", k8s.leader, { labels = { ["a\0"] = "b" } })
      tried("k8s.leader: labels: each key and value", k8s.leader, { labels = { a = "b\0" } })
      tried("k8s.cron: the schedule", k8s.cron, "* * * * *\0", print)
      tried("k8s.cron: tz", k8s.cron, "* * * * *", print, { tz = "UTC\0" })
      tried("k8s.every: the duration", k8s.every, "1s\0", print)
      tried("k8s.command: the name", k8s.command, "a\0b", print)
      tried("k8s.command: help", k8s.command, "a", print, { help = "\0" })
      tried("k8s.cron: name", k8s.cron, "@daily", print, { name = "a\0b" })
      tried("k8s.state: the name", k8s.state, "a\0")
      tried("k8s.queue: name", k8s.queue, { name = "a\0" })
      tried("k8s.controller: name", k8s.controller, { of = "pods", reconcile = print, name = "a\0" })
      tried("k8s.metric: the name", k8s.metric.counter, "a\0", "h")
      tried("k8s.metric: the help", k8s.metric.counter, "a", "h\0")
      tried("k8s.metric: each label", k8s.metric.counter, "a", "h", { "l\0" })
      tried("k8s.limits: name", k8s.limits, { ["queue-keys\0"] = 1 })
      tried("k8s.limits: queue-keys", k8s.limits, { ["queue-keys"] = "1\0" })
      tried("k8s.on_reload: replay", k8s.on_reload, { replay = "all\0" })
      tried("k8s.rule: id", k8s.rule, { id = "a\0", kinds = { "pods" }, check = print })
      tried("k8s.rule: title", k8s.rule, { id = "a", title = "a\0", kinds = { "pods" }, check = print })
      tried("k8s.informer: kind", k8s.rule, { id = "a", kinds = { "pods\0" }, check = print })
      tried("k8s.rule: uses: the name", k8s.rule, {
        id = "a", kinds = { "pods" }, uses = { ["a\0"] = { kind = "pods" } }, check = print,
      })
      tried("require: name", require, "k8s\0x")
      tried("load: name", load, "return 1", "a\0")
      local counter = k8s.metric.counter("c", "h", { "kind" })
      tried("c: the name of a label", counter.inc, counter, 1, { ["kind\0x"] = "a" })
      local pods = k8s.informer "pods"
      tried("on_add: id", pods.on_add, pods, print, { id = "a\0" })
      tried("on_add: selector", pods.on_add, pods, print, { selector = "a\0" })
      tried("on_add: namespaces", pods.on_add, pods, print, { namespaces = { "a\0" } })
      tried("on_add: where", pods.on_add, pods, print, { where = { ["a\0"] = 1 } })
      tried("on_add: changed", pods.on_add, pods, print, { changed = { "a\0" } })
      tried("add_index: name", pods.add_index, pods, "a\0", "metadata.name")
      tried("add_index: path", pods.add_index, pods, "a", "metadata.name\0")
      k8s.main(function() print "end" end)
    ]]
    assert.are.equal(0, code, report)
    assert.are.equal("end\n", out)
  end)

  it("are in nothing that is requested, written or reported", function()
    local out, code, report = exec([[
      local pods = k8s.informer "pods"
      local queue = k8s.queue { name = "q" }
      local function map(namespace, kind)
        return { apiVersion = "v1", kind = kind or "ConfigMap", metadata = { name = "a", namespace = namespace } }
      end
      k8s.main(function()
        for _, option in ipairs { "namespace", "selector", "field_selector", "resource_version" } do
          for _, verb in ipairs { "list", "pages", "watch" } do
            tried("k8s." .. verb .. ": " .. option, k8s[verb], "pods", { [option] = "\0team-a" })
          end
        end
        tried("k8s.list: the kind", k8s.list, "pods\0x")
        tried("k8s.get: the kind", k8s.get, "pods\0x", "a/b")
        tried("k8s.get: the key", k8s.get, "pods", "a/b\0")
        for _, verb in ipairs { "create", "update", "patch", "apply", "delete" } do
          tried("k8s." .. verb .. ": namespace", k8s[verb], map "\0", verb ~= "delete" and {} or nil)
          tried("k8s." .. verb .. ": the kind", k8s[verb], map("a", "ConfigMap\0"), verb ~= "delete" and {} or nil)
        end
        tried("k8s.update: subresource", k8s.update, map "a", { subresource = "status\0" })
        tried("k8s.update: manager", k8s.update, map "a", { manager = "m\0" })
        tried("k8s.delete: propagation", k8s.delete, map "a", { propagation = "orphan\0" })
        tried("k8s.delete: precondition: uid", k8s.delete, map "a", { precondition = { uid = "\0" } })
        tried("k8s.event: the reason", k8s.event, map "a", "Normal", "R\0", "x")
        tried("k8s.event: the message", k8s.event, map "a", "Normal", "R", "x\0")
        tried("http.request: url", http.request, { url = "http://127.0.0.1:9/\0" })
        tried("http.request: method", http.request, { url = "http://127.0.0.1:9/", method = "GET\0" })
        tried("http.request: the name of a header", http.request,
          { url = "http://127.0.0.1:9/", headers = { ["a\0"] = "b" } })
        tried("http.request: the value of a header", http.request,
          { url = "http://127.0.0.1:9/", headers = { a = "b\0" } })
        local lister, query = pods:lister(), pods:query()
        tried("lister:get: key", lister.get, lister, "a/b\0")
        tried("lister:namespace: namespace", lister.namespace, lister, "\0team-a")
        tried("lister:list: selector", lister.list, lister, "a\0")
        tried("lister:by_index: name", lister.by_index, lister, "namespace\0", "x")
        tried("query:where: path", query.where, query, "a\0", "=", 1)
        tried("query:label: selector", query.label, query, "a\0")
        tried("query:namespace: namespace", query.namespace, query, "\0team-a")
        tried("query:group: path", query.group, query, "a\0")
        tried("wait_rv: the resource version", pods.wait_rv, pods, "1\0")
        tried("queue:add: the key", queue.add, queue, "a\0")
        tried("k8s.log: the name of a field", k8s.log.info, "a", { ["x\0"] = "y" })
        print(k8s.selects("a\0", {}))
        queue:shut_down()
        print "end"
      end)
    ]], "--allow-http", "127.0.0.1:9")
    assert.are.equal(0, code, report)
    assert.are.equal("nil\ta selector must not contain a NUL byte\nend\n", out)
  end)

  it("may be in contents, which stay complete, and in the log", function()
    local out, code, report = exec [[
      k8s.main(function()
        local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", namespace = "default" } }
        map.data = { text = "a\0b" }
        local ok, err = k8s.create(map)
        print(ok, err and err.code)
        print(#k8s.base64.decode(k8s.base64.encode "a\0b"), #k8s.json.encode "a\0b", k8s.sha256 "a\0" ~= k8s.sha256 "a")
        k8s.log.info("a\0b", { x = "y\0z" })
      end)
    ]]
    assert.are.equal(0, code, report)
    assert.has_match("\n3\t10\ttrue\n$", out)
    assert.has_match('"a\239\191\189b" script="[^"]+" x="y\\u0000z"', report)
  end)

  it("are refused by the simulator in a path and a query", function()
    create("/api/v1/namespaces/default/configmaps", "ConfigMap", "default", "map")
    for _, target in ipairs {
      "/api/v1/namespaces/%00team-a/configmaps", "/api/v1/configmaps?labelSelector=%00a", "/api/v1/configmaps?a%00=b",
    } do
      local code, body = sim.api:curl("GET", target)
      assert.are.equal(400, code, target)
      assert.has_match("the path and the query must not contain a NUL byte", body, 1, true)
    end
    assert.are.equal(1, #sim.api:get("/api/v1/configmaps").items)
  end)
end)
