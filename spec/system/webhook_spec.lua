-- k8s.webhook of an engine: HTTPS, certificates that are followed, reloads, leaders, the end.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local HEAD = scripts_folder.HEAD

local HELLO = HEAD .. [[
  local settings = k8s.params { token = { type = "secret", required = true } }
  k8s.webhook {
    path = "/hello", token = settings.token,
    fn = function(request) return "hello " .. request.body end,
  }
  print "loaded"
]]

-- Responds with its mark after a file is there.
local function gated(mark, gate, more)
  return HEAD .. ([[
    k8s.informer "nodes"
    k8s.webhook {
      path = "/gate", public = true, %s
      fn = function()
        print "%s taken"
        while not k8s.get("configmaps", "default/%s") do k8s.sleep "20ms" end
        return "%s"
      end,
    }
    k8s.reads { "configmaps:get" }
    print "%s loaded"
  ]]):format(more or "", mark, gate, mark, mark)
end

describe("webhooks of an engine #threads", function()
  local place, sim
  before_each(function()
    place, sim = scripts_folder.new(), cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function open_gate(name)
    sim.api:create("/api/v1/namespaces/default/configmaps",
      { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name } })
  end

  it("are called with the token, by HTTPS", function()
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = HELLO }, { "--param", "token=t0p-secret" })
    local authorization = "Authorization: Bearer t0p-secret"
    local code, body = webhooks.call(address, "/hello", "-H", authorization, "-d", "you")
    assert.are.equal(200, code)
    assert.are.equal("hello you", body)
    local function refused(...)
      local refusal, why = webhooks.call(address, "/hello", "-d", "you", ...)
      assert.are.equal(401, refusal)
      return why
    end
    assert.has.match("a bearer token is required", refused())
    assert.has.match("the bearer token is not the webhook's", refused("-H", authorization .. "x"))
    assert.are.equal(405, (webhooks.call(address, "/hello", "-H", authorization)))
    assert.are.equal(404, (webhooks.call(address, "/other", "-H", authorization, "-d", "you")))
    local large = place.path .. "/large"
    temp.write(large, ("x"):rep(1048577))
    assert.are.equal(413, (webhooks.call(address, "/hello", "-H", authorization, "--data-binary", "@" .. large)))
    local chunked = "Transfer-Encoding: chunked"
    code = webhooks.call(address, "/hello", "-H", authorization, "-H", chunked, "--data-binary", "@" .. large)
    assert.are.equal(413, code)
    local _, plain = temp.run("curl -s --max-time 10 http://" .. address .. "/hello")
    assert.are_not.equal(0, plain)
    assert.has_match("self%-signed certificate, for development only", engine:err())
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_no_match("t0p-secret", engine:err() .. engine:out(), 1, true)
  end)

  it("verify the signature of a body, by the key of the running generation", function()
    local function script(key)
      return HEAD .. ([[
        k8s.informer "nodes"
        k8s.webhook {
          path = "/github", signature = { header = "X-Hub-Signature-256", secret = "%s" },
          fn = function(request) print("%s", #request.body) end,
        }
      ]]):format(key, key)
    end
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = script "one" })
    local body = place.path .. "/body"
    temp.write(body, ("x"):rep(500000))
    local function signed(key, ...)
      local sign = temp.run(("openssl dgst -sha256 -hmac %s <%s"):format(key, body)):match "(%x+)%s*$"
      return (webhooks.call(address, "/github", "-H", "X-Hub-Signature-256: sha256=" .. sign, "--data-binary",
        "@" .. body, ...))
    end
    assert.are.equal(204, signed "one")
    engine:wait_line "^one\t500000$"
    assert.are.equal(401, signed "two")
    assert.are.equal(401, (webhooks.call(address, "/github", "-d", "x")))
    place:write("it.lua", script "two")
    engine:wait_error '"Reloaded"'
    assert.are.equal(401, signed "one")
    assert.are.equal(204, signed "two")
    engine:wait_line "^two\t500000$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_nil(engine:out():match "one.*one")
  end)

  it("make the engine listen, and nothing else does", function()
    place:write("it.lua", HEAD .. 'k8s.informer "nodes"\n')
    local engine = place:start(sim, nil, webhooks.FLAGS)
    assert.are.equal(0, webhooks.listening(engine.pid))
    place:write("it.lua", HEAD .. 'k8s.informer "nodes"\nk8s.webhook { path = "/x", public = true, fn = print }\n')
    local address = webhooks.address(engine)
    assert.are.equal(204, (webhooks.call(address, "/x", "-d", "")))
    assert.are.equal(1, webhooks.listening(engine.pid))
    assert.has_match("webhooks https://" .. address, (engine.ask "status"), 1, true)
    local shown = engine.script "it".webhooks
    assert.same({ { path = "/x", methods = "POST", leader = false, inFlight = 0 } }, shown)
    place:write("it.lua", HEAD .. 'k8s.informer "nodes"\nprint "none"\n')
    engine:wait_error "Stopped serving webhooks"
    await(function() return webhooks.listening(engine.pid) == 0 end)
    assert.are.equal(0, (webhooks.call(address, "/x", "-d", "")))
  end)

  it("follow the files of the certificate", function()
    local folder = place.path
    webhooks.certificate(folder, "first")
    webhooks.certificate(folder, "second")
    temp.run(("cd %s && cp first.crt tls.crt && cp first.key tls.key"):format(folder))
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = HELLO }, {
      "--param", "token=t", "--webhook-tls-cert-file", folder .. "/tls.crt",
      "--webhook-tls-private-key-file", folder .. "/tls.key",
    })
    local function trusts(name)
      local flags = ("--cacert %s/%s.crt -H 'Authorization: Bearer t' -d you"):format(folder, name)
      local text, code = temp.run(("curl -s --max-time 20 %s https://%s/hello"):format(flags, address))
      return code == 0 and text:match "hello you" ~= nil
    end
    assert.is_true(trusts "first")
    assert.is_false(trusts "second")
    temp.run(("cp %s/second.key %s/tls.key"):format(folder, folder)) -- half of it
    engine:wait_error "Certificate of webhooks cannot be used, serving the previous one.*the key is not that of"
    assert.is_true(trusts "first")
    temp.run(("cp %s/second.crt %s/tls.crt"):format(folder, folder))
    engine:wait_error "Renewed the certificate of webhooks"
    assert.is_true(trusts "second")
    assert.is_false(trusts "first")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("of two scripts with one path, refuse the second", function()
    local one = HEAD .. 'k8s.informer "nodes"\n'
      .. 'k8s.webhook { path = "/x", public = true, fn = function() return "%s" end }'
    place:write("a.lua", one:format "a")
    place:write("b.lua", one:format "b")
    local engine = cluster.run(sim.server, place.path .. "/scripts", webhooks.FLAGS)
    assert.are.equal(2, engine:wait(30))
    local problem = 'scripts/b.lua:3: k8s.webhook: the path "/x" is that of a webhook of '
    assert.has_match(problem, engine:err(), 1, true)
    assert(os.remove(place.path .. "/scripts/b.lua"))
    engine = place:start(sim, nil, webhooks.FLAGS)
    local address = engine:err():match 'Serving webhooks.-address="([^"]+)"'
    place:write("b.lua", one:format "b")
    engine:wait_error "b.lua:3: k8s.webhook: the path .* is that of a webhook of"
    assert.are.equal("a", (select(2, webhooks.call(address, "/x", "-d", ""))))
  end)

  it("of two scripts with one path, are named by kubelua check", function()
    local hook = HEAD .. 'k8s.webhook { path = "/%s", public = true, fn = print }\n'
    place:write("a.lua", hook:format "x")
    place:write("b.lua", hook:format "y" .. 'k8s.webhook { path = "/x", public = true, fn = print }')
    local check = cluster.kubelua { "check", "-f", place.path .. "/scripts" }
    assert.are.equal(1, check:wait(30))
    local finding = 'b%.lua:3: error: k8s%.webhook: the path "/x" is that of a webhook of [^\n]*a%.lua:2\n$'
    assert.has_match(finding, check:out())
  end)

  it("let the old generation finish what it took", function()
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = gated("one", "gate") })
    local before = webhooks.begin(address, "/gate", "-d", "")
    engine:wait_line "^one taken$"
    place:write("it.lua", gated("two", "gate"))
    engine:wait_error '"Reloaded"'
    local after = webhooks.begin(address, "/gate", "-d", "")
    engine:wait_line "^two taken$"
    open_gate "gate"
    assert.same({ 200, "one" }, { before.wait() })
    assert.same({ 200, "two" }, { after.wait() })
  end)

  it("lose no request at a reload", function()
    local function script(mark)
      return HEAD .. ([[
        k8s.informer "nodes"
        k8s.webhook { path = "/x", public = true, fn = function() k8s.sleep "5ms" return "%s" end }
        print "%s loaded"
      ]]):format(mark, mark)
    end
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = script "0" })
    local callers, url = {}, "https://" .. address .. "/x"
    local call = ("curl -sk --max-time 30 -o /dev/null -o /dev/null -w '%%{http_code}\\n' -d a %s %s"):format(url, url)
    for i = 1, 4 do callers[i] = proc.spawn { "sh", "-c", "for i in $(seq 60); do " .. call .. "; done" } end
    for i = 1, 8 do
      place:write("it.lua", script(tostring(i)))
      engine:wait_line(("^%d loaded$"):format(i))
    end
    for _, caller in ipairs(callers) do
      assert.are.equal(0, caller:wait(60))
      assert.are.equal(("200\n"):rep(120), caller:out())
    end
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("finish at SIGTERM what they took, within the time for it", function()
    local engine, address = webhooks.start(place, sim, { ["it.lua"] = gated("one", "gate") })
    local call = webhooks.begin(address, "/gate", "-d", "")
    engine:wait_line "^one taken$"
    engine:kill "TERM"
    engine:wait_error '"Stopping"'
    assert.are.equal(503, (webhooks.call(address, "/gate", "-d", "")))
    open_gate "gate"
    assert.same({ 200, "one" }, { call.wait() })
    assert.are.equal(0, engine:wait(30), engine:report())
  end)

  it("end with 504 after their timeout, and with 503 at the end of the shutdown", function()
    local script = { ["it.lua"] = gated("one", "none", "timeout = '200ms',") }
    local engine, address = webhooks.start(place, sim, script, { "--shutdown-timeout", "1s" })
    assert.are.equal(504, (webhooks.call(address, "/gate", "-d", "")))
    place:write("it.lua", gated("two", "none"))
    engine:wait_error '"Reloaded"'
    local call = webhooks.begin(address, "/gate", "-d", "")
    engine:wait_line "^two taken$"
    engine:kill "TERM"
    assert.are.equal(503, (call.wait()))
    assert.are.equal(0, engine:wait(30), engine:report())
  end)

  it("are called on the leader; others respond 503", function()
    local script = { ["it.lua"] = HEAD .. [[
      k8s.on_leader(function() print "leads" end)
      k8s.webhook { path = "/x", public = true, leader = true, fn = function() return "led" end }
    ]] }
    local elects = {
      "--leader-elect", "--leader-elect-lease-duration", "2s", "--leader-elect-renew-deadline", "1s",
      "--leader-elect-retry-period", "200ms",
    }
    local first, at = webhooks.start(place, sim, script, elects)
    first:wait_line "^leads$"
    local second, other = webhooks.start(place, sim, {}, elects)
    assert.same({ 200, "led" }, { webhooks.call(at, "/x", "-d", "") })
    local code, text = webhooks.call(other, "/x", "-i", "-d", "")
    assert.are.equal(503, code)
    assert.has_match("Retry%-After: 1", text)
    assert.are.equal(0, cluster.terminate(first))
    second:wait_line "^leads$"
    assert.same({ 200, "led" }, { webhooks.call(other, "/x", "-d", "") })
  end)

  it("are refused at load when nothing can be served", function()
    local script = cluster.script(HEAD .. 'k8s.webhook { path = "/x", public = true, fn = print }')
    local file = place.path .. "/none.crt"
    for text, flags in pairs {
      ["webhooks are disabled by --webhook-bind-address"] = { "--webhook-bind-address", "0" },
      ["--webhook-bind-address: cannot listen on " .. sim.server:match "//(.*)" .. ": Address already in use"] =
        { "--webhook-bind-address", sim.server:match "//(.*)" },
      ["--webhook-tls-cert-file: " .. file .. ": No such file or directory"] =
        { "--webhook-tls-cert-file", file, "--webhook-tls-private-key-file", file },
      ["--webhook-tls-cert-file and --webhook-tls-private-key-file are required together"] =
        { "--webhook-tls-cert-file", file },
    } do
      local engine = cluster.run(sim.server, script, flags)
      assert.are.equal(2, engine:wait(30), text)
      assert.has_match(text, engine:err(), 1, true)
    end
  end)

  it("restart what an alert names, as scripts/alerts.lua does", function()
    sim.api:create("/apis/apps/v1/namespaces/default/deployments", {
      apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web", namespace = "default" },
      spec = {
        selector = { matchLabels = { app = "web" } },
        template = { metadata = { labels = { app = "web" } }, spec = { containers = { { name = "a", image = "i" } } } },
      },
    })
    local engine = cluster.run(sim.server, "scripts/alerts.lua", { "--param", "token=t", unpack(webhooks.FLAGS) })
    local address = webhooks.address(engine)
    local alerts = '{"alerts":[{"status":"firing","labels":{"namespace":"default","deployment":"web"}}]}'
    assert.are.equal(204, (webhooks.call(address, "/hooks/alerts", "-H", "Authorization: Bearer t", "-d", alerts)))
    engine:wait_line "^default/web\trestarted$"
    local web = sim.api:get "/apis/apps/v1/namespaces/default/deployments/web"
    assert.is_string(web.spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"])
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("count requests in /metrics", function()
    local flags = { "--param", "token=t", "--metrics-bind-address", "127.0.0.1:0", unpack(webhooks.FLAGS) }
    place:write("it.lua", HELLO)
    local engine = cluster.run(sim.server, place.path .. "/scripts", flags)
    local metrics = engine:wait_error 'Serving metrics" address="([^"]+)"'
    local address = webhooks.address(engine)
    webhooks.call(address, "/hello", "-d", "", "-H", "Authorization: Bearer t")
    webhooks.call(address, "/hello", "-d", "")
    local page = temp.run("curl -s http://" .. metrics .. "/metrics")
    assert.has_match('kubelua_webhook_requests_total{script="[^"]+it",path="/hello",code="2xx"} 1\n', page)
    assert.has_match("\nkubelua_webhook_refused_total 1\n", page, 1, true)
  end)
end)
