-- `kubelua publish` and `kubelua run --from`: engines that have objects from a bucket of NATS (nats-server), which one
-- publisher writes: what handlers see, restarts of all of them, and what that costs the API server.
local cluster = require "spec.support.cluster"
local noise = require "spec.support.noise"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local k8s = require "k8s"
  local settings = k8s.params {
    labels = { type = "string", default = "" },
    namespace = { type = "string", default = "" },
  }
  local pods = k8s.informer("pods", {
    selector = settings.labels ~= "" and settings.labels or nil,
    namespace = settings.namespace ~= "" and settings.namespace or nil,
  })
  pods:on_add(function(pod, ev) print("add", pod:key(), pod:label "v" or "-", ev.initial) end)
  pods:on_update(function(_, pod) print("update", pod:key(), pod:label "v" or "-") end)
  pods:on_delete(function(pod) print("delete", pod:key(), pod:label "v" or "-") end)
]]

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"

local function is_there(path)
  local file = io.open(path)
  return file and file:close()
end

-- CI has everything.
if not is_there(binary:match "^(.*)/" .. "/lib/kubelua/nats_bucket.so")
  or temp.run "command -v nats-server" == "" then
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "libnats-dev and nats-server are not installed")
  describe("objects from a bucket", function() pending "libnats-dev and nats-server are not installed" end)
  return
end

