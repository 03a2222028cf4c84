-- Logins of publishers and of engines with --from, whose files change while they run.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local k8s = require "k8s"
  local pods = k8s.informer("pods")
  pods:on_add(function(pod) print("add", pod:key(), pod:label "v") end)
  pods:on_update(function(_, pod) print("update", pod:key(), pod:label "v") end)
]]
local SECRETS = "/api/v1/namespaces/default/secrets"
local PODS = "/api/v1/namespaces/default/pods"

-- CI has everything.
local function it(name, body)
  local test = require("busted").it
  if temp.run "command -v nats-server" ~= "" then return test(name, body) end
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "nats-server is not installed")
  test(name, function() pending "nats-server is not installed" end)
end

describe("logins of a bucket", function()
  local sim, folder, broker

  local function start_broker(port, token)
    broker = proc.spawn {
      "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", tostring(port), "--auth", token,
    }
    broker.port = broker:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    broker:wait_error "Server is ready"
  end

  local function end_broker()
    broker:kill "KILL"
    broker:wait()
  end

  before_each(function() sim, folder = cluster.sim(), temp.folder() end)
  after_each(function()
    cluster.stop_all()
    end_broker()
    temp.remove(folder)
  end)

  it("of scripts may follow a Secret that is published, and no other selector of fields is evaluated", function()
    temp.write(folder .. "/it.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret", from = "secret:default/my.login/token" } }
      k8s.command("token", function() return settings.token or "none" end)
      k8s.informer("secrets", { field_selector = "metadata.name==my.login" }):on_update(function(_, secret)
        print("update", secret:key())
      end)
      local last
      k8s.every("50ms", function()
        if settings.token ~= last then print("token now", settings.token) end
        last = settings.token
      end)
      k8s.main(function() print("token", settings.token) end)
    ]])
    start_broker(-1, "t")
    temp.write(folder .. "/token", "t")
    local function secret(name, token)
      return { metadata = { name = name, namespace = "default" }, stringData = { token = token } }
    end
    sim.api:create(SECRETS, secret("my.login", "one"))
    sim.api:create(SECRETS, secret("other", "two"))
    local url, file = "nats://127.0.0.1:" .. broker.port .. "/test", folder .. "/token"
    cluster.kubelua { "publish", "secrets", "-s", sim.server, "--to", url, "--nats-token-file", file }
    local words = {
      "run", "-f", folder .. "/it.lua", "--from", url, "--nats-token-file", file,
      env = { KUBECONFIG = "/dev/null", HOME = folder },
    }
    local w = cluster.kubelua(words)
    w:wait_line "^token\tone"
    w:wait_error '"Synced" informer="secrets[^"]*" objects=1'
    sim.api:request("PUT", SECRETS .. "/other", secret("other", "three"))
    sim.api:request("PUT", SECRETS .. "/my.login", secret("my.login", "four"))
    w:wait_line "^update\tdefault/my.login$"
    w:wait_line "^token now\tfour$"
    assert.is_nil(w:out():find "other", w:report())
    for _, selector in ipairs { "metadata.name!=x", "metadata.name=a,metadata.name=b", "spec.nodeName=a" } do
      temp.write(folder .. "/it.lua", ('require("k8s").informer("secrets", { field_selector = %q })'):format(selector))
      cluster.kubelua(words):wait_error "only an API server evaluates field selectors other than metadata.name=NAME"
    end
  end)

  it("of scripts follow a Secret in each of the engines that have parts of the objects", function()
    temp.write(folder .. "/it.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret", from = "secret:default/login/token" } }
      local others = k8s.informer("secrets", { namespace = "default" })
      k8s.main(function() print(settings.token == "one", others:query():count()) end)
    ]])
    start_broker(-1, "t")
    temp.write(folder .. "/token", "t")
    sim.api:create(SECRETS, { metadata = { name = "login", namespace = "default" }, stringData = { token = "one" } })
    local url, file, counts = "nats://127.0.0.1:" .. broker.port .. "/test", folder .. "/token", {}
    cluster.kubelua { "publish", "secrets", "-s", sim.server, "--to", url, "--nats-token-file", file }
    for i = 0, 1 do
      local w = cluster.kubelua {
        "run", "-f", folder .. "/it.lua", "--from", url, "--nats-token-file", file, "--partition", i .. "/2",
        env = { KUBECONFIG = "/dev/null", HOME = folder },
      }
      counts[#counts + 1] = w:wait_line "^true	(%d)$"
    end
    table.sort(counts)
    assert.are.same({ "0", "1" }, counts)
  end)

  it("are read again for each connection, as those of a mounted Secret", function()
    temp.write(folder .. "/it.lua", SCRIPT)
    temp.write(folder .. "/token", "t0kent0ken\n")
    start_broker(-1, "t0kent0ken")
    sim.api:create(PODS, {
      metadata = { name = "a", labels = { v = "1" } }, spec = { containers = { { name = "c", image = "i" } } },
    })
    local url, file = "nats://127.0.0.1:" .. broker.port .. "/test", folder .. "/token"
    local p = cluster.kubelua { "publish", "pods", "-s", sim.server, "--to", url, "--nats-token-file", file }
    local w = cluster.kubelua {
      "run", "-f", folder .. "/it.lua", "--from", url, "--nats-token-file", file,
      env = { KUBECONFIG = "/dev/null", HOME = folder },
    }
    w:wait_line "^add\tdefault/a\t1"
    end_broker()
    start_broker(broker.port, "s3conds3cond")
    sim.api:patch(PODS .. "/a", { metadata = { labels = { v = "2" } } })
    p:wait_error "retrying.*[Aa]uthorization"
    -- While it is replaced it may be empty, or missing.
    temp.write(file, "")
    os.remove(file)
    -- Nor is it a login what a file too large begins with.
    temp.write(file, "s3conds3cond" .. (" "):rep(70000) .. "x")
    temp.run "sleep 5"
    assert.is_nil(w:out():find("update", 1, true), w:report())
    temp.write(file, "s3conds3cond\n")
    w:wait_line("^update\tdefault/a\t2", 60)
    for _, one in ipairs { p, w } do
      assert.is_nil((one:out() .. one:err()):find "t0kent0ken", one:report())
      assert.is_nil((one:out() .. one:err()):find "s3cond", one:report())
    end
  end)
end)
