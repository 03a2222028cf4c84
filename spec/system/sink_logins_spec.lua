-- Sinks whose logins are in Secrets of the cluster, which change while they run: nats-server, a receiver by HTTP, and
-- in ./dev prove kafka a broker of Kafka.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local SCRIPT = [[
  local k8s = require "k8s"
  local settings = k8s.params {
    to = { type = "string", required = true },
    user = { type = "secret", from = "secret:default/login/user" },
    password = { type = "secret", from = "secret:default/login/password" },
    token = { type = "secret", from = "secret:default/login/token", required = true },
  }
  local sink = k8s.sink { name = "out", to = settings.to, type = "t", timeout = "2s", %s }
  k8s.command("publish", function(id) return (assert(sink:publish({}, { id = id, key = "k" }))) end)
  k8s.main(function()
    assert(sink:publish({}, { id = "k/0", key = "k" }))
    print "ready"
  end)
]]
local BY_USER = "user = function() return settings.user end, password = function() return settings.password end"
local BY_TOKEN = "token = function() return settings.token end"
local SECRETS = "/api/v1/namespaces/default/secrets"

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local tools = binary:match "^(.*)/" .. "/streams/"

-- CI has everything.
local function with_nats(name, body)
  local test = require("busted").it
  if temp.run "command -v nats-server" ~= "" then return test(name, body) end
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "nats-server is not installed")
  test(name, function() pending "nats-server is not installed" end)
end

