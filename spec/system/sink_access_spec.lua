-- Sinks to servers that want to know who comes, over TLS: nats-server with its kinds of logins; what is wrong is named,
-- and no secret is. Logins of Kafka need a broker: ./dev prove kafka.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local SCRIPT = [[
  local k8s = require "k8s"
  local text = { type = "string", default = "" }
  local settings = k8s.params {
    to = { type = "string", required = true }, user = text, password = text, token = { type = "secret" },
    credentials = text, ca = text, cert = text, cert_key = text, mechanism = text,
  }
  local sink = k8s.sink {
    name = "out", to = settings.to, type = "t", timeout = "2s", user = settings.user, password = settings.password,
    token = settings.token, credentials = settings.credentials, mechanism = settings.mechanism, ca = settings.ca,
    cert = settings.cert, cert_key = settings.cert_key,
  }
  k8s.main(function()
    for n = 1, 5 do assert(sink:publish({}, { id = "k/" .. n, key = "k" })) end
    print "published"
  end)
]]

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local tools = binary:match "^(.*)/" .. "/streams/"

-- CI has everything.
local function it(name, body)
  local test = require("busted").it
  if temp.run "command -v nats-server" ~= "" then return test(name, body) end
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "nats-server is not installed")
  test(name, function() pending "nats-server is not installed" end)
end

