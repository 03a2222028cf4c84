-- Who kubelua is, on the real API server, while it runs: certificates and tokens that are replaced on disk.
local apiserver = require "spec.support.apiserver"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

-- It asks for something now and then, as engines do.
local script = [[
  local k8s = require "k8s"
  k8s.reads { "configmaps:get" }
  k8s.informer("configmaps", { namespace = "default" }):add_event_handler {
    OnAdd = function(map) print("add", map:name()) end,
    OnDelete = function(map) print("delete", map:name()) end,
  }
  k8s.every("300ms", function() k8s.get("configmaps", "default/first") end)
]]

describe("credentials on the real API server", function()
  local server, kubeconfig

  -- A client certificate for `user` of the group that may read, in DIR/client.crt and .key: all at once, by rename.
  local function sign(user)
    local output, code = temp.run(([[
      set -e; cd '%s'
      openssl req -newkey rsa:2048 -nodes -keyout new.key -out new.csr -subj '/O=readers/CN=%s'
      openssl x509 -req -in new.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -out new.crt
      mv new.key client.key; mv new.crt client.crt]]):format(server.dir, user))
    if code ~= 0 then error(output) end
  end

  setup(function()
    server = apiserver.start()
    server:kubectl "create configmap first --from-literal=a=b"
    server:kubectl "create clusterrole reader --verb=get,list,watch --resource=configmaps"
    local groups = "--group=readers --group=system:serviceaccounts"
    server:kubectl("create clusterrolebinding readers --clusterrole=reader " .. groups)
    for _, account in ipairs { "one", "two", "three", "four" } do
      server:kubectl("create serviceaccount " .. account)
    end
    kubeconfig = server.dir .. "/changing"
    temp.write(kubeconfig, ([[
apiVersion: v1
kind: Config
contexts:
- {name: certificate, context: {cluster: c, user: certificate}}
- {name: token, context: {cluster: c, user: token}}
- {name: plugin, context: {cluster: c, user: plugin}}
- {name: plugin-certificate, context: {cluster: c, user: plugin-certificate}}
- {name: impersonating, context: {cluster: c, user: impersonating}}
clusters: [{name: c, cluster: {server: "%s", certificate-authority: ca.crt}}]
users:
- {name: certificate, user: {client-certificate: client.crt, client-key: client.key}}
- {name: token, user: {tokenFile: changing.token}}
- name: plugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./plugin, args: [token]}}
- name: plugin-certificate
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin, args: [certificate]}}
- name: impersonating
  user:
    client-certificate: admin.crt
    client-key: admin.key
    as: jane
    as-uid: "7"
    as-groups: [readers]
    as-user-extra: {Scopes/x: [view, list]}
]]):format(server.url))
  end)

  -- An exec plugin: its n-th run gives what stands in answer.n, and the last answer from then on.
  local plugin = [[#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "run for $1" >>plugin.runs
answer=answer.$(grep -c "$1" plugin.runs)
[ -e "$answer" ] || answer=$(ls answer.* | tail -n 1)
cat "$answer"
]]

  local function put_answers(answers)
    os.execute(("rm -f '%s'/answer.* '%s/plugin.runs'"):format(server.dir, server.dir))
    temp.write(server.dir .. "/plugin", plugin)
    os.execute(("chmod +x '%s/plugin'"):format(server.dir))
    for i, answer in ipairs(answers) do temp.write(("%s/answer.%d"):format(server.dir, i), answer) end
  end

  local function credential(version, status)
    return cjson.encode {
      kind = "ExecCredential", apiVersion = "client.authentication.k8s.io/" .. version, status = status,
    }
  end

  local function in_seconds(seconds) return os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() + seconds) end

  local function runs() return select(2, temp.read(server.dir .. "/plugin.runs"):gsub("\n", "")) end

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  local function run(context)
    return cluster.run("--kubeconfig=" .. kubeconfig, cluster.script(script), { "--context", context })
  end

  -- Until the server has seen such a request; gives the first one.
  local function await_request(filter, seconds)
    return await(function() return server:requests(filter)[1] end,
      ("no %s of %s came from %s"):format(filter.verb, filter.resource, filter.user), seconds)
  end

  -- T-6
  it("are a client certificate that is replaced: the watch goes on with the new one, without a list", function()
    sign "first"
    local p = run "certificate"
    p:wait_line "^add\tfirst$"
    await_request { user = "first", verb = "watch", resource = "configmaps" }
    sign "second"
    local watch = await_request { user = "second", verb = "watch", resource = "configmaps" }
    assert.has_match("resourceVersion=%d+", watch.requestURI)
    assert.is_nil(watch.requestURI:find("sendInitialEvents", 1, true))
    server:kubectl "create configmap later"
    p:wait_line "^add\tlater$"
    assert.are.same({}, server:requests { user = "second", verb = "list", resource = "configmaps" })
    server:kubectl "delete configmap later"
    p:wait_line "^delete\tlater$"
    assert.is_nil(p:out():find("delete\tfirst", 1, true))
    assert.are.equal(0, cluster.terminate(p))
  end)

  -- T-7
  it("are a token file that is read again before its token is a minute old", function()
    local function put(account)
      temp.write(server.dir .. "/changing.token", server:kubectl("create token " .. account))
    end
    put "one"
    local p = run "token"
    p:wait_line "^add\tfirst$"
    put "two"
    local changed = proc.now()
    await_request({ user = "system:serviceaccount:default:two", verb = "get", resource = "configmaps" }, 70)
    assert.is_true(proc.now() - changed < 60)
    server:kubectl "create configmap later"
    p:wait_line "^add\tlater$" -- its watch was opened with the old one, and goes on
    assert.are.equal(0, cluster.terminate(p))
    server:kubectl "delete configmap later"
  end)

  -- T-12, T-13
  it("are an exec plugin's, which is run again when they have expired", function()
    local function token(account, status)
      status.token = server:kubectl("create token " .. account):match "%S+"
      return credential("v1", status)
    end
    put_answers { token("three", { expirationTimestamp = in_seconds(4) }), token("four", {}) }
    local p = run "plugin"
    p:wait_line "^add\tfirst$"
    await_request { user = "system:serviceaccount:default:three", verb = "watch", resource = "configmaps" }
    await_request { user = "system:serviceaccount:default:four", verb = "get", resource = "configmaps" }
    server:kubectl "create configmap later"
    p:wait_line "^add\tlater$" -- a new token closes no connection
    server:kubectl "delete configmap later"
    assert.are.equal(2, runs())
    assert.are.equal(0, cluster.terminate(p))
    assert.is_nil(p:err():find("Unauthorized", 1, true))
  end)

  -- T-13
  it("are an exec plugin's, which is run again when the server refuses them", function()
    local good = server:kubectl("create token one"):match "%S+"
    put_answers { credential("v1", { token = "refused" }), credential("v1", { token = good }) }
    local p = run "plugin"
    p:wait_line "^add\tfirst$"
    assert.are.equal(2, runs())
    assert.are.equal(0, cluster.terminate(p))
  end)

  -- T-13
  it("are certificates of an exec plugin: the watch goes on with the next one, without a list", function()
    local answers = {}
    for i, user in ipairs { "third", "fourth" } do
      sign(user)
      answers[i] = credential("v1beta1", {
        clientCertificateData = temp.read(server.dir .. "/client.crt"),
        clientKeyData = temp.read(server.dir .. "/client.key"),
        expirationTimestamp = i == 1 and in_seconds(5) or nil,
      })
    end
    put_answers(answers)
    local p = run "plugin-certificate"
    p:wait_line "^add\tfirst$"
    await_request { user = "third", verb = "watch", resource = "configmaps" }
    await_request { user = "fourth", verb = "watch", resource = "configmaps" }
    assert.are.same({}, server:requests { user = "fourth", verb = "list", resource = "configmaps" })
    assert.are.equal(0, cluster.terminate(p))
  end)

  -- T-9
  it("act as another user: user, uid, groups and extras", function()
    local p = run "impersonating"
    p:wait_line "^add\tfirst$"
    local found
    for _, event in ipairs(server:requests { user = "admin" }) do
      if event.impersonatedUser then found = event.impersonatedUser end
    end
    assert.are.equal("jane", found.username)
    assert.are.equal("7", found.uid)
    assert.are.same({ "view", "list" }, found.extra["scopes/x"])
    assert.are.equal("readers", found.groups[1])
    assert.are.equal(0, cluster.terminate(p))
  end)

  it("of a user without permissions cause an error that names the missing one", function()
    put_answers { credential("v1", { token = server.tokens.nobody }) }
    local p = run "plugin"
    p:wait_error 'configmaps is forbidden: User \\"nobody\\" cannot list resource \\"configmaps\\"'
    assert.are.equal(0, cluster.terminate(p))
    assert.is_nil(p:err():find(server.tokens.nobody, 1, true))
  end)

  -- T-1
  it("go to a server that is not verified only with the option, and the log reports it once", function()
    local p = cluster.run("--server=" .. server.url, cluster.script(script), {
      "--insecure-skip-tls-verify", "--token", server.tokens.admin,
    })
    p:wait_line "^add\tfirst$"
    assert.are.equal(0, cluster.terminate(p))
    assert.are.equal(1, select(2, p:err():gsub("The server's certificate is not verified", "")))
    p = cluster.run("--server=" .. server.url, cluster.script(script), {
      "--insecure-skip-tls-verify", "--token", server.tokens.admin, "--certificate-authority", server.ca,
    })
    assert.are.equal(2, p:wait())
    assert.has_match("insecure-skip-tls-verify is set too", p:err(), 1, true)
  end)

  -- spec/system/secrets_spec.lua has this for a server that gives wrong answers.
  it("are in no output of an engine", function()
    local admin = server.tokens.admin
    put_answers { credential("v1", { token = admin }) }
    local secret = "planted-in-a-secret"
    server:kubectl("create secret generic planted --from-literal=password=" .. secret)
    local encoded = temp.run(("printf %%s '%s' | base64 -w0"):format(secret))
    local watching = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "secrets:get" }
      k8s.informer("secrets"):add_event_handler { OnUpdate = function(_, new) print("update", new.data.more) end }
      k8s.main(function() print("got", k8s.get("secrets", "default/planted")) end)
    ]]
    local socket = server.dir .. "/engine.sock"
    for _, context in ipairs { "plugin", "admin-token" } do
      local file = context == "plugin" and kubeconfig or server.kubeconfig
      local p = cluster.run("--kubeconfig=" .. file, watching, {
        "--context", context, "-v", "9", "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0",
      })
      local page = api.new { server = "http://" .. p:wait_error 'Serving metrics" address="([^"]+)"' }
      p:wait_line "^got"
      server:kubectl(([[patch secret planted --patch '{"stringData":{"more":"%s"}}']]):format(secret .. context))
      p:wait_line "^update"
      local status = cluster.kubelua { "status", "--admin-socket", socket, "-o", "json" }
      assert.are.equal(0, status:wait())
      local _, metrics = page:curl("GET", "/metrics")
      assert.are.equal(0, cluster.terminate(p))
      for what, text in pairs { log = p:err(), status = status:out(), metrics = metrics } do
        for _, word in ipairs { admin, secret, encoded:sub(1, 20) } do
          assert.is_nil(text:find(word, 1, true), what .. ":\n" .. text)
        end
      end
    end
  end)
end)