describe("objects from a bucket", function()
  local sim, folder, broker, url

  local function start_broker(port, ...)
    broker = proc.spawn {
      "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", tostring(port), ...,
    }
    broker.port = broker:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
    broker:wait_error "Server is ready"
    url = "nats://127.0.0.1:" .. broker.port .. "/test"
  end

  local function end_broker()
    broker:kill "KILL"
    broker:wait()
  end

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    temp.write(folder .. "/it.lua", SCRIPT)
    start_broker(-1)
  end)
  after_each(function()
    cluster.stop_all()
    end_broker()
    temp.remove(folder)
  end)

  local function publish(...)
    local p = cluster.kubelua { "publish", "-s", sim.server, "--to", url, ... }
    return p
  end

  -- Speaks the protocol of NATS without the program, until a line has `last`.
  local function talk(text, last)
    temp.write(folder .. "/request", 'CONNECT {"verbose":false,"headers":true}\r\n' .. text)
    local reply = temp.run(("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s; cat %s/request >&3; while read -r line <&3; "
      .. "do echo \"$line\"; case $line in *%s*) break;; esac; done'"):format(broker.port, folder, last))
    assert.matches(last, reply)
    assert.is_nil(reply:find "-ERR", reply)
  end
  local function write_foreign(key, version, value)
    local head = "NATS/1.0\r\nKubelua-Version: " .. version .. "\r\n\r\n"
    talk(("HPUB $KV.test.%s %d %d\r\n%s%s\r\nPING\r\n"):format(key, #head, #head + #value, head, value), "PONG")
  end

  -- Without a kubeconfig, so that it could not ask the server.
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
  local function label(name, v)
    sim.api:patch("/api/v1/namespaces/default/pods/" .. name, { metadata = { labels = { v = v } } })
  end
  local function delete(name) sim.api:delete("/api/v1/namespaces/default/pods/" .. name) end
  local function stats() return sim.api:get "/sim/stats" end

  it("come to handlers as from the server: adds, updates and deletes", function()
    create("a", { v = "1" })
    create("dotted.name", { v = "1" })
    publish "pods"
    local w = worker()
    w:wait_line "^add\tdefault/a\t1\ttrue"
    w:wait_line "^add\tdefault/dotted.name\t1\ttrue"
    create("b", { v = "1" })
    w:wait_line "^add\tdefault/b\t1\tfalse"
    label("a", "2")
    w:wait_line "^update\tdefault/a\t2"
    delete "a"
    w:wait_line "^delete\tdefault/a\t2"
    label("dotted.name", "2")
    w:wait_line "^update\tdefault/dotted.name\t2"
    assert.are.equal(0, cluster.terminate(w), w:report())
  end)

  it("are those of a selector and of a namespace, which are evaluated here", function()
    create("a", { app = "web", v = "1" })
    create("b", { v = "1" })
    sim.api:create("/api/v1/namespaces", { metadata = { name = "shop" } })
    create("c", { app = "web", v = "1" }, "shop")
    publish "pods"
    local w = worker("--param", "labels=app=web")
    w:wait_line "^add\tdefault/a\t1\ttrue"
    w:wait_line "^add\tshop/c\t1\ttrue"
    sim.api:patch("/api/v1/namespaces/default/pods/a", { metadata = { labels = { app = "other" } } })
    w:wait_line "^delete\tdefault/a"
    sim.api:patch("/api/v1/namespaces/default/pods/b", { metadata = { labels = { app = "web" } } })
    w:wait_line "^add\tdefault/b\t1\tfalse"
    local s = worker("--param", "namespace=shop")
    s:wait_line "^add\tshop/c\t1\ttrue"
    create("d", { v = "1" }, "shop")
    s:wait_line "^add\tshop/d\t1\tfalse"
    assert.is_nil(s:out():find "default/", s:report())
  end)

  it("survive restarts of NATS, which workers and the publisher wait for", function()
    create("a", { v = "1" })
    create("b", { v = "1" })
    local p, w = publish "pods", worker()
    w:wait_line "^add\tdefault/a"
    w:wait_line "^add\tdefault/b"
    end_broker()
    w:wait_error "Bucket cannot be read, retrying"
    delete "a"
    label("b", "2")
    create("c", { v = "1" })
    start_broker(broker.port)
    w:wait_line "^delete\tdefault/a\t1"
    w:wait_line "^update\tdefault/b\t2"
    w:wait_line "^add\tdefault/c\t1\tfalse"
    p:wait_error "Bucket is written again"
    -- It went on behind the last message that it had.
    assert.is_nil(w:err():find "relisting", w:report())
    assert.are.equal(0, cluster.terminate(p), p:report())
    assert.matches("Published 1 kind: %d written, 1 deleted, 0 too large", p:err())
  end)

  it("are of the kinds of scripts, or what selectors leave, and as far as they fit into a message", function()
    create("a", { app = "web", v = "1" })
    create("b", { v = "1" })
    local p, w = publish("-f", folder .. "/it.lua", "-l", "app=web"), worker()
    w:wait_line "^add\tdefault/a"
    sim.api:patch("/api/v1/namespaces/default/pods/b", { metadata = { labels = { app = "web" } } })
    w:wait_line "^add\tdefault/b"
    label("a", "2")
    w:wait_line "^update\tdefault/a\t2"
    sim.api:patch("/api/v1/namespaces/default/pods/a", { metadata = { labels = { app = "other" } } })
    w:wait_line "^delete\tdefault/a"
    assert.are.equal(0, cluster.terminate(p), p:report())
    assert.are.equal(0, cluster.terminate(w), w:report())
    -- Their data may be as large as a request.
    local revisions = { large = noise(1600000), long = ("x"):rep(1046000), small = "1" }
    for name, text in pairs(revisions) do
      temp.write(folder .. "/revision.json", ('{"metadata":{"name":"%s"},"revision":1,"data":{"x":"%s"}}')
        :format(name, text))
      sim.api:create("/apis/apps/v1/namespaces/default/controllerrevisions", "@" .. folder .. "/revision.json")
    end
    p = publish "controllerrevisions.apps"
    p:wait_error('Object exceeds the largest message of NATS %(max_payload%) or of the bucket '
      .. '%(max_msg_size%), not published" kind="controllerrevisions.apps" namespace="default" name="large"')
    temp.write(folder .. "/exec.lua", [[
      local k8s = require "k8s"
      local revisions = k8s.informer("controllerrevisions.apps")
      k8s.main(function()
        local names = {}
        for one in revisions:lister():list() do names[#names + 1] = one:name() end
        print("revisions", table.concat(names, " "))
        print("long", #revisions:lister():get("default/long").data.x)
      end)
    ]])
    local text, code = temp.run(("HOME=%s KUBECONFIG=/dev/null %s exec %s/exec.lua --from %s"):format(folder,
      cluster.binary, folder, url))
    assert.are.equal(0, code, text)
    assert.matches("\nrevisions\t[%w.%- ]*small", "\n" .. text)
    assert.is_nil(text:find "revisions\t[^\n]*large", text)
    -- One that fits once it is encoded comes as it is.
    assert.matches("\nlong\t1046000\n", text)
    assert.are.equal(0, cluster.terminate(p), p:report())
    assert.matches("1 too large", p:err())
  end)

  it("are as large as the bucket takes them, if it was made with a limit", function()
    local limits = '{"name":"KV_test","subjects":["$KV.test.>"],"max_msgs_per_subject":1,"max_msg_size":300000}'
    local request = "SUB reply 1\r\nPUB $JS.API.STREAM.CREATE.KV_test reply %d\r\n%s\r\n"
    talk(request:format(#limits, limits), "did_create")
    temp.write(folder .. "/large.json", ('{"metadata":{"name":"a"},"data":{"x":"%s"}}'):format(noise(500000)))
    sim.api:create("/api/v1/namespaces/default/configmaps", "@" .. folder .. "/large.json")
    create("a", { v = "1" })
    local p, w = publish("configmaps", "pods"), worker()
    p:wait_error 'not published" kind="configmaps" namespace="default" name="a" bytes=%d+ max=295904'
    w:wait_line "^add\tdefault/a"
    assert.are.equal(0, cluster.terminate(p), p:report())
    assert.is_nil(p:err():find "Failed to write", p:report())
  end)

  it("are read as a whole again where deletes may have been forgotten meanwhile", function()
    create("a", { v = "1" })
    create("b", { v = "1" })
    local p, w = publish "pods", worker()
    w:wait_line "^add\tdefault/a"
    w:wait_line "^add\tdefault/b"
    label("b", "2")
    w:wait_line "^update\tdefault/b\t2"
    -- A message that is not its own stops no publisher.
    write_foreign("forgotten", "1000000", "")
    label("b", "3")
    w:wait_line "^update\tdefault/b\t3"
    p:wait_error "Bucket is written again"
    end_broker()
    w:wait_error "Bucket cannot be read, retrying"
    delete "a"
    start_broker(broker.port)
    w:wait_error("relisting.*deleted objects since then may be forgotten", 60)
    w:wait_line "^delete\tdefault/a\t1"
  end)

  it("are refused where their value is no object, and those behind them are not lost", function()
    create("a", { v = "1" })
    publish "pods"
    local w = worker()
    w:wait_line "^add\tdefault/a"
    for i, value in ipairs { '{"metadata":{"name":"', '{"metadata":}', "", '{"a":"\n"}', "{}}", "[]" } do
      write_foreign("objects._.v1.pods.default.bad-" .. i, "1", value)
    end
    label("a", "2")
    w:wait_line "^update\tdefault/a\t2"
    w:wait_error "Object refused.*Pod default/bad%-1: the value in the bucket is not one object of JSON"
    w = worker()
    w:wait_line "^add\tdefault/a\t2\ttrue"
    w:wait_error '"Synced" informer="pods" objects=1'
    assert.is_nil((w:out() .. w:err()):find "Watch failed", w:report())
  end)

  it("are not written where that is denied, which is said at once", function()
    end_broker()
    temp.write(folder .. "/password", "p\n")
    temp.write(folder .. "/nats.conf", 'authorization { users = [ { user: me, password: p, permissions: { '
      .. 'publish: ["$JS.API.>"], subscribe: [">"] } } ] }')
    start_broker(-1, "-c", folder .. "/nats.conf")
    local start = proc.now()
    local p = publish("pods", "--nats-user", "me", "--nats-password-file", folder .. "/password")
    p:wait_error "Failed to write to the bucket, retrying.*[Pp]ermissions [Vv]iolation"
    assert.is_true(proc.now() - start < 4, p:report())
    assert.are.equal(0, cluster.terminate(p), p:report())
  end)

  it("are what the server has after restarts of the publisher: what was deleted meanwhile is found", function()
    create("a", { v = "1" })
    create("b", { v = "1" })
    create("c", { v = "1" })
    local p, w = publish "pods", worker()
    for _, name in ipairs { "a", "b", "c" } do w:wait_line("^add\tdefault/" .. name) end
    p:kill "KILL"
    p:wait()
    delete "a"
    label("b", "2")
    -- One that was killed has not said that it ends.
    p = publish "pods"
    p:wait_error "Another publisher may be writing, waiting until it ends or is silent"
    w:wait_line("^update\tdefault/b\t2", 60)
    w:wait_line("^delete\tdefault/a\t1", 60)
    assert.are.equal(0, cluster.terminate(p), p:report())
    assert.matches("Published 1 kind: 1 written, 1 deleted", p:err())
    delete "c"
    p = publish "pods"
    w:wait_line "^delete\tdefault/c\t1"
    -- It had said so.
    assert.is_nil(p:err():find "Another publisher", p:report())
  end)

  it("come from one publisher at a time, which ends when another one has taken over", function()
    create("a", { v = "1" })
    local first, w = publish "pods", worker()
    w:wait_line "^add\tdefault/a"
    local second = publish "pods"
    second:wait_error "Another publisher may be writing"
    first:kill "STOP"
    w:wait_error("Publisher is silent, objects may be old", 60)
    second:wait_error("Publishing", 60)
    w:wait_error("Publisher writes again", 60)
    label("a", "2")
    w:wait_line "^update\tdefault/a\t2"
    first:kill "CONT"
    assert.are.equal(3, first:wait(60), first:report())
    assert.matches("another publisher has taken over", first:err())
    label("a", "3")
    w:wait_line "^update\tdefault/a\t3"
  end)

  it("cost the server what one engine costs, however many read them, and start without a list", function()
    for i = 1, 50 do create("pod-" .. i, { v = "1" }) end
    publish "pods"
    local workers = { worker() }
    workers[1]:wait_line "^add\tdefault/pod%-50"
    local before = stats()
    for i = 2, 20 do workers[i] = worker() end
    for i = 2, 20 do
      workers[i]:wait_error('"Synced" informer="pods" objects=50', 60)
    end
    label("pod-7", "2")
    for i = 1, 20 do workers[i]:wait_line("^update\tdefault/pod%-7\t2", 60) end
    local after = stats()
    -- The one patch above, and those that read these counts.
    assert.are.equal(before.lists, after.lists)
    assert.are.equal(before.watches, after.watches)
    assert.are.equal(before.watch_lists, after.watch_lists)
    assert.are.equal(before.requests + 2, after.requests)
    assert.are.equal(before.open_watches, after.open_watches)
    -- Started again, one has its state although the publisher is gone and the server, too.
    sim:kill "KILL"
    sim:wait()
    assert.are.equal(0, cluster.terminate(workers[20]), workers[20]:report())
    local again = worker()
    again:wait_line "^add\tdefault/pod%-7\t2\ttrue"
    again:wait_error '"Synced" informer="pods" objects=50'
  end)

  it("are not had of a kind that is not published, nor before anything is, which is said", function()
    local w = worker()
    w:wait_error "there is no bucket test"
    local p = publish "configmaps"
    w:wait_error("has no pods; its publisher does not publish that kind", 60)
    assert.are.equal(0, cluster.terminate(p), p:report())
    publish("pods", "configmaps")
    create("a", { v = "1" })
    w:wait_line("^add\tdefault/a\t1", 60)
  end)

  it("are parted by namespaces among engines with --partition: each has one owner", function()
    publish("pods", "namespaces")
    temp.write(folder .. "/it.lua", [[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(function(pod) print("pod", pod:key()) end)
      k8s.informer("namespaces"):on_add(function(ns) print("namespace", ns:name()) end)
    ]])
    local engines, owners = {}, {}
    for i = 1, 12 do
      sim.api:create("/api/v1/namespaces", { metadata = { name = "n" .. i } })
      create("a", { v = "1" }, "n" .. i)
    end
    for i = 0, 2 do engines[i] = worker("--partition", i .. "/3", "--admin-socket", folder .. "/" .. i) end
    for i = 0, 2 do
      engines[i]:wait_error '"Synced" informer="pods"'
      for n = 1, 12 do engines[i]:wait_line("^namespace\tn" .. n .. "$") end
    end
    for i = 1, 12 do create("b", { v = "1" }, "n" .. i) end
    local function count()
      owners = {}
      for i = 0, 2 do
        for name in engines[i]:out():gmatch "pod\t(%S+)" do
          assert.is_nil(owners[name], name .. " has two owners")
          owners[name] = i
        end
      end
      local all = 0
      for _ in pairs(owners) do all = all + 1 end
      return all == 24
    end
    engines[0]:wait_until(function()
      for i = 1, 2 do engines[i]:pump(proc.now() + 0.05) end
      return count()
    end, "each pod has an owner")
    for i = 1, 12 do assert.are.equal(owners["n" .. i .. "/a"], owners["n" .. i .. "/b"]) end
    for i = 0, 2 do
      assert.matches("pod", engines[i]:out(), "an engine without an object")
      local text = temp.run(cluster.binary .. " status --admin-socket " .. folder .. "/" .. i)
      local line = "objects from: %s, partition %d/3: last sign of publisher "
      assert.is_truthy(text:find(line:format(url, i), 1, true), text)
      assert.matches("last sign of publisher %S+ %d+s ago", text)
    end
    end_broker()
    engines[1]:wait_error "Bucket cannot be read, retrying"
    assert.matches("objects from: .*partition 1/3: cannot be read: ",
      (temp.run(cluster.binary .. " status --admin-socket " .. folder .. "/1")))
  end)

  it("need a server for requests of scripts alone", function()
    temp.write(folder .. "/it.lua", [[
      local k8s = require "k8s"
      k8s.writes { "pods:patch" }
      k8s.informer("pods"):on_add(function(pod)
        local done, err = k8s.patch(pod, { metadata = { annotations = { seen = "yes" } } })
        print("patched", done and done.metadata.annotations.seen or err.message)
      end)
    ]])
    create("a", { v = "1" })
    publish "pods"
    local w = worker("--admin-socket", folder .. "/one")
    w:wait_line "^patched\t.*no cluster is configured, which requests of scripts need"
    assert.has_match('"Starting" version="%S+" cluster="not configured" server="" ', w:err())
    local status = temp.run(cluster.binary .. " status --admin-socket " .. folder .. "/one")
    assert.has_match("\ncluster not configured\n", status, 1, true)
    local with_server = worker("-s", sim.server)
    with_server:wait_line "^patched\tyes"
    assert.are.equal("yes", sim.api:get("/api/v1/namespaces/default/pods/a").metadata.annotations.seen)
  end)

  it("come by encrypted connections and with a login, where the server wants that", function()
    temp.write(folder .. "/password", "hunter2\n")
    temp.write(folder .. "/wrong", "hunter3\n")
    local text, code = temp.run(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
      .. "-addext subjectAltName=DNS:localhost -keyout %s/key.pem -out %s/cert.pem"):format(folder, folder))
    assert.are.equal(0, code, text)
    end_broker()
    start_broker(-1, "--user", "me", "--pass", "hunter2", "--tls", "--tlscert", folder .. "/cert.pem", "--tlskey",
      folder .. "/key.pem")
    create("a", { v = "1" })
    local login = { "--nats-user", "me", "--nats-password-file", folder .. "/password" }
    url = "tls://localhost:" .. broker.port .. "/test"
    local untrusted = publish("pods", unpack(login))
    untrusted:wait_error "Failed to write to the bucket, retrying.*[Cc]ertificate"
    login[#login + 1], login[#login + 2] = "--nats-ca-file", folder .. "/cert.pem"
    publish("pods", unpack(login))
    local w = worker(unpack(login))
    w:wait_line "^add\tdefault/a"
    login[4] = folder .. "/wrong"
    local refused = worker(unpack(login))
    refused:wait_error "Bucket cannot be read, retrying.*[Aa]uthorization"
    for _, p in ipairs { untrusted, w, refused } do assert.is_nil((p:out() .. p:err()):find "hunter", p:report()) end
    end_broker()
    start_broker(-1, "--auth", "hunter2")
    w = worker("--nats-token-file", folder .. "/password")
    w:wait_line "^add\tdefault/a"
  end)
end)
