-- `kubelua publish` as a process beside others: its probes, its metrics and its end; and that of `kubelua run --from`.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

-- CI has everything.
local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local file = io.open(binary:match "^(.*)/" .. "/lib/kubelua/nats_bucket.so")
if not file or temp.run "command -v nats-server" == "" then
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "libnats-dev and nats-server are not installed")
  describe("a publisher", function() pending "libnats-dev and nats-server are not installed" end)
  return
end
file:close()

describe("a publisher", function()
  local sim, folder, broker, url

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    temp.write(folder .. "/it.lua", [[
      require("k8s").informer("pods"):on_add(function(pod) print("add", pod:key()) end)
    ]])
    broker = proc.spawn { "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", "-1" }
    broker.port = broker:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    broker:wait_error "Server is ready"
    url = "nats://127.0.0.1:" .. broker.port .. "/test"
  end)
  local function end_broker()
    broker:kill "KILL"
    broker:wait()
  end
  after_each(function()
    cluster.stop_all()
    end_broker()
    temp.remove(folder)
  end)

  local function publish(...) return cluster.kubelua { "publish", "-s", sim.server, "--to", url, ... } end
  local function worker(...)
    return cluster.kubelua {
      "run", "-f", folder .. "/it.lua", "--from", url, env = { KUBECONFIG = "/dev/null", HOME = folder }, ...,
    }
  end
  local function create(name)
    return sim.api:create("/api/v1/namespaces/default/pods", {
      metadata = { name = name }, spec = { containers = { { name = "c", image = "i" } } },
    })
  end
  local function delete(name) sim.api:delete("/api/v1/namespaces/default/pods/" .. name) end

  it("has probes and metrics: it is ready once all is published, and while another one is", function()
    create "a"
    create "b"
    local function observed(...)
      local p = publish("pods", "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0", ...)
      p.metrics = p:wait_error '"Serving metrics" address="(%S+)"'
      p.health = p:wait_error '"Serving health probes" address="(%S+)"'
      return p
    end
    local function ask(address, path) return temp.run(("curl -s 'http://%s%s'"):format(address, path)) end
    local function await_ready(p)
      await(function() return ask(p.health, "/readyz") == "ok" end, "readiness")
    end
    local p = observed()
    await_ready(p)
    assert.are.equal("ok", ask(p.health, "/livez"))
    local q = observed()
    await_ready(q)
    delete "a"
    local of = '{bucket="' .. url .. '"'
    await(function()
      return ask(p.metrics, "/metrics"):find("kubelua_publish_objects_total" .. of .. ',result="deleted"} 1', 1, true)
    end, "the delete")
    local text, other = ask(p.metrics, "/metrics"), ask(q.metrics, "/metrics")
    assert.matches('result="written"} [23]\n', text)
    for _, line in ipairs { 'objects_total%s,result="refused"} 0',
      "leading%s} 1", "kinds_listed%s} 1", "waiting_changes%s} 0", "failures_total%s} 0" } do
      assert.has_match("kubelua_publish_" .. line:format(of), text, 1, true)
    end
    assert.has_match("kubelua_publish_leading" .. of .. "} 0", other, 1, true)
    end_broker()
    await(function()
      return ask(p.health, "/readyz?verbose"):find("[-]informer-sync failed: " .. url .. ": ", 1, true)
    end, "no readiness")
  end)

  it("ends, as engines do, where NATS takes connections and answers nothing", function()
    create "a"
    local p, w = publish "pods", worker()
    w:wait_line "^add\tdefault/a"
    broker:kill "STOP"
    local place = "127.0.0.1:" .. broker.port
    url = ("nats://%s,%s,%s,%s/test"):format(place, place, place, place)
    local begun = { worker("--admin-socket", "off"), publish "pods" }
    begun[1]:wait_error '"Starting"'
    local log = {}
    for _, one in ipairs { w, begun[1], p, begun[2] } do
      local start = proc.now()
      assert.are.equal(0, cluster.terminate(one), one:report())
      assert.is_true(proc.now() - start < 5, one:report())
      log[#log + 1] = one:err()
    end
    assert.is_nil(table.concat(log):find "without a clean shutdown", table.concat(log))
    broker:kill "CONT"
  end)
end)
