-- `kubelua run --from` beside a publisher that finds changes late, or whose records cannot be read.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local http = require "spec.support.api"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local pods = require "k8s".informer("pods")
  pods:on_add(function(pod, ev) print("add", pod:key(), pod:label "v" or "-", ev.initial) end)
]]

-- CI has everything.
local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local file = io.open(binary:match "^(.*)/" .. "/lib/kubelua/nats_bucket.so")
if not file or temp.run "command -v nats-server" == "" then
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "libnats-dev and nats-server are not installed")
  describe("an engine with --from", function() pending "libnats-dev and nats-server are not installed" end)
  return
end
file:close()

describe("an engine with --from", function()
  local sim, folder, broker, url

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    temp.write(folder .. "/it.lua", SCRIPT)
    broker = proc.spawn { "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", "-1" }
    broker.port = broker:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    broker:wait_error "Server is ready"
    url = "nats://127.0.0.1:" .. broker.port .. "/test"
  end)
  after_each(function()
    cluster.stop_all()
    broker:kill "KILL"
    broker:wait()
    temp.remove(folder)
  end)

  local function publish(...) return cluster.kubelua { "publish", "-s", sim.server, "--to", url, ... } end
  local function worker(...)
    return cluster.kubelua {
      "run", "-f", folder .. "/it.lua", "--from", url, env = { KUBECONFIG = "/dev/null", HOME = folder }, ...,
    }
  end
  local function create(name, labels, namespace)
    return sim.api:create("/api/v1/namespaces/" .. (namespace or "default") .. "/pods", {
      metadata = { name = name, labels = labels }, spec = { containers = { { name = "c", image = "i" } } },
    })
  end
  local function write_foreign(key, version, value)
    local head = "NATS/1.0\r\nKubelua-Version: " .. version .. "\r\n\r\n"
    temp.write(folder .. "/request", ('CONNECT {"verbose":false,"headers":true}\r\nHPUB $KV.test.%s %d %d\r\n%s%s\r\n'
      .. "PING\r\n"):format(key, #head, #head + #value, head, value))
    local reply = temp.run(("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s; cat %s/request >&3; while read -r line <&3; "
      .. "do echo \"$line\"; case $line in *PONG*) break;; esac; done'"):format(broker.port, folder))
    assert.matches("PONG", reply)
    assert.is_nil(reply:find "-ERR", reply)
  end

  it("has those of selected namespaces, also where what was deleted is found late", function()
    sim.api:create("/api/v1/namespaces", { metadata = { name = "shop" } })
    create("a", { v = "1" }, "shop")
    create("b", { v = "1" }, "shop")
    create "z"
    sim.api:patch("/api/v1/namespaces/default", { metadata = { labels = { team = "web" } } })
    temp.write(folder .. "/it.lua", [[
      local pods = require "k8s".informer("pods", { namespaces = { selector = "team=web" } })
      pods:on_add(function(pod) print("add", pod:key()) end)
      pods:on_delete(function(pod) print("delete", pod:key()) end)
    ]])
    local p, w = publish("pods", "namespaces"), worker()
    w:wait_line "^add\tdefault/z"
    sim.api:patch("/api/v1/namespaces/shop", { metadata = { labels = { team = "web" } } })
    w:wait_line "^add\tshop/a"
    w:wait_line "^add\tshop/b"
    -- One joined by a list of its own, and the mark of what a list finds deleted has the version of its last state.
    assert.are.equal(0, cluster.terminate(p), p:report())
    sim.api:delete "/api/v1/namespaces/shop/pods/a"
    p = publish("pods", "namespaces")
    w:wait_line "^delete\tshop/a"
    -- Likewise while it is not selected.
    sim.api:patch("/api/v1/namespaces/shop", { metadata = { labels = { team = "other" } } })
    w:wait_line "^delete\tshop/b"
    assert.are.equal(0, cluster.terminate(p), p:report())
    sim.api:delete "/api/v1/namespaces/shop/pods/b"
    create("c", { v = "1" }, "shop")
    sim.api:patch("/api/v1/namespaces/shop", { metadata = { labels = { team = "web" } } })
    publish("pods", "namespaces")
    w:wait_line "^add\tshop/c"
    create("d", { v = "1" }, "shop")
    w:wait_line "^add\tshop/d"
    assert.are.equal(1, select(2, w:out():gsub("add\tshop/b", "")), w:report())
  end)

  it("goes on where a record of the publisher cannot be read, which is said once and counted", function()
    create("a", { v = "1" })
    publish "pods"
    local w = worker("--metrics-bind-address", "127.0.0.1:0")
    local address = w:wait_error 'Serving metrics" address="([^"]+)"'
    w:wait_line "^add\tdefault/a\t1\ttrue"
    for _, value in ipairs { '{"items":', "[]", '{"kind":"x"}' } do write_foreign("kinds", "1", value) end
    w:wait_error 'malformed, the one before it counts".*record="kinds" err='
    create("b", { v = "1" })
    w:wait_line "^add\tdefault/b\t1\tfalse"
    local function count()
      local _, page = http.new({ server = "http://" .. address }):curl("GET", "/metrics")
      return tonumber(page:match "\nkubelua_bucket_malformed_total (%d+)")
    end
    await(function() return count() == 3 end, "three malformed records are counted")
    assert.are.equal(1, select(2, w:err():gsub("Record of the publisher is malformed", "")), w:report())
    -- One that starts now has no kinds before.
    local late = worker()
    late:wait_error "the publisher's kinds are malformed"
  end)
end)
