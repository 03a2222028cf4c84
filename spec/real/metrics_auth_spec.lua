-- --metrics-auth=token on the real API server: tokens of service accounts, with the roles of deploy/rbac.yaml.
local api = require "spec.support.api"
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

describe("--metrics-auth=token on the real API server", function()
  local server

  setup(function()
    server = apiserver.start()
    server:kubectl "apply --filename deploy/rbac.yaml"
    for _, name in ipairs { "allowed", "other" } do server:kubectl("create serviceaccount " .. name) end
    server:kubectl("create clusterrolebinding scrape --clusterrole kubelua-metrics-reader "
      .. "--serviceaccount default:allowed")
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if server then server:stop() end
  end)

  local function token_of(name, ns)
    return server:kubectl(("create token %s --namespace %s"):format(name, ns or "default")):match "%S+"
  end

  -- As the service account of the engine, with the flags of its Deployment.
  local function started(token)
    local engine = proc.spawn { cluster.binary, "run", "-f", cluster.script 'require("k8s").informer "configmaps"',
      "--server", server.url, "--certificate-authority", server.ca, "--token", token, "--metrics-bind-address=:0",
      "--health-probe-bind-address=0", "--admin-socket=0" }
    local port = engine:wait_error 'Serving metrics" address="%S+:(%d+)" auth="token"'
    local http = api.new { server = "http://127.0.0.1:" .. port }
    function engine.scrape(bearer)
      local p = proc.spawn { "curl", "--silent", "--include", "--max-time", "30", "--header",
        bearer and "Authorization: Bearer " .. bearer or "X-None: 1", http.server .. "/metrics" }
      p:wait(30)
      return tonumber(p:out():match "^HTTP/1.1 (%d+)"), p:out()
    end
    return engine
  end

  it("admits the service account that may get /metrics, and no other", function()
    local engine = started(token_of("kubelua", "kubelua"))
    finally(function() cluster.terminate(engine) end)
    local code, page
    await(function() -- the server authorizes by caches of its own
      code, page = engine.scrape(token_of "allowed")
      return code == 200
    end, function() return ("200, not %s: %s"):format(code, page) .. engine:report() end)
    assert.has_match("\nkubelua_build_info{", page, 1, true)
    assert.are.equal(403, (engine.scrape(token_of "other")))
    assert.are.equal(401, (engine.scrape "not-a-token"))
    assert.are.equal(401, (engine.scrape()))
  end)

  it("responds 503, and says why, without the right to review", function()
    local engine = started(token_of "other")
    finally(function() cluster.terminate(engine) end)
    assert.are.equal(503, (engine.scrape(token_of "allowed")))
    engine:wait_error('Failed to review the token of a scrape, responding 503" err="POST '
      .. '/apis/authentication.k8s.io/v1/tokenreviews: [^\n]*cannot create resource')
  end)
end)
