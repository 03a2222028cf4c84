-- No secret is in what kubelua says: not in its logs at the highest verbosity, not in status, metrics and errors.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local script = [[
  local k8s = require "k8s"
  k8s.reads { "secrets:get", "pods:list" }
  k8s.informer("secrets"):add_event_handler { OnAdd = function(s) print("secret", s:name()) end }
  k8s.every("200ms", function() print("got", k8s.get("secrets", "default/first")) print(k8s.list "pods") end)
]]

local function base64(text)
  local encoded = temp.run(("printf %%s '%s' | base64 -w0"):format(text))
  return encoded
end

describe("secrets", function()
  local folder, key, url, listener

  local function shell(command)
    local output, code = temp.run(("cd '%s' && %s"):format(folder, command))
    assert.are.equal(0, code, output)
  end

  -- A server that speaks TLS and knows no Kubernetes: credentials are sent, and every answer is wrong.
  setup(function()
    folder = temp.folder()
    shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj /CN=server"
      .. " -addext subjectAltName=IP:127.0.0.1")
    shell "cat cert.pem key.pem >both.pem"
    local file = assert(io.open(folder .. "/key.pem"))
    key = file:read "*a"
    file:close()
    listener = proc.spawn {
      "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", folder .. "/cert.pem", "-key", folder .. "/key.pem",
      "-www",
    }
    url = "https://127.0.0.1:" .. listener:wait_line "ACCEPT .*:(%d+)$"
  end)

  teardown(function()
    listener:kill "KILL"
    listener:wait()
    temp.remove(folder)
  end)

  after_each(cluster.stop_all)

  local function kubeconfig(user, more)
    local path = folder .. "/config"
    temp.write(path, ([[
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "%s"%s}}]
users: [{name: u, user: {%s}}]
]]):format(url, more or ", certificate-authority: cert.pem", user))
    return path
  end

  local function plugin(text)
    temp.write(folder .. "/plugin", "#!/bin/sh\n" .. text)
    shell "chmod +x plugin"
    return "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./plugin,"
      .. " env: [{name: PLUGIN_PASSWORD, value: planted-in-env}]}"
  end

  local function answer(status)
    return ([[echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{%s}}']]):format(
      status)
  end

  -- Nothing planted, nor its Base64, nor a line of the key.
  local function assert_clean(what, text)
    assert.is_nil(text:find("planted", 1, true), what .. ":\n" .. text)
    for _, secret in ipairs { "planted-token", "user:planted-password", "planted-data" } do
      assert.is_nil(text:find(base64(secret), 1, true), what .. ":\n" .. text)
    end
    for line in key:gmatch "[^\n]+" do
      assert.is_nil(not line:find "^%-%-%-" and text:find(line, 1, true) or nil, what .. ":\n" .. text)
    end
  end

  -- Runs an engine until `seen` is in its log, and looks at all that it says.
  local function watch(where, seen, ...)
    local engine = cluster.run(where, cluster.script(script), {
      "-v", "9", "--admin-socket", folder .. "/admin.sock", "--metrics-bind-address", "127.0.0.1:0", ...,
    })
    local page = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    engine:wait_error(seen)
    engine:wait_line "^got"
    local status = cluster.kubelua { "status", "--admin-socket", folder .. "/admin.sock", "-o", "json" }
    assert.are.equal(0, status:wait(), status:report())
    local code, metrics = page:curl("GET", "/metrics")
    assert.are.equal(200, code)
    return engine, status:out(), metrics
  end

  local function assert_silent(where, seen, ...)
    local engine, status, metrics = watch(where, seen, ...)
    local code = cluster.terminate(engine)
    assert.are.equal(0, code)
    assert_clean("log", engine:err())
    assert_clean("output", engine:out())
    assert_clean("status", status)
    assert_clean("metrics", metrics)
  end

  local wrong = "invalid JSON"

  it("of a user are in no output of an engine", function()
    assert_silent("--kubeconfig=" .. kubeconfig "token: planted-token", wrong)
    assert_silent("--kubeconfig=" .. kubeconfig "username: user, password: planted-password", wrong)
    assert_silent("--kubeconfig=" .. kubeconfig "client-certificate: cert.pem, client-key: key.pem", wrong)
    temp.write(folder .. "/token", "planted-token\n")
    assert_silent("--kubeconfig=" .. kubeconfig "tokenFile: token", wrong)
    assert_silent("--kubeconfig=" .. kubeconfig "", wrong, "--token", "planted-token")
  end)

  it("of an exec plugin are in no output of an engine, also when it fails", function()
    assert_silent("--kubeconfig=" .. kubeconfig(plugin(answer '"token":"planted-token"')), wrong)
    local bad = "Exec plugin failed"
    assert_silent("--kubeconfig=" .. kubeconfig(plugin(answer '"token":"planted-token"' .. "\nexit 1")), bad)
    assert_silent("--kubeconfig=" .. kubeconfig(plugin "echo planted-token"), bad)
    local late = answer '"token":"planted-token","expirationTimestamp":"x"'
    assert_silent("--kubeconfig=" .. kubeconfig(plugin(late)), bad)
    assert_silent("--kubeconfig=" .. kubeconfig(plugin(answer '"clientKeyData":"planted-token"')), bad)
  end)

  it("of a proxy are in no output of an engine", function()
    local more = ', proxy-url: "http://user:planted-password@127.0.0.1:1"'
    assert_silent("--kubeconfig=" .. kubeconfig("token: planted-token", more), "through the proxy 127.0.0.1:1")
  end)

  it("in a file that cannot be used are not in the errors about it", function()
    local users = {
      "token: [planted-token]", "token: planted-token, username: planted", "client-key-data: planted-token",
      'token: "planted-token', "token: planted-token, as-uid: '1'",
      "exec: {apiVersion: planted, env: [{value: planted}]}",
      "client-certificate: cert.pem, client-key-data: " .. base64 "planted-token",
    }
    for _, user in ipairs(users) do
      local p = cluster.kubelua { "exec", cluster.script(script), "--kubeconfig", kubeconfig(user), "-v", "9" }
      assert.are.equal(2, p:wait(), user)
      assert_clean(user, (p:err():gsub('apiVersion: "planted"', "")))
    end
    for _, proxy in ipairs { "ftp://user:planted-password@p", "http://user:planted-password@p:port" } do
      local path = kubeconfig("token: planted-token", (', proxy-url: "%s"'):format(proxy))
      local p = cluster.kubelua { "exec", cluster.script(script), "--kubeconfig", path, "-v", "9" }
      assert.are.equal(2, p:wait(), proxy)
      assert_clean(proxy, p:err())
    end
  end)

  it("are not in what is left of an engine that is killed", function()
    local engine = watch("--kubeconfig=" .. kubeconfig "token: planted-token", wrong)
    os.execute(("kill -ABRT %d"):format(engine.pid))
    assert.are.equal(134, engine:wait())
    assert_clean("log", engine:err())
  end)

  it("that are objects stay in the cache and in what scripts print", function()
    local sim = cluster.sim()
    local secrets = "/api/v1/namespaces/default/secrets"
    local function secret(name, size)
      return {
        apiVersion = "v1", kind = "Secret", metadata = { name = name },
        data = { password = base64(("planted-data"):rep(size)) },
      }
    end
    sim.api:create(secrets, secret("first", 1))
    sim.api:create(secrets, secret("large", 200)) -- it is refused, and named
    local engine, status, metrics = watch(sim.server, "Secret default/large", "--max-object-size", "1Ki")
    sim.api:patch(secrets .. "/first", { data = { more = base64 "planted-data" } })
    sim.api:delete(secrets .. "/first")
    await(function() return engine:out():find("got\tnil", 1, true) end, engine:report())
    assert.are.equal(0, cluster.terminate(engine))
    assert_clean("log", engine:err())
    assert_clean("status", status)
    assert_clean("metrics", metrics)
  end)

  it("that are written are not in the log of writes and of workers that fail", function()
    local sim, log, socket = cluster.sim(), folder .. "/audit.log", folder .. "/admin.sock"
    local text = 'Secret "own" is invalid: data[password]: Invalid value: "planted-data", "' .. base64 "planted-data"
    for _, verb in ipairs { "update", "patch" } do
      sim:play { ["do"] = "fault", verb = verb, resource = "secrets", what = "status", code = 422, reason = "Invalid",
        message = text, times = 0 }
    end
    local engine = cluster.run(sim.server, cluster.script([[
      local k8s = require "k8s"
      k8s.writes { "secrets:*" }
      local secret = { apiVersion = "v1", kind = "Secret", metadata = { name = "own", namespace = "default" } }
      secret.data = { password = "]] .. base64 "planted-data" .. [[" }
      local queue = k8s.queue { name = "secrets", max_retries = 1 }
      queue:run(function(key)
        print("told", key)
        if key == "raises" then
          assert(k8s.update(secret))
        elseif key == "raises a text" then
          error(tostring(select(2, k8s.update(secret))))
        else
          return k8s.patch(secret, { stringData = { password = "planted-data" } })
        end
      end)
      k8s.main(function()
        assert(k8s.create(secret))
        k8s.update(secret, { dry_run = true })
        for _, key in ipairs { "raises", "raises a text", "returns" } do queue:add(key) end
      end)
    ]]), {
      "-v", "9", "--admin-socket", socket, "--audit-log", log, "--metrics-bind-address", "127.0.0.1:0",
    })
    local page = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    for _ = 1, 3 do engine:wait_error "Key dropped" end
    for _, command in ipairs {
      { "writes" }, { "writes", "-owide" }, { "writes", "-ojson" }, { "queue" }, { "queue", "-owide" },
      { "queue", "-ojson" }, { "status", "-ojson" },
    } do
      local p = cluster.kubelua { command[1], command[2], "--admin-socket", socket }
      assert.are.equal(0, p:wait(), p:report())
      assert.has_match("secrets", p:out(), 1, true)
      assert_clean(table.concat(command, " "), p:out())
    end
    local file = assert(io.open(log))
    local audit = file:read "*a"
    file:close()
    assert.has_match('"result":"Invalid"', audit, 1, true)
    assert_clean("audit log", audit)
    local _, metrics = page:curl("GET", "/metrics")
    assert_clean("metrics", metrics)
    assert.are.equal(0, cluster.terminate(engine))
    assert_clean("log", engine:err())
    assert_clean("output", engine:out())
  end)
end)