describe("a sink whose login is in a Secret", function()
  local sim, folder, server, engine
  before_each(function() sim, folder = cluster.sim(), temp.folder() end)
  after_each(function()
    cluster.stop_all()
    if server and server.jars then
      server:stop()
    elseif server then
      server:kill "KILL"
      server:wait()
    end
    server = nil
    temp.remove(folder)
  end)

  local function of(name) return folder .. "/" .. name end

  -- Returns the port of a server of NATS with this in its configuration.
  local function serve(config, port)
    temp.write(of "nats.conf", ("listen: 127.0.0.1:%s\njetstream { store_dir: %s }\n%s\n"):format(port or -1, of "nats",
      config))
    server = proc.spawn { "nats-server", "-c", of "nats.conf" }
    port = server:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    server:wait_error "Server is ready"
    return port
  end

  -- Another login: the server is started again, and refuses the old one.
  local function serve_again(config, port)
    server:kill "TERM"
    server:wait()
    serve(config, port)
  end

  local function ask(login, port, words)
    local text, code = temp.run(("%snats_stream nats://%s@127.0.0.1:%s %s"):format(tools, login, port, words))
    assert.are.equal(0, code, text)
    return text
  end

  local function secret(data)
    return {
      apiVersion = "v1", kind = "Secret", metadata = { name = "login", namespace = "default" }, stringData = data,
    }
  end
  local function create(data) sim.api:create(SECRETS, secret(data)) end
  local function change(data) sim.api:request("PUT", SECRETS .. "/login", secret(data)) end

  local function start(to, access, more)
    temp.write(of "it.lua", SCRIPT:format(access))
    engine = cluster.run(sim.server, of "it.lua", {
      "--state-dir", of "states", "--param", "to=" .. to, "--admin-socket", of "socket", "-v", "9", unpack(more),
    })
    return engine
  end

  local function run(port, access) return start("nats://127.0.0.1:" .. port .. "/events.test", access,
    { "--allow-sink", "nats://*" }) end

  local function tell(verb, ...)
    local p = cluster.kubelua { verb, "--admin-socket", of "socket", ... }
    assert.are.equal(0, p:wait(), p:report())
    return p:out()
  end

  local function delivered(login, port, last)
    local want = ""
    for n = 0, last do want = want .. "k/" .. n .. "\n" end
    await(function() return ask(login, port, "dump") == want .. "end\n" end, function()
      return ask(login, port, "dump") .. engine:report()
    end)
  end

  -- Neither the log, the status, the metrics, the write log nor a file of the state directory has one of these.
  local function assert_hidden(...)
    local said = engine:err() .. tell("status", "-o", "json") .. tell("status", "-o", "wide") .. tell("writes")
      .. temp.run("cat " .. of "states" .. "/*/*/* 2>/dev/null")
    for _, text in ipairs { ... } do assert.is_nil(said:find(text, 1, true), said) end
  end

  with_nats("waits for the Secret, delivers, and goes on with another password", function()
    local access = "authorization { user: me, password: %s }"
    local port = serve(access:format "hunter22hunter")
    ask("me:hunter22hunter", port, "create events.test")
    run(port, BY_USER)
    engine:wait_error("Events wait as a login cannot be read.*sink=\"?out\"?.*"
      .. "user has no value: settings.user: the secret default/login does not exist")
    assert.matches("the secret default/login does not exist", tell("status", "-o", "json"))
    create { user = "me" }
    engine:wait_error "password has no value: settings.password: the secret default/login has no key password"
    change { user = "me", password = "hunter22hunter" }
    delivered("me:hunter22hunter", port, 0)

    serve_again(access:format "another22another", port)
    tell("call", "publish", "k/1")
    engine:wait_error "Events wait as they cannot be delivered.*Authorization Violation"
    change { user = "me", password = "another22another" }
    engine:wait_error "Events are delivered again"
    delivered("me:another22another", port, 1)
    assert_hidden("hunter22hunter", "another22another")
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
  end)

  with_nats("logs in with a token, and connects again when it changes, before the old one is refused", function()
    local access = "authorization { token: %s }"
    create { token = "t0kent0ken" }
    local port = serve(access:format "t0kent0ken")
    ask("t0kent0ken", port, "create events.test")
    run(port, BY_TOKEN)
    delivered("t0kent0ken", port, 0)
    change { token = "s3conds3cond" }
    engine:wait_error "The login of a sink has changed, connecting again"
    serve_again(access:format "s3conds3cond", port)
    tell("call", "publish", "k/1")
    delivered("s3conds3cond", port, 1)
    -- A Secret that goes leaves the login that there was.
    sim.api:request("DELETE", SECRETS .. "/login")
    engine:wait_error "The login of a sink cannot be read, the last one stays.*the secret default/login does not exist"
    tell("call", "publish", "k/2")
    delivered("s3conds3cond", port, 2)
    assert.has_match("the login cannot be read, the last one stays: ", tell("status", "-o", "json"), 1, true)
    create { token = "s3conds3cond" }
    engine:wait_error "The login of a sink can be read again"
    assert.is_nil(tell("status", "-o", "json"):find("the last one stays", 1, true))
    -- Nor is the next time kept quiet.
    sim.api:request("DELETE", SECRETS .. "/login")
    engine:wait_error "The login of a sink cannot be read, the last one stays"
    assert_hidden("t0kent0ken", "s3conds3cond")
  end)

  it("names a function that gives no text, and shows no secret that it raises", function()
    create { user = "me", token = "s3cret.s3cret" }
    start("nats://127.0.0.1:1/x", "token = function() return #settings.token end", { "--allow-sink", "nats://*" })
    engine:wait_error "cannot be read.*k8s.sink: out: token: the function must return a string, not a number"
    cluster.terminate(engine, 40)
    start("nats://127.0.0.1:1/x", "token = function() error(settings.token .. ' is bad') end",
      { "--allow-sink", "nats://*" })
    engine:wait_error "Events wait as a login cannot be read.*%*%*%* is bad"
    assert_hidden "s3cret.s3cret"
  end)

  it("ends at once while a login is not known yet, and keeps the events", function()
    local words = { "--allow-sink", "nats://*" }
    start("nats://127.0.0.1:1/x", BY_TOKEN, words)
    engine:wait_line "ready"
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
    for _, verb in ipairs { "list", "watch" } do
      sim:play { ["do"] = "fault", verb = verb, resource = "secrets", what = "silence", times = 0 }
    end
    start("nats://127.0.0.1:1/x", BY_TOKEN, words)
    -- Nothing of the log tells that the socket is there, nor that the spool is open.
    await(function()
      local p = cluster.kubelua { "status", "--admin-socket", of "socket", "-o", "json" }
      return p:wait() == 0 and p:out():find '"events": *1[,%s]'
    end, function() return engine:report() end)
    assert.are.equal(0, cluster.terminate(engine, 5), engine:report())
    assert.matches("Events stay in the spool until the next start.*events=1", engine:err())
  end)

  it("hides a password that is no setting, but read from a cache", function()
    create { user = "me" }
    sim.api:create("/api/v1/namespaces/default/configmaps", {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "pw" }, data = { pw = "hunter22hunter" },
    })
    temp.write(of "it.lua", [[
      local k8s = require "k8s"
      local lister, asked = k8s.informer("configmaps"):lister(), 0
      k8s.sink {
        name = "out", to = "nats://127.0.0.1:1/x", type = "t", user = "me",
        password = function()
          asked = asked + 1
          if asked > 1 then error("not " .. lister:get("default/pw").data.pw) end
          return lister:get("default/pw").data.pw
        end,
      }
    ]])
    engine = cluster.run(sim.server, of "it.lua", { "--state-dir", of "states", "--admin-socket", of "socket",
      "--allow-sink", "nats://*" })
    engine:wait_error "The login of a sink cannot be read, the last one stays.*not %*%*%*"
    assert_hidden "hunter22hunter"
  end)

  with_nats("delivers what a program that ends at once has published", function()
    create { token = "t0kent0ken" }
    local port = serve "authorization { token: t0kent0ken }"
    ask("t0kent0ken", port, "create events.test")
    temp.write(of "it.lua", SCRIPT:format(BY_TOKEN))
    local p = cluster.kubelua {
      "exec", of "it.lua", "-s", sim.server, "--state-dir", of "states", "--allow-sink", "nats://*", "--param",
      "to=nats://127.0.0.1:" .. port .. "/events.test",
    }
    assert.are.equal(0, p:wait(), p:report())
    assert.are.equal("k/0\nend\n", ask("t0kent0ken", port, "dump"), p:report())
  end)

  -- Returns the URL of a receiver by HTTP, with these certificates if there are any.
  local function receive(with_tls)
    local words = { "python3", "spec/support/sink_receiver.py", of "log" }
    if with_tls then words = { "env", "TLS=" .. folder, unpack(words) } end
    server = proc.spawn(words)
    return (with_tls and "https" or "http") .. "://127.0.0.1:" .. server:wait_line "port (%d+)"
  end

  local function received(count)
    await(function() return temp.run("cat " .. of "log" .. " 2>/dev/null | wc -l") == count .. "\n" end,
      function() return engine:report() end)
  end

  it("sends a token by HTTP, and another one once the Secret has it", function()
    local url = receive()
    create { token = "t0kent0ken" }
    temp.write(of "log.login", "Bearer t0kent0ken")
    start(url, BY_TOKEN, { "--allow-http", "127.0.0.1:" .. url:match "%d+$" })
    received(1)
    temp.write(of "log.login", "Bearer s3conds3cond")
    tell("call", "publish", "k/1")
    engine:wait_error "Events wait as they cannot be delivered.*the server responded 401"
    change { token = "s3conds3cond" }
    engine:wait_error "Events are delivered again"
    received(2)
    assert_hidden("t0kent0ken", "s3conds3cond")
  end)

  it("sends a user and a password by HTTP, with a certificate of its own and the authority of the server", function()
    for _, name in ipairs { "server", "client" } do webhooks.certificate(folder, name) end
    local url = receive(true)
    create { user = "me", password = "hunter22hunter" }
    temp.write(of "log.login", "Basic " .. temp.run "printf me:hunter22hunter | base64":gsub("\n", ""))
    start(url, BY_USER .. (", ca = %q, cert = %q, cert_key = %q"):format(of "server.crt", temp.read(of "client.crt"),
      temp.read(of "client.key")), { "--allow-http", "127.0.0.1:" .. url:match "%d+$" })
    received(1)
    assert_hidden("hunter22hunter", (temp.run "printf me:hunter22hunter | base64":gsub("\n", "")),
      temp.read(of "client.key"):match "\n(%S+)\n")
  end)

  it("says what is wrong with certificates by HTTP", function()
    for _, name in ipairs { "server", "client", "other" } do webhooks.certificate(folder, name) end
    local url = receive(true)
    create { token = "t0kent0ken" }
    start(url, BY_TOKEN .. (", ca = %q"):format(of "other.crt"), { "--allow-http", "127.0.0.1:" .. url:match "%d+$" })
    engine:wait_error "Events wait as they cannot be delivered.*certificate"
    os.rename(of "other.crt", of "gone.crt")
    engine:wait_error "Events wait as they cannot be delivered.*ca: .*other.crt"
    os.rename(of "server.crt", of "other.crt")
    engine:wait_error "Events wait as they cannot be delivered.*err=\"[TLS with ]*127.0.0.1:"
    assert.are.equal("0\n", temp.run("cat " .. of "log" .. " 2>/dev/null | wc -l"))
  end)

  -- The ids at the broker, in their order.
  local function dumped()
    local text, code = temp.run(("%skafka_dump %s"):format(tools, server.plain))
    assert.are.equal(0, code, text)
    local ids = {}
    for id in text:gmatch '"id":"(k/%d+)"' do ids[#ids + 1] = id end
    return table.concat(ids, " ")
  end

  local function failures()
    local address = engine:wait_error 'Serving metrics" address="([^"]+)"'
    return function()
      local _, page = api.new({ server = "http://" .. address }):curl("GET", "/metrics")
      return tonumber(page:match '\nkubelua_sink_failures_total{[^}]*sink="out"[^}]*} (%d+)' or 0), page
    end
  end

  local function to_a_broker()
    local refused = "Events wait as they cannot be delivered.*sink=\"?out\"?.*Authentication failed"
    server = require("spec.support.streams.kafka").new(folder, os.getenv "KUBELUA_KAFKA", "me", "hunter22hunter")
    create { user = "me", password = "wr0ng.wr0ng" }
    start("kafka+ssl://" .. server.tls .. "/events",
      BY_USER .. (', mechanism = "PLAIN", ca = %q'):format(of "broker.crt"),
      { "--allow-sink", "kafka+ssl://*", "--metrics-bind-address", "127.0.0.1:0" })
    local failed = failures()
    engine:wait_error(refused)
    assert.matches("Authentication failed", tell("status", "-o", "json"))
    assert.is_true(failed() > 0)
    change { user = "me", password = "hunter22hunter" }
    engine:wait_error "Events are delivered again"
    tell("call", "publish", "k/1")
    await(function() return dumped() == "k/0 k/1" end, function() return dumped() .. engine:report() end)

    -- Another login at the broker first, then in the Secret.
    local before = failed()
    server:stop()
    server:set_login("other", "an0ther.an0ther")
    server:start()
    tell("call", "publish", "k/2")
    tell("call", "publish", "k/3")
    engine:wait_error(refused)
    assert.is_true(failed() > before)
    change { user = "other", password = "an0ther.an0ther" }
    engine:wait_error "Events are delivered again"
    await(function() return dumped() == "k/0 k/1 k/2 k/3" end, function() return dumped() .. engine:report() end)
    assert_hidden("hunter22hunter", "an0ther.an0ther", "wr0ng.wr0ng")
    local _, page = failed()
    for _, word in ipairs { "hunter22", "an0ther", "wr0ng" } do assert.is_nil(page:find(word, 1, true)) end
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
  end
  if os.getenv "KUBELUA_KAFKA" then
    it("logs in at a broker of Kafka, says when it is refused, and goes on with another login", to_a_broker)
  end

  it("needs the right to read that Secret alone", function()
    temp.write(of "it.lua", (SCRIPT:format(BY_TOKEN):gsub("to = settings.to", 'to = "nats://a/b"')))
    local p = cluster.kubelua { "rbac", "-f", of "it.lua" }
    assert.are.equal(0, p:wait(), p:report())
    assert.has_match("resourceNames: [login]", p:out(), 1, true)
    assert.has_match("verbs: [list, watch]", p:out(), 1, true)
  end)
end)
