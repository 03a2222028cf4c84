-- Who kubelua is, on the real API server, while it runs: certificates and tokens that are replaced on disk.
local apiserver = require "spec.support.apiserver"
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
    server:kubectl "create serviceaccount one"
    server:kubectl "create serviceaccount two"
    kubeconfig = server.dir .. "/changing"
    temp.write(kubeconfig, ([[
apiVersion: v1
kind: Config
contexts:
- {name: certificate, context: {cluster: c, user: certificate}}
- {name: token, context: {cluster: c, user: token}}
clusters: [{name: c, cluster: {server: "%s", certificate-authority: ca.crt}}]
users:
- {name: certificate, user: {client-certificate: client.crt, client-key: client.key}}
- {name: token, user: {tokenFile: changing.token}}
]]):format(server.url))
  end)

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  local function run(context)
    return cluster.run("--kubeconfig=" .. kubeconfig, cluster.script(script), { "--context", context })
  end

  -- Until the server has seen such a request; gives the first one.
  local function await_request(filter, seconds)
    local deadline = proc.now() + (seconds or 20)
    repeat
      local found = server:requests(filter)[1]
      if found then return found end
      os.execute "sleep 0.1"
    until proc.now() > deadline
    error(("no %s of %s came from %s"):format(filter.verb, filter.resource, filter.user), 2)
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
end)
