-- Every way in that a kubeconfig offers, on the real API server: TLS with its own authority, client certificate, token,
-- token file, namespaces of scripts, and a user without rights.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespace = "default" })
  k8s.main(function() print("found", maps:lister():count()) end)
]]

describe("kubelua on the real API server", function()
  local server

  setup(function()
    server = apiserver.start()
    server:kubectl "create configmap one --from-literal=a=b"
  end)

  teardown(function()
    cluster.stop_all()
    if server then server:stop() end
  end)

  local function exec(...)
    return cluster.kubelua { "exec", cluster.script(script), ... }
  end

  local function assert_finds(p)
    p:wait_line "^found\t[1-9]"
    assert.are.equal(0, p:wait())
  end

  it("comes in by client certificate", function() assert_finds(exec("--kubeconfig", server.kubeconfig)) end)

  it("comes in by the token of another context", function()
    assert_finds(exec("--kubeconfig", server.kubeconfig, "--context", "admin-token"))
  end)

  it("comes in by flags alone", function()
    assert_finds(exec("--server", server.url, "--certificate-authority", server.ca, "--token", server.tokens.admin))
    assert_finds(exec("--server", server.url, "--certificate-authority", server.ca, "--client-certificate", server.cert,
      "--client-key", server.key))
  end)

  it("comes in by a token file", function()
    local path = server.dir .. "/kubeconfig-token-file"
    temp.write(path, ([[
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "%s", certificate-authority: ca.crt}}]
users: [{name: u, user: {tokenFile: admin.token}}]
]]):format(server.url))
    assert_finds(exec("--kubeconfig", path))
  end)

  -- A pod's files, in a mount namespace of its own.
  local pod = [[
    set -e
    mount -t tmpfs none /run
    mkdir -p /run/secrets/kubernetes.io/serviceaccount
    cd /run/secrets/kubernetes.io/serviceaccount
    cp "$CA" ca.crt
    cp "$TOKEN" token
    echo default >namespace
    cd "$OLDPWD"
    exec "$0" exec "$1"
  ]]

  -- T-10
  it("comes in from inside a pod", function()
    if temp.run("id -u"):match "%d+" ~= "0" then return pending "only root can mount a pod's files" end
    local p = proc.spawn {
      "unshare", "--mount", "--propagation", "private", "sh", "-c", pod, cluster.binary, cluster.script(script),
      env = {
        KUBERNETES_SERVICE_HOST = "127.0.0.1", KUBERNETES_SERVICE_PORT = server.url:match ":(%d+)$",
        CA = server.ca, TOKEN = server.dir .. "/admin.token", HOME = "/nonexistent", KUBECONFIG = "",
      },
    }
    assert_finds(p)
  end)

  it("does not start inside a pod without a token", function()
    local p = proc.spawn {
      cluster.binary, "exec", cluster.script(script),
      env = {
        KUBERNETES_SERVICE_HOST = "127.0.0.1", KUBERNETES_SERVICE_PORT = "1", HOME = "/nonexistent", KUBECONFIG = "",
      },
    }
    assert.are.equal(2, p:wait())
    assert.has_match("no cluster is configured", p:err(), 1, true)
  end)

  it("comes in as the service account of deploy/rbac.yaml", function()
    server:kubectl "apply --filename deploy/rbac.yaml"
    local token = server:kubectl("create token kubelua --namespace kubelua"):match "%S+"
    assert_finds(exec("--server", server.url, "--certificate-authority", server.ca, "--token", token))
  end)

  it("acts as another user by flags (C-6, T-9)", function()
    local as = { "--kubeconfig", server.kubeconfig, "--as", "jane" }
    local p = exec(as[1], as[2], as[3], as[4], "--sync-timeout", "1s")
    assert.are.equal(3, p:wait())
    assert.has_match('configmaps is forbidden: User \\"jane\\" cannot list', p:err(), 1, true)
    assert_finds(exec(as[1], as[2], as[3], as[4], "--as-group", "nobodies", "--as-group", "system:masters"))
  end)

  it("logs a warning of the server once (H-15)", function()
    local p = cluster.kubelua {
      "exec", "--kubeconfig", server.kubeconfig, cluster.script [[
        local k8s = require "k8s"
        k8s.reads { "componentstatuses:list" }
        k8s.main(function()
          for _ = 1, 3 do assert(k8s.list "componentstatuses") end
        end)
      ]],
    }
    assert.are.equal(0, p:wait(), p:report())
    local _, count = p:err():gsub('"Warning from server" text="v1 ComponentStatus is deprecated', "")
    assert.are.equal(1, count)
    assert.has_match(' request="GET /api/v1/componentstatuses"\n', p:err(), 1, true)
  end)

  it("does not trust a server whose authority it does not know", function()
    local p = exec("--server", server.url, "--token", server.tokens.admin, "--sync-timeout", "3s")
    assert.are.equal(3, p:wait())
    assert.has_match("certificate", p:err())
    assert.is_nil(p:err():find(server.tokens.admin, 1, true))
  end)

  it("reports what a user without permissions may not do, and goes on trying", function()
    local p = cluster.run("--kubeconfig=" .. server.kubeconfig, cluster.script(script), { "--context", "nobody" })
    p:wait_error 'configmaps is forbidden: User \\"nobody\\" cannot list resource \\"configmaps\\"'
    assert.are.equal(0, cluster.terminate(p))
  end)
end)
