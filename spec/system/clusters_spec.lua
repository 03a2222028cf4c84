-- Several clusters in one engine: contexts of a kubeconfig, each a simulator. What happens to one of them is of no
-- consequence for the others.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("run with several --context #threads", function()
  local home, west, east, folder, socket

  before_each(function()
    folder = temp.folder()
    socket = folder .. "/admin.sock"
    home, west, east = cluster.sim(), cluster.sim(), cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- `servers`: name to address.
  local function kubeconfig(servers)
    local clusters, contexts = {}, {}
    for name, server in pairs(servers) do
      clusters[#clusters + 1] = { name = name, cluster = { server = server } }
      contexts[#contexts + 1] = { name = name, context = { cluster = name, user = "nobody" } }
    end
    temp.write(folder .. "/config", cjson.encode {
      apiVersion = "v1", kind = "Config", clusters = clusters, contexts = contexts,
      users = { { name = "nobody", user = { token = "t" } } },
    })
    return "--kubeconfig=" .. folder .. "/config"
  end

  local function start(text, ...)
    local config = kubeconfig { home = home.server, west = west.server, east = east.server }
    temp.write(folder .. "/a.lua", text)
    return cluster.run(config, folder .. "/a.lua", {
      "--context", "home", "--context", "west", "--context", "east", "--admin-socket", socket, ... })
  end

  local function config_map(name, data)
    return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
  end

  local function add(sim, name)
    sim.api:request("POST", "/api/v1/namespaces/default/configmaps", config_map(name, { a = "b" }))
  end

  local function status()
    local p = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
    assert.are.equal(0, p:wait(), p:report())
    return cjson.decode(p:out())
  end

  local WATCH = [[
    local k8s = require "k8s"
    for _, name in ipairs { "home", "west", "east" } do
      local maps = k8s.cluster(name):informer("configmaps", { namespace = "default" })
      maps:on_add(function(map) print("MARK " .. name .. " " .. map:name()) end)
    end
  ]]

  it("watches each of them", function()
    local engine = start(WATCH)
    add(home, "one")
    add(west, "two")
    add(east, "three")
    local told = {} -- in any order
    for i = 1, 3 do told[i] = engine:wait_line "^MARK (.*)$" end
    table.sort(told)
    assert.are.same({ "east three", "home one", "west two" }, told)
    local names = {}
    for _, one in ipairs(status().informers) do names[#names + 1] = one.name end
    table.sort(names)
    assert.are.same({ "configmaps in default", "east: configmaps in default", "west: configmaps in default" }, names)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Synced" informer="west: configmaps in default"', engine:err(), 1, true)
  end)

  it("goes on while one does not respond, is forbidden, or comes late", function()
    west:kill "STOP"
    east:forbid("configmaps", "not for you")
    local engine = start(WATCH)
    add(home, "one")
    engine:wait_line "^MARK home one$"
    await(function()
      for _, one in ipairs(status().informers) do
        if one.cluster == "east" and one.state == "forbidden" then return true end
      end
    end, "the refusal", 30)
    assert.is_true(status().engine.ready)
    temp.write(folder .. "/a.lua", (WATCH:gsub("MARK", "NEXT")))
    local reload = cluster.kubelua { "reload", "--admin-socket", socket }
    assert.are.equal(0, reload:wait(40), reload:report())
    engine:wait_line "^NEXT home one$"
    west:kill "CONT"
    add(west, "two")
    engine:wait_line "^NEXT west two$"
    east:play { ["do"] = "clear" }
    add(east, "three")
    engine:wait_line "^NEXT east three$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)

  it("names the one that is unreachable, unless it is the home cluster", function()
    local engine = start(WATCH)
    add(home, "one")
    add(west, "two")
    for _ = 1, 2 do engine:wait_line "^MARK (.*)$" end
    west:kill "KILL"
    engine:wait_error('"Server unreachable, retrying" server="' .. west.server .. '" err="[^"]+" cluster="west"')
    home:kill "KILL"
    engine:wait_error('"Server unreachable, retrying" server="' .. home.server .. '" err="[^"]+"')
    assert.is_nil(engine:err():match('"' .. home.server .. '" err="[^"]+" cluster='))
  end)

  it("names the one whose cache is read before it is synced", function()
    local engine = start([[
      local k8s = require "k8s"
      for _, name in ipairs { "home", "west" } do
        local maps = k8s.cluster(name):informer("configmaps", { namespace = "default" })
        maps:on_add(function() end)
        maps:lister():get("default/one")
      end
    ]])
    engine:wait_error '"Cache was read before it was synced, [^\n]* informer="configmaps"'
    engine:wait_error '"Cache was read before it was synced, [^\n]* informer="west: configmaps"'
  end)

  it("writes to the one that is named, and says so in the log of writes and in metrics", function()
    local engine = start([[
      local k8s = require "k8s"
      k8s.writes { "configmaps:create" }
      k8s.command("make", function(name)
        local made, err = k8s.cluster(name):create {
          apiVersion = "v1", kind = "ConfigMap", metadata = { name = "made", namespace = "default" } }
        return made and made:name() or tostring(err)
      end)
    ]], "--audit-log", folder .. "/audit.log", "--metrics-bind-address", "127.0.0.1:0")
    await(function() return os.rename(socket, socket) end, "the socket", 30)
    local function call(name)
      local p = cluster.kubelua { "call", "make", name, "--admin-socket", socket }
      p:wait(30)
      return p:out()
    end
    local function writes(...)
      local p = cluster.kubelua { "writes", "--admin-socket", socket, ... }
      assert.are.equal(0, p:wait(30), p:report())
      return p:out()
    end
    assert.are.equal("made\n", call "home")
    assert.has_match("^TIME +SCRIPT +VERB +RESOURCE +OBJECT +RESULT\n%S+ +%S+ +create +configmaps +default/made +ok\n$",
      writes())
    assert.are.equal("made\n", call "west")
    assert.has_match("already exists", call "west")
    assert.has_match("^TIME +CLUSTER +SCRIPT +VERB +RESOURCE +OBJECT +RESULT\n"
      .. "%S+ +%- +%S+ +create +configmaps +default/made +ok\n"
      .. "%S+ +west +%S+ +create +configmaps +default/made +ok\n"
      .. "%S+ +west +%S+ +create +configmaps +default/made +AlreadyExists\n$", writes())
    assert.has_match("^TIME +CLUSTER +SCRIPT +VERB +RESOURCE +OBJECT +RESULT +DRY%-RUN +HANDLER +TRIGGER +MANAGER "
      .. "+MESSAGE\n", writes "-owide")
    local metrics = temp.run("curl -s http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' .. "/metrics")
    for _, labels in ipairs { 'west",verb="create",resource="configmaps",code="201', 'west",verb="create",resource='
      .. '"configmaps",code="409', '",verb="create",resource="configmaps",code="201' } do
      assert.has_match('kubelua_writes_total{script="[^"]+",cluster="' .. labels .. '"} 1\n', metrics)
    end
    assert.are.equal(0, cluster.terminate(engine))
    local entries = {}
    for line in io.lines(folder .. "/audit.log") do
      local entry = cjson.decode(line)
      entries[#entries + 1] = (entry.cluster or "-") .. " " .. entry.result
    end
    assert.are.same({ "- ok", "west ok", "west AlreadyExists" }, entries)
    local path = "/api/v1/namespaces/default/configmaps"
    assert.are.equal(0, #east.api:get(path).items)
  end)

  it("runs the examples of its page", function()
    local blocks = {}
    for _, block in ipairs(require "spec.support.examples".blocks "docs/clusters.md") do
      if block.language == "lua" then blocks[#blocks + 1] = block.text end
    end
    assert.are.equal(2, #blocks)
    local map = config_map("a", { x = "y" })
    map.metadata.labels = { copy = "west" }
    home.api:request("POST", "/api/v1/namespaces/default/configmaps", map)
    local engine = start(blocks[1])
    await(function()
      local items = west.api:get("/api/v1/namespaces/default/configmaps").items
      return items[1] and items[1].data.x == "y"
    end, "the copy", 30)
    assert.are.equal(0, cluster.terminate(engine))
    engine = start(blocks[2])
    await(function()
      return engine:out():find "home%s+default/a\n" and engine:out():find "west%s+default/a\n"
    end, "both", 30)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)

  it("shows them in the status", function()
    west:kill "STOP"
    local engine = start(WATCH)
    engine:wait_error '"Synced" informer="east: configmaps'
    local p = cluster.kubelua { "status", "--admin-socket", socket }
    assert.are.equal(0, p:wait(), p:report())
    assert.has_match("CLUSTER%s+SERVER%s+SOURCE%s+STATE", p:out())
    assert.has_match("home %(home%)%s+" .. home.server:gsub("%p", "%%%0") .. "%s.-context home%s+ok\n", p:out())
    assert.has_match("\nwest%s.-context west%s+waiting for discovery\n", p:out())
    assert.has_match("\neast%s.-context east%s+ok\n", p:out())
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("ends within its time while one hangs", function()
    west:kill "STOP"
    local engine = start(WATCH)
    add(home, "one")
    engine:wait_line "^MARK home one$"
    assert.are.equal(0, cluster.terminate(engine, 20))
  end)

  it("refuses what it cannot mean", function()
    local config = kubeconfig { home = home.server, west = west.server }
    temp.write(folder .. "/a.lua", [[require "k8s"]])
    local function refused(...)
      local p = cluster.run(config, folder .. "/a.lua", { ... })
      assert.are.equal(2, p:wait(20), p:report())
      return p:err()
    end
    assert.has_match('--context: "home" is given twice', refused("--context", "home", "--context", "home"), 1, true)
    assert.has_match('context "wset" does not exist', refused("--context", "home", "--context", "wset"), 1, true)
    assert.has_match("--server and several --context are mutually exclusive",
      refused("--context", "home", "--context", "west", "--server", home.server), 1, true)
    temp.write(folder .. "/a.lua", [[require("k8s").cluster "wset"]])
    assert.has_match('k8s.cluster: unknown cluster "wset"; there are home, west',
      refused("--context", "home", "--context", "west"), 1, true)
  end)
end)
