-- kubelua test scripts
local test = require "k8s.test"

describe("alerts.lua", function()
  local env

  local function call(body, token)
    return env:call_webhook("/hooks/alerts", { body = body, token = token or "t0p" }).status
  end

  local function alert(name, status)
    return { status = status or "firing", labels = { alertname = "Stuck", namespace = "shop", deployment = name } }
  end

  before_each(function()
    local web = {
      kind = "Deployment", metadata = { namespace = "shop", name = "web" },
      spec = {
        selector = { matchLabels = { app = "web" } },
        template = { metadata = { labels = { app = "web" } }, spec = { containers = { { name = "a", image = "i" } } } },
      },
    }
    env = test.load("alerts.lua", { objects = { web }, params = { token = "t0p" } })
  end)

  it("restarts what an alert names, once in ten minutes", function()
    assert.equal(204, call { alerts = { alert "web", alert "web" } })
    assert.equal(1, #env.writes)
    assert.wrote(env, { verb = "patch", kind = "Deployment", key = "shop/web" })
    env:advance "9m"
    call { alerts = { alert "web" } }
    assert.equal(1, #env.writes)
    env:advance "2m"
    call { alerts = { alert "web" } }
    assert.equal(2, #env.writes)
  end)

  it("leaves what is resolved, without a deployment, or not there", function()
    assert.equal(204, call { alerts = { alert("web", "resolved"), { status = "firing" }, alert "none" } })
    assert.printed(env, "^shop/none\t.*not found", true)
    assert.not_wrote(env, { code = 200 })
  end)

  it("refuses a wrong token and what is no group of alerts", function()
    assert.equal(401, call({ alerts = { alert "web" } }, "t1p"))
    assert.equal(400, call "")
    assert.equal(400, call { alerts = 5 })
    assert.not_wrote(env)
  end)

  it("is for the leader", function()
    env = test.load("alerts.lua", { params = { token = "t0p" }, leader_elect = true })
    env:lead(false)
    assert.equal(503, call { alerts = {} })
  end)
end)
