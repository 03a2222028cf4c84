-- What is wrong with a connection is one clear line that names the file and the entry, and exit code 2.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local script = [[ require("k8s").main(function() print "reached" end) ]]

-- A kubeconfig with one user and one cluster, each given as YAML text.
local function kubeconfig(user, more)
  return ([[
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: here, user: me}
clusters:
- name: here
  cluster: {server: "https://127.0.0.1:6443"%s}
users:
- name: me
  user: {%s}
]]):format(more or "", user)
end

describe("a connection", function()
  local folder

  setup(function() folder = temp.folder() end)
  teardown(function() temp.remove(folder) end)
  after_each(cluster.stop_all)

  -- Runs with the flags; the one line of stderr.
  local function refusal(...)
    local p = cluster.kubelua { "exec", cluster.script(script), ... }
    assert.are.equal(2, p:wait())
    local line, rest = p:err():match "^([^\n]*)\n(.*)$"
    assert.are.equal("", rest)
    return line
  end

  local function with_file(text)
    local path = folder .. "/config"
    temp.write(path, text)
    return refusal("--kubeconfig", path), path
  end

  local function assert_names(line, ...)
    for _, word in ipairs { ... } do assert.has_match(word, line, 1, true) end
  end

  it("by a kubeconfig that is not there", function()
    assert_names(refusal("--kubeconfig", folder .. "/nothing"), folder .. "/nothing", "No such file")
  end)

  it("by a kubeconfig that is no YAML", function()
    local line, path = with_file "contexts: [\n- {"
    assert_names(line, path .. ":2: ")
  end)

  it("by a context that is not there", function()
    temp.write(folder .. "/good", kubeconfig 'token: "t"')
    assert_names(refusal("--kubeconfig", folder .. "/good", "--context", "prod"), 'context "prod" does not exist')
  end)

  it("by a certificate authority that is not there", function()
    local line = with_file(kubeconfig('token: "t"', ', certificate-authority: nothing.crt'))
    assert_names(line, folder .. "/nothing.crt")
  end)

  it("by a certificate authority that is none", function()
    assert_names((with_file(kubeconfig('token: "t"', ', certificate-authority-data: "aGVsbG8="'))),
      "certificate-authority-data", "here")
  end)

  it("by a client certificate without a key", function()
    assert_names((with_file(kubeconfig "client-certificate-data: aGVsbG8=")), "client-key", "me")
  end)

  it("by what this version does not support", function()
    assert_names((with_file(kubeconfig "auth-provider: {name: oidc}")), "auth-provider", "me")
  end)

  it("by an exec plugin that is not described well", function()
    local line = with_file(kubeconfig "exec: {apiVersion: client.authentication.k8s.io/v1, command: login}")
    assert_names(line, "users[me].exec.interactiveMode")
  end)

  it("by a group to act as without a user (T-9)", function()
    assert_names(refusal("--server", "https://127.0.0.1:1", "--as-group", "ops"), "--as-group need --as")
  end)

  it("by a proxy of the environment that is none (T-4)", function()
    local p = require("spec.support.proc").spawn {
      cluster.binary, "exec", cluster.script(script), "--server", "https://127.0.0.1:1",
      env = { HTTPS_PROXY = "foo://user:planted@127.0.0.1:1" },
    }
    assert.are.equal(2, p:wait())
    assert.are.equal("kubelua: the flag --server: the environment's HTTPS_PROXY: foo://127.0.0.1:1: "
      .. "scheme must be http, https or socks5\n", p:err())
  end)

  it("by a timeout that is none (C-13)", function()
    assert_names(refusal("--request-timeout", "soon"), "--request-timeout", "soon", "duration")
  end)

  it("never shows a token", function()
    temp.write(folder .. "/secret", kubeconfig 'token: "planted-secret-token"')
    local p = cluster.kubelua { "exec", cluster.script(script), "--kubeconfig", folder .. "/secret", "--sync-timeout",
      "200ms", "-v", "9" }
    p:wait()
    assert.is_nil((p:out() .. p:err()):find("planted-secret-token", 1, true))
  end)

  -- C-7
  it("without TLS has no credentials, which is logged", function()
    local sim = cluster.sim()
    local p = cluster.kubelua { "exec", cluster.script(script), "--server", sim.server, "--token", "planted-secret" }
    assert.are.equal(0, p:wait())
    local warning = ('"Credentials are not sent over plain http" what="the token" server="%s"')
      :format(sim.server)
    assert.has_match(warning, p:err(), 1, true)
    assert.has_match("Token on the command line is visible", p:err(), 1, true)
    assert.has_no_match("planted-secret", p:err(), 1, true)
    p = require("spec.support.proc").spawn {
      cluster.binary, "exec", cluster.script(script), "--server", sim.server,
      env = { KUBELUA_TOKEN = "planted-secret" },
    }
    assert.are.equal(0, p:wait())
    assert.has_match(warning, p:err(), 1, true)
    assert.has_no_match("Token on the command line", p:err(), 1, true)
    p = cluster.kubelua { "exec", cluster.script(script), "--server", sim.server, "--as", "jane" }
    assert.are.equal(0, p:wait())
    assert.has_no_match("Credentials are not sent", p:err(), 1, true)
  end)

  it("may be set by the environment", function()
    local sim = cluster.sim()
    local p = require("spec.support.proc").spawn {
      cluster.binary, "exec", cluster.script(script), env = { KUBELUA_SERVER = sim.server },
    }
    p:wait_line "^reached$"
    assert.are.equal(0, p:wait())
  end)
end)
