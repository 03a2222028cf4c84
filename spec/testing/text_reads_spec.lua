-- k8s.raw and k8s.logs of scripts, with what env:raw and env:pod_log answer.
local support = require "spec.testing.support"

local POD = {
  kind = "Pod",
  metadata = { namespace = "shop", name = "web" },
  spec = { nodeName = "n1", containers = { { name = "main", image = "nginx" }, { name = "side", image = "nginx" } } },
}

-- Runs `body` as k8s.main, once `prepare` has had the environment.
local function run(body, prepare, reads)
  local env = support.load(([[
    local k8s = require "k8s"
    k8s.reads { %s }
    local function refused(...) return (tostring(select(2, pcall(...))):gsub("^.-:%%d+: ", "")) end
    k8s.command("go", function()
      %s
    end)
  ]]):format(reads or '"pods:get", "pods/log:get", "/apis/metrics.k8s.io/*/namespaces/*/pods", "/version", "/healthz"',
    body), { objects = { POD, { kind = "Node", metadata = { name = "n1" } } } })
  if prepare then prepare(env) end
  assert(env:call "go")
  return env.prints
end

describe("k8s.raw", function()
  it("returns JSON as a table, and other text as it is", function()
    local prints = run([[
      print(k8s.raw { path = "/version" }.major)
      local pods = k8s.raw { path = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods", query = { limit = 5 } }
      print(pods.items[1].containers[1].usage.cpu)
      print(k8s.raw { path = "/healthz" })
      return "done"
    ]], function(env)
      env:raw {
        path = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods",
        body = { kind = "PodMetricsList", items = { { containers = { { name = "main", usage = { cpu = "5m" } } } } } },
      }
      env:raw { path = "/healthz", body = "ok" }
    end)
    assert.same({ "1", "5m", "ok" }, prints)
  end)

  it("returns an empty text for an answer without one, and the server's error", function()
    local prints = run([[
      print("<" .. k8s.raw { path = "/healthz" } .. ">")
      local none, err = k8s.raw { path = "/apis/metrics.k8s.io/v1/namespaces/shop/pods" }
      print(none, err.code, err.reason)
      return "done"
    ]], function(env) env:raw { path = "/healthz", status = 204 } end)
    assert.same({ "<>", "nil\t404\tNotFound" }, prints)
  end)

  it("is refused where it is not declared, would not end, or opens a connection", function()
    local prints = run [[
      local function try(path, query) print(refused(k8s.raw, { path = path, query = query })) end
      try "/livez"
      try "/apis/metrics.k8s.io/v1/namespaces/shop/pods/web"
      try "/apis/metrics.k8s.io/v1/namespaces/../pods"
      try "/api/v1/namespaces/shop/pods/web/exec"
      try "/api/v1/nodes/n1/proxy/metrics"
      try "/api/v1/watch/pods"
      try "/version?watch=1"
      try "/vers%69on"
      try "//version"
      try "version"
      try("/version", { watch = true })
      try("/version", { follow = true })
      try("/version", { ["a b"] = 1 })
      try("/version", { a = {} })
      try(nil)
      return "done"
    ]]
    assert.same({
      'k8s.raw: "/livez" is not declared with k8s.reads',
      'k8s.raw: "/apis/metrics.k8s.io/v1/namespaces/shop/pods/web" is not declared with k8s.reads',
      'k8s.raw: "/apis/metrics.k8s.io/v1/namespaces/../pods": a segment must not be ..',
      'k8s.raw: "/api/v1/namespaces/shop/pods/web/exec": exec is refused',
      'k8s.raw: "/api/v1/nodes/n1/proxy/metrics": proxy is refused',
      'k8s.raw: "/api/v1/watch/pods" is a watch; use k8s.watch',
      'k8s.raw: "/version?watch=1": "version?watch=1" cannot be a segment of a path; use the option query',
      'k8s.raw: "/vers%69on": "vers%69on" cannot be a segment of a path',
      'k8s.raw: "//version": "" cannot be a segment of a path',
      'k8s.raw: "version": a path begins with /',
      "k8s.raw: query: watch is refused; use k8s.watch",
      "k8s.raw: query: follow is refused; use k8s.logs",
      'k8s.raw: query: "a b" cannot be a parameter',
      "k8s.raw: query must be { name = text, number or boolean }",
      "k8s.raw: path is missing",
    }, prints)
  end)

  it("is declared by paths that can be read", function()
    local function why(path)
      local ok, problem = pcall(run, 'return "done"', nil, ("%q"):format(path))
      assert.is_false(ok, path)
      return (tostring(problem):match "k8s%.reads: [^\n]*")
    end
    assert.equal('k8s.reads: "/api/v1/namespaces/*/pods/*/attach": attach is refused',
      why "/api/v1/namespaces/*/pods/*/attach")
    assert.equal('k8s.reads: "/api/v1/nodes/*/*": a subresource must be named', why "/api/v1/nodes/*/*")
    assert.equal('k8s.reads: "/a*": "a*" cannot be a segment of a path', why "/a*")
    assert.equal('k8s.reads: "/a/": "" cannot be a segment of a path', why "/a/")
    assert.equal('k8s.reads: "pods/status:get": the only subresource that can be declared is pods/log',
      why "pods/status:get")
    assert.same({}, run('return "done"', nil, '"/api/v1/namespaces/proxy/pods/exec", "/api/v1/nodes/*/status"'))
  end)

  it("names the limit that an answer exceeds", function()
    local env = support.load [[
      local k8s = require "k8s"
      k8s.limits { value_size = "4Ki" }
      k8s.reads { "/healthz", "pods/log:get" }
      k8s.command("go", function()
        print(select(2, k8s.raw { path = "/healthz" }).message)
        print(select(2, k8s.logs("shop/web")).message)
        print(#k8s.logs("shop/small"))
        return "done"
      end)
    ]]
    env:raw { path = "/healthz", body = ("x"):rep(4097) }
    env:pod_log("shop/web", ("x"):rep(4097))
    env:pod_log("shop/small", ("x"):rep(4096))
    assert(env:call "go")
    local text = "the response exceeds 4096 bytes (limit value-size)"
    assert.same({ text, text, "4096" }, env.prints)
  end)
end)

describe("k8s.logs", function()
  it("returns the log of a container, or the end of it", function()
    local prints = run([[
      local pod = k8s.get("pods", "shop/web")
      print(k8s.logs(pod, { container = "main" }))
      print(k8s.logs("shop/web", { container = "main", tail = 1 }))
      print(k8s.logs({ namespace = "shop", name = "web" }, { container = "main", tail = 0 }) == "")
      print(k8s.logs(pod, { container = "main", previous = true }))
      print(k8s.logs(pod, { container = "side", since = "5m", timestamps = true, timeout = "5s" }))
      return "done"
    ]], function(env)
      env:pod_log("shop/web", { "one", "two", "three" }, { container = "main" })
      env:pod_log("shop/web", "crashed", { container = "main", previous = true })
      env:pod_log(POD, {}, { container = "side" })
    end)
    assert.same({ "one\ntwo\nthree\n", "three\n", "true", "crashed", "" }, prints)
  end)

  it("gives the lines one after the other, with follow", function()
    local prints = run([[
      local count = 0
      for line in k8s.logs("shop/web", { container = "main", follow = true }) do
        count = count + 1
        if count < 4 then print(line) end
      end
      print(count)
      local lines = k8s.logs("shop/web", { container = "main", follow = true })
      print(lines(), tostring(lines))
      lines:close()
      print(lines())
      return "done"
    ]], function(env)
      env:pod_log("shop/web", "one\n\ntwo\n" .. ("x"):rep(65536 + 5) .. "\nlast", { container = "main" })
    end)
    assert.same({ "one", "", "two", "6", "one\tlines", "nil" }, prints)
  end)

  it("returns the error of a server that has no kubelet, and raises it in a loop", function()
    local prints = run [[
      local none, err = k8s.logs("shop/web", { container = "main" })
      print(none, err.code, err.message)
      local _, raised = pcall(function() return k8s.logs("shop/web", { container = "x", follow = true })() end)
      print(raised.code, raised.message)
      print((select(2, k8s.logs "shop/none")).reason)
      return "done"
    ]]
    assert.has_match("^nil\t500\t.*no preferred addresses found", prints[1])
    assert.equal("400\tcontainer x is not valid for pod web", prints[2])
    assert.equal("NotFound", prints[3])
  end)

  it("is an empty text for a pod that no node has", function()
    local prints = run([[
      print("<" .. k8s.logs "shop/new" .. ">")
      for line in k8s.logs("shop/new", { follow = true }) do print(line) end
      return "done"
    ]], function(env)
      env:add {
        kind = "Pod", metadata = { namespace = "shop", name = "new" },
        spec = { containers = { { name = "a", image = "b" } } },
      }
    end)
    assert.same({ "<>" }, prints)
  end)

  it("refuses what is no pod or no option, and what is not declared", function()
    local prints = run [[
      print(refused(k8s.logs, "web"))
      print(refused(k8s.logs, { name = "web" }))
      print(refused(k8s.logs, 7))
      print(refused(k8s.logs, "shop/web", { tail = 1.5 }))
      print(refused(k8s.logs, "shop/web", { timeout = "2d" }))
      print(refused(k8s.logs, "shop/web", { lines = 3 }))
      return "done"
    ]]
    assert.same({
      'k8s.logs: "web": the key of a pod is "namespace/name"',
      "k8s.logs: the pod has no name and namespace",
      "k8s.logs: expected a pod, a reference or a key, not number",
      "k8s.logs: tail must be a whole number from 0 to 1000000000",
      "k8s.logs: timeout must be above 0, and 24h at most",
    }, { unpack(prints, 1, 5) })
    assert.has_match('k8s.logs: unknown option "lines"', prints[6], 1, true)
    assert.same({ 'k8s.logs: "pods/log:get" is not declared with k8s.reads' },
      run('print(refused(k8s.logs, "shop/web")) return "done"', nil, '"pods:get"'))
  end)
end)