describe("a sink of a server that wants to know who comes", function()
  local sim, folder, server
  local runs = 0
  setup(function()
    folder = temp.folder()
    for _, name in ipairs { "server", "client", "other" } do webhooks.certificate(folder, name) end
    local text, code = temp.run("python3 spec/support/streams/nats_jwt.py " .. folder)
    assert(code == 0, text)
  end)
  teardown(function() temp.remove(folder) end)
  before_each(function() sim = cluster.sim() end)
  after_each(function()
    cluster.stop_all()
    if server then
      server:kill "KILL"
      server:wait()
    end
    server = nil
    temp.remove(folder .. "/nats")
  end)

  local function of(name) return folder .. "/" .. name end

  -- Returns its port; with this in its configuration.
  local function serve(config, port)
    temp.write(of "nats.conf", ("listen: 127.0.0.1:%s\njetstream { store_dir: %s }\n%s\n"):format(port or -1, of "nats",
      config))
    server = proc.spawn { "nats-server", "-c", of "nats.conf" }
    port = server:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    server:wait_error "Server is ready"
    return port
  end

  local function tls(more)
    return ("tls { cert_file: %s, key_file: %s, timeout: 5, %s }\n"):format(of "server.crt", of "server.key",
      more or "")
  end

  -- The answer to a program with the right login.
  local function ask(login, port, words, env)
    local text, code = temp.run(("%s NATS_CA=%s %snats_stream nats://%s127.0.0.1:%s %s"):format(env or "",
      of "server.crt", tools, login, port, words))
    assert.are.equal(0, code, text)
    return text
  end

  local function run(to, params, more)
    runs = runs + 1
    temp.write(of "it.lua", SCRIPT)
    temp.remove(of "params")
    temp.write(of "params/none", "")
    for name, value in pairs(params) do temp.write(of("params/" .. name), value) end
    return cluster.run(sim.server, of "it.lua", {
      "--state-dir", of("states" .. runs), "--allow-sink", to:match "^%a+[%w+]*://" .. "*", "--param", "to=" .. to,
      "--params", of "params", "-v", "9", unpack(more or {}),
    })
  end

  -- Neither the log nor the status has any line of these.
  local function assert_hidden(engine, params)
    local said = engine:err()
    for _, value in pairs(params) do
      for line in value:gmatch "[^\n]+" do
        if #line > 5 and not line:find "^%-%-" then assert.is_nil(said:find(line, 1, true), said) end
      end
    end
  end

  local function assert_delivers(login, config, params, env)
    local port = serve(config)
    ask(login, port, "create events.test", env)
    local engine = run("tls://127.0.0.1:" .. port .. "/events.test", params)
    engine:wait_line "published"
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
    assert.are.equal("k/1\nk/2\nk/3\nk/4\nk/5\nend\n", ask(login, port, "dump", env))
    assert.is_nil(engine:err():find "Events wait", engine:report())
    assert_hidden(engine, params)
  end

  -- The events wait, and the log says why.
  local function assert_waits(to, params, why)
    local engine = run(to, params)
    engine:wait_error("Events wait as they cannot be delivered.*" .. why)
    assert.is_nil(engine:err():find "\nError %d", engine:report())
    assert_hidden(engine, params)
    return engine
  end

  local function with_ca(params)
    params.ca = temp.read(of "server.crt")
    return params
  end

  it("logs in with a user and a password, by the authority that is given", function()
    assert_delivers("me:hunter22hunter@", tls() .. "authorization { user: me, password: hunter22hunter }",
      with_ca { user = "me", password = "hunter22hunter" })
  end)

  it("logs in with a token, by an authority in a file", function()
    assert_delivers("t0kent0ken@", tls() .. "authorization { token: t0kent0ken }",
      { token = "t0kent0ken", ca = of "server.crt" })
  end)

  it("logs in with credentials and a certificate of its own", function()
    assert_delivers("", tls(("verify: true, ca_file: %s"):format(of "client.crt")) .. temp.read(of "operator.conf"),
      with_ca {
        credentials = temp.read(of "user.creds"), cert = temp.read(of "client.crt"),
        cert_key = temp.read(of "client.key"),
      }, ("NATS_CREDS=%s NATS_CERT=%s NATS_KEY=%s"):format(of "user.creds", of "client.crt", of "client.key"))
  end)

  it("says that a login is refused, and delivers once it is not", function()
    local access = "authorization { user: me, password: %s }"
    local port = serve(tls() .. access:format "another")
    ask("me:another@", port, "create events.test")
    local engine = assert_waits("tls://127.0.0.1:" .. port .. "/events.test",
      with_ca { user = "me", password = "hunter22hunter" }, 'err="127.0.0.1:' .. port .. ': .*Authorization Violation')
    server:kill "TERM"
    server:wait()
    serve(tls() .. access:format "hunter22hunter", port)
    engine:wait_error "Events are delivered again"
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
    assert.matches("k/5\nend\n", ask("me:hunter22hunter@", port, "dump"))
  end)

  it("says that a user may not publish, which no acknowledgement tells", function()
    local port = serve("authorization { users: [ { user: me, password: hunter22hunter, permissions:"
      .. " { publish: [ \"$JS.API.>\" ] } } ] }")
    ask("me:hunter22hunter@", port, "create events.test")
    assert_waits("nats://127.0.0.1:" .. port .. "/events.test", { user = "me", password = "hunter22hunter" },
      "Permissions Violation for Publish to .*events.test")
  end)

  it("ends, and keeps its events, though no server answers its connections", function()
    local port = serve ""
    server:kill "STOP"
    local one = "127.0.0.1:" .. port
    local to = ("nats://%s,%s,%s,%s/events.test"):format(one, one, one, one)
    local engine = run(to, {}, { "--shutdown-timeout", "1s" })
    engine:wait_line "published"
    local start = proc.now()
    assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
    assert.is_true(proc.now() - start < 6, engine:report())
    assert.matches("Events stay in the spool until the next start.* events=5 ", engine:err())
    assert.is_nil(engine:err():find "without a clean shutdown", engine:report())
  end)

  it("says what is wrong with a certificate, and sends nothing to its server", function()
    local port = serve(tls())
    local to = "tls://127.0.0.1:%s/events.test"
    assert_waits(to:format(port), { ca = temp.read(of "other.crt") }, "SSL handshake error: .*self%-signed certificate")
    assert_waits(to:format(port), {}, "SSL handshake error: .*self%-signed certificate")
    assert_waits((to:format(port):gsub("127.0.0.1", "localhost")), with_ca {}, "[Hh]ostname mismatch")
    assert_waits(to:format(port), { ca = "no certificate" }, "ca is neither PEM nor a path")
    assert_waits("kafka+ssl://127.0.0.1:" .. port .. "/events", with_ca {}, "127.0.0.1:" .. port .. ".*")
  end)

  it("does not fall back to a connection that is not encrypted", function()
    local port = serve ""
    assert_waits("tls://127.0.0.1:" .. port .. "/events.test", with_ca { token = "t0kent0ken" },
      "127.0.0.1:" .. port .. ": .*[Ss]ecure")
  end)

  it("says what is wrong with a certificate of a broker", function()
    server = proc.spawn {
      "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", of "server.crt", "-key", of "server.key",
    }
    local to = "kafka+ssl://127.0.0.1:" .. server:wait_line "ACCEPT.*:(%d+)" .. "/events"
    local login = { user = "me", password = "hunter22hunter", ca = temp.read(of "other.crt") }
    assert_waits(to, login, "SSL handshake failed: .*certificate verify failed")
    assert_waits((to:gsub("127.0.0.1", "localhost")), with_ca(login), "SSL handshake failed: .*")
  end)

  it("refuses credentials that are none, and names what is missing", function()
    assert_waits("nats://127.0.0.1:1/x", { credentials = "s3cretseed" }, "there is no NATS USER JWT in them")
  end)

  it("is refused where the package is not installed, which the error names", function()
    -- Beside this copy of the program there are no modules.
    os.execute(("cp %s %s/kubelua"):format(binary, folder))
    temp.write(of "it.lua", SCRIPT)
    for _, scheme in ipairs { "nats", "kafka" } do
      local text = temp.run(("%s/kubelua exec %s/it.lua -s %s --state-dir %s/states0 --allow-sink '%s' --param to=%s")
        :format(folder, folder, sim.server, folder, scheme .. "://*", scheme .. "://127.0.0.1:9/topic"))
      local message = "k8s.sink: out: " .. scheme .. ":// needs the package kubelua%-streams, which is not installed"
      assert.matches(message, text)
    end
    local text = temp.run(("%s exec %s/it.lua -s %s --state-dir %s/states0 --allow-sink kafka://a:1 --param to=%s")
      :format(binary, folder, sim.server, folder, "kafka://a:1,b:1/topic"))
    assert.matches("kafka://b:1 is not allowed; %-%-allow%-sink allows targets", text)
  end)
end)
