-- Live reads of a real API server: over TLS and HTTP/2, with its own words for what goes wrong.
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"
local live = require "spec.support.live"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

local configmaps = colours.path

describe("live reads of the real API server", function()
  local server, admin

  setup(function()
    server = apiserver.start()
    admin = server:api()
    live.fill(admin, function() return { own = "yes" } end)
  end)

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  local function start(...) return live.start("--kubeconfig=" .. server.kubeconfig, ...) end
  local function run(...) return live.run("--kubeconfig=" .. server.kubeconfig, ...) end

  -- Patches a config map, "round" by "round" up to "end", over one connection: one of each would be slow.
  local function patch_often(name, rounds)
    local file = temp.name()
    local out = assert(io.open(file, "w"))
    for i = 1, rounds do
      local round = i == rounds and "end" or tostring(i)
      if i > 1 then out:write "next\n" end
      out:write(("url=%s%s/%s\nrequest=PATCH\ncacert=%s\ncert=%s\nkey=%s\noutput=/dev/null\n"):format(
        server.url, configmaps, name, server.ca, server.cert, server.key))
      out:write('header="Content-Type: application/merge-patch+json"\n')
      out:write(('data="{\\"data\\":{\\"round\\":\\"%s\\"}}"\n'):format(round))
    end
    out:close()
    local status = os.execute("curl --silent --show-error --config " .. file .. " >/dev/null")
    os.remove(file)
    assert.are.equal(0, status)
  end

  it("return objects, lists in pages, and the server's errors", function()
    local out = run [[
      local map = k8s.get("cm", "default/map-2")
      print(map.kind, map.data.colour)
      print(k8s.get("cm", "default/none"))
      print(names(k8s.list("cm", { selector = "own=yes", chunk_size = 1 })))
      print(names(k8s.list("cm", { selector = "own=yes", chunk_size = 1, limit = 2 })))
      print(names(k8s.list("cm", { namespace = "default", field_selector = "metadata.name=map-3" })))
      local count = 0
      for page in k8s.pages("cm", { selector = "own=yes", chunk_size = 2 }) do count = count + #page end
      print(count)
    ]]
    assert.are.equal('ConfigMap\tgreen\nnil\tconfigmaps "none" not found\n' ..
      "map-1 map-2 map-3\nmap-1 map-2\nmap-3\n3\n", out)
  end)

  it("are of the version that is requested (A-1)", function()
    local out = run [[
      local _, before = k8s.list("cm", { selector = "own=yes" })
      for _, match in ipairs { "NotOlderThan", "Exact" } do
        local options = { selector = "own=yes", resource_version = before, resource_version_match = match }
        print(names(k8s.list("cm", options)))
      end
      print(names(k8s.list("cm", { selector = "own=yes", resource_version = "0" })))
      local _, err = k8s.list("cm", { resource_version = "9999999999" })
      print(err.code, err.reason, err.retry_after)
    ]]
    assert.are.equal(("map-1 map-2 map-3\n"):rep(3) .. "504\tTimeout\t1\n", out)
  end)

  -- RW-2
  it("are denied to whom they are", function()
    local out = run([[
      local list, err = k8s.list("cm")
      print(list, err.code, err.reason)
      for ev in k8s.watch("cm", { resource_version = "1" }) do show(ev) end
    ]], "--context=nobody")
    assert.has_match('^nil\t403\tForbidden\nERROR\tStatus\t403\tForbidden\t.*User "nobody" cannot watch', out)
  end)

  it("deliver every event of a watch, and resume it", function()
    local between = relay.start(server.url)
    local engine = start([[
      local maps = watch()
      print "ready"
      for ev in maps do
        show(ev)
        if ev.type == "DELETED" then maps:close() end
      end
    ]], "--server=" .. between.url)
    engine:wait_line "^ready$"
    admin:create(configmaps, colours.map("new", "white"))
    engine:wait_line "^ADDED\tnew\twhite$"
    between:cut()
    between:mend()
    admin:patch(configmaps .. "/new", { data = { colour = "black" } })
    engine:wait_line("^MODIFIED\tnew\tblack$", 30)
    admin:delete(configmaps .. "/new")
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("ready\nADDED\tnew\twhite\nMODIFIED\tnew\tblack\nDELETED\tnew\tblack\n", engine:out())
    assert.has_match("Watch failed, retrying", engine:err())
    between:stop()
  end)

  it("report that their pages or their version expired", function()
    local engine = start [[
      local go, seen = watch(), {}
      local _, version = k8s.list("cm")
      local ok, err = pcall(function()
        for page in k8s.pages("cm", { chunk_size = 1 }) do
          seen[#seen + 1] = page
          if #seen == 1 then
            print "first"
            go()
          end
        end
      end)
      print(ok, err.code, err.reason)
      for ev in k8s.watch("cm", { resource_version = version }) do show(ev) end
    ]]
    engine:wait_line "^first$"
    server:expire()
    admin:patch(configmaps .. "/map-1", { data = { colour = "black" } })
    assert.are.equal(0, engine:wait(60), engine:err())
    assert.has_match("first\nfalse\t410\tExpired\nERROR\tStatus\t410\tExpired\t", engine:out())
  end)

  -- A watch that waits for its script has a connection of its own; the server may end it meanwhile.
  it("may be slow without holding up the caches", function()
    local slow = cluster.script(live.prelude .. [[
      k8s.main(function()
        local maps, go = watch { field_selector = "metadata.name=large" }, watch { field_selector = "metadata.name=go" }
        print "ready"
        go()
        local count, last = 0, 0
        for ev in maps do
          assert(tonumber(ev.object:resource_version()) > last, "out of order")
          last, count = tonumber(ev.object:resource_version()), count + 1
          if ev.object.data.round == "end" then print("slow", count) end
        end
      end)
    ]])
    local cache = cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_update(function(_, new) if new:name() == "large" then print("cache", new.data.round) end end)
      k8s.main(function() print "synced" end)
    ]]
    local large = colours.map("large", "white")
    large.data.text = ("x"):rep(20000)
    admin:create(configmaps, large)
    local engine = cluster.kubelua { "run", "--kubeconfig=" .. server.kubeconfig, "-f", slow, "-f", cache }
    engine:wait_line "^ready$"
    if not engine:out():find "synced" then engine:wait_line "^synced$" end
    local rounds = 500 -- more than wait in the engine
    patch_often("large", rounds)
    engine:wait_line("^cache\tend$", 30)
    assert.is_nil(engine:out():find "slow")
    admin:create(configmaps, colours.map("go", "white"))
    engine:wait_line("^slow\t" .. rounds .. "$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("read paths as JSON or text, and the error of logs where no kubelet is", function()
    admin:create("/api/v1/nodes", { kind = "Node", apiVersion = "v1", metadata = { name = "n1" } })
    admin:create("/api/v1/namespaces/default/pods", {
      kind = "Pod", apiVersion = "v1", metadata = { name = "web" },
      spec = { nodeName = "n1", containers = { { name = "c", image = "i" } } },
    })
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "pods/log:get", "/version", "/readyz", "/api/v1/namespaces/*/configmaps" }
      k8s.reads { "/apis/metrics.k8s.io/v1beta1/nodes" }
      k8s.main(function()
        print(k8s.raw { path = "/version" }.major, k8s.raw { path = "/readyz" })
        print(k8s.raw { path = "/api/v1/namespaces/default/configmaps", query = { limit = 1 } }.kind)
        print(select(2, k8s.raw { path = "/apis/metrics.k8s.io/v1beta1/nodes" }).code)
        local none, err = k8s.logs("default/web")
        print(none, err.code, err.message)
        local ok, raised = pcall(function() return k8s.logs("default/web", { follow = true })() end)
        print(ok, raised.code, raised.message)
        print(select(2, k8s.logs "default/none").reason)
      end)
    ]]
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, script }
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.has_match("^1\tok\nConfigMapList\n404\n", engine:out())
    assert.has_match("\nnil\t500\tno preferred addresses found[^\n]*\nfalse\t500\tno preferred [^\n]+\nNotFound\n$",
      engine:out())
  end)

  it("wait for a server that is away for a moment", function()
    local engine = start [[
      local maps = watch()
      print "ready"
      for ev in maps do
        if ev.type ~= "ERROR" and ev.object:name() == "after" then show(ev) break end
      end
    ]]
    engine:wait_line "^ready$"
    server:cut(1000)
    await(function()
      return admin:curl("POST", configmaps, colours.map("after", "white")) == 201
    end, "the server back")
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("ready\nADDED\tafter\twhite\n", engine:out())
  end)
end)
