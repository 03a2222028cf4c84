-- http.request: requests of scripts to servers that the operator allows. The simulator is such a server here.
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"

local head = [[
  local k8s = require "k8s"
  local http = require "http"
  local function show(answer, err)
    if not answer then
      print("nil", err.reason, tostring(err))
    else
      print(answer.status, answer.headers["content-type"], (answer.body:gsub("%s+", "")))
    end
  end
]]

local function exec(sim, text, args)
  local words = { "exec", cluster.script(head .. text), "-s", sim.server, "-v", "9" }
  for _, word in ipairs(args or {}) do words[#words + 1] = word end
  local p = cluster.kubelua(words)
  local code = p:wait()
  return code, p.streams.out.text, p.streams.err.text
end

describe("http.request #threads", function()
  local sim, other, host
  setup(function()
    sim, other = cluster.sim(), cluster.sim()
    host = other.server:match "http://(.*)$"
  end)
  teardown(cluster.stop_all)

  it("sends to a server that is allowed, and logs no secret of the request", function()
    local code, out, err = exec(sim, ([[
      k8s.main(function()
        show(http.request { url = "http://me:hunter2@%s/version?token=s3cret", headers = { ["X-Key"] = "t0psecret" } })
        show(http.request { url = "http://%s/nothing/there", method = "POST", body = "{}", timeout = "5s" })
      end)
    ]]):format(host, host), { "--allow-http", host })
    assert.are.equal(0, code, err)
    assert.matches('^200\tapplication/json\t{.*"gitVersion":', out)
    assert.matches("\n40[0-9]\t", out)
    for _, secret in ipairs { "hunter2", "s3cret", "t0psecret" } do assert.is_nil(err:find(secret, 1, true), err) end
  end)

  it("changes and deletes what another server has", function()
    local map = { kind = "ConfigMap", apiVersion = "v1", metadata = { name = "there" }, data = { a = "1" } }
    other.api:create("/api/v1/namespaces/default/configmaps", map)
    local code, out, err = exec(sim, ([[
      k8s.main(function()
        local url = "http://%s/api/v1/namespaces/default/configmaps/there"
        local function send(method, body, type)
          local headers = { ["Content-Type"] = type }
          local answer = assert(http.request { url = url, method = method, body = body, headers = headers })
          print(method, answer.status, (answer.body:match '"data":(%%b{})' or "none"):gsub("%%s", ""))
        end
        send("PUT", '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"there"},"data":{"a":"2"}}',
          "application/json")
        send("PATCH", '{"data":{"b":"3"}}', "application/merge-patch+json")
        send("DELETE")
        send("GET")
      end)
    ]]):format(host), { "--allow-http", host })
    assert.are.equal(0, code, err)
    assert.are.equal('PUT\t200\t{"a":"2"}\t0\nPATCH\t200\t{"a":"2","b":"3"}\t0\n'
      .. "DELETE\t200\tnone\t0\nGET\t404\tnone\t0\n", out)
  end)

  it("refuses others, and names the flag", function()
    local _, out = exec(sim, ([[
      k8s.main(function()
        show(http.request { url = "http://%s/version?token=s3cret" })
        show(http.request { url = "http://%s/version" })
        show(http.request { url = "file:///etc/passwd" })
      end)
    ]]):format(host, sim.server:match "http://(.*)$"), { "--allow-http", "example.com" })
    local message = "nil\tForbidden\tthe operator does not allow http://%s: kubelua run --allow-http %s"
    assert.are.equal(message:format(host, host), out:match "^[^\n]*")
    assert.matches("\nnil\tForbidden\t[^\n]*\nnil\tInvalid\tno URL: it must begin with http:// or https://", out)
  end)

  it("returns an error when nobody responds", function()
    local _, out = exec(sim, [[
      k8s.main(function() show(http.request { url = "http://127.0.0.1:9/" }) end)
    ]], { "--allow-http", "127.0.0.1:9" })
    assert.matches("^nil\tConnectionRefused\t", out)
  end)

  it("raises for misuse, and while the script loads", function()
    for text, message in pairs {
      ['http.request { url = "http://a/" }'] = "http.request may not be called in the load phase",
      ['k8s.main(function() http.request {} end)'] = "http.request: url is missing",
      ['k8s.main(function() http.request { uri = "x" } end)'] = 'unknown option "uri", did you mean "url"?',
      ['k8s.main(function() http.request { url = "http://a b" } end)'] = "url contains a blank or a control character",
      ['k8s.main(function() http.request { url = "x", method = "get" } end)'] = 'invalid method "get"',
      ['k8s.main(function() http.request { url = "x", headers = { Host = "a" } } end)'] =
        'the header "Host" cannot be set',
      ['k8s.main(function() http.request { url = "x", headers = { A = "b\\r\\nC: d" } } end)'] =
        "the value of header A contains a line break",
      ['k8s.main(function() http.request { url = "x", timeout = 0 } end)'] = "timeout must be greater than 0",
    } do
      local code, _, err = exec(sim, text)
      assert.are_not.equal(0, code)
      err = err:gsub('\\"', '"') -- as logs have it
      assert.is_truthy(err:find(message, 1, true), text .. "\n" .. err)
    end
  end)

  it("is limited in a minute", function()
    local code, out, err = exec(sim, ([[
      k8s.main(function() show(http.request { url = "http://%s/version" }) end)
    ]]):format(host), { "--allow-http", host, "--limit", "http-requests=0" })
    assert.are.equal(0, code, err)
    assert.equal("nil\tLimitExceeded\thttp.request: over the limit http-requests (0 per minute)\n", out)
  end)

  it("counts the bodies of its requests as memory of the script", function()
    local silent = relay.start(sim.server) -- so that all of them are on their way at once
    finally(function() silent:stop() end)
    silent:hold()
    local silent_host = silent.url:match "^http://(.*)$"
    local code, _, err = exec(sim, ([[
      k8s.main(function()
        local body = ("x"):rep(15e6)
        for i = 1, 10 do
          k8s.after(0, function() http.request { url = "http://%s/version", method = "POST", body = body } end)
        end
        k8s.sleep "5s"
      end)
    ]]):format(silent_host), { "--allow-http", silent_host })
    assert.are.equal(3, code, err)
    assert.matches("over the limit script%-memory %(64Mi%)", err)
  end)

  it("is used by the example notify.lua", function()
    local example = assert(io.open "scripts/notify.lua")
    local text = example:read("*a"):gsub("https://hooks.example.com", other.server)
    example:close()
    sim.api:create("/api/v1/nodes", { apiVersion = "v1", kind = "Node", metadata = { name = "n" } })
    local function set_ready(status)
      sim.api:patch("/api/v1/nodes/n/status", { status = { conditions = { { type = "Ready", status = status } } } })
    end
    set_ready "True"
    local engine = cluster.run(sim.server, cluster.script(text), { "--allow-http", host })
    engine:wait_error '"Synced"'
    set_ready "False"
    engine:wait_error '"The hook refused".*node="n"'
    cluster.terminate(engine)
  end)

  it("refuses a flag that names no server", function()
    local code, _, err = exec(sim, "", { "--allow-http", "http://a/b" })
    assert.are.equal(2, code)
    assert.matches('%-%-allow%-http: "http://a/b" is not a server', err)
  end)
end)
