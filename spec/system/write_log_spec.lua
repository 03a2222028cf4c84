-- What scripts wrote: `kubelua writes`, --audit-log, kubelua_writes_total.
local cjson = require "cjson"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, data)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
end

-- Writes by a handler, which waits in between, by a timer and by main.
local writer = [[
  local k8s = require "k8s"
  k8s.writes { "configmaps:*", "secrets:*", "configmaps/status:patch" }
  local maps = k8s.informer "configmaps"
  local function map(name)
    return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" } }
  end
  maps:add_event_handler { id = "marker", OnUpdate = function(_, new)
    if new:name() ~= "watched" or new:label "done" then return end
    k8s.sleep(0.01)
    assert(k8s.patch(new, { metadata = { labels = { done = "yes" } } }, { manager = "painter", lock = true }))
    print "handler"
  end }
  k8s.after(0.05, function()
    k8s.delete(map "none")
    print "timer"
  end)
  k8s.main(function()
    local made = map()
    made.metadata.generateName = "made-"
    k8s.create(made)
    k8s.patch(map "none", { status = {} }, { subresource = "status" })
    local secret = { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "default" } }
    secret.data = { password = "aHVudGVyMg==" }
    k8s.create(secret)
    k8s.update(secret)
    print "main"
  end)
]]

local function decode_lines(text)
  local entries = {}
  for line in text:gmatch "[^\n]+" do entries[#entries + 1] = cjson.decode(line) end
  return entries
end

local function find(entries, verb, resource)
  for _, entry in ipairs(entries) do
    if entry.verb == verb and entry.resource == resource then return entry end
  end
end

describe("the audit trail #threads", function()
  local sim, folder

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function writes(...)
    local p = cluster.kubelua { "writes", "--admin-socket", folder .. "/admin.sock", ... }
    local code = p:wait(30)
    return p:out(), code, p:err()
  end

  it("reports who wrote what, why, and with which result", function()
    sim.api:create(configmaps, configmap("watched", { n = "1" }))
    sim:play { ["do"] = "fault", verb = "update", resource = "secrets", what = "status", code = 422, reason = "Invalid",
      message = 'Secret "s" is invalid: data[password]: Invalid value: "aHVudGVyMg=="' }
    local script, log = cluster.script(writer), folder .. "/audit.log"
    local engine = cluster.run(sim.server, script, {
      "--admin-socket", folder .. "/admin.sock", "--audit-log", log, "--metrics-bind-address", "127.0.0.1:0",
    })
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    for _ = 1, 2 do engine:wait_line "^[mt]" end
    sim.api:patch(configmaps .. "/watched", { data = { n = "2" } })
    engine:wait_line "^handler$"

    local text = writes "-ojson"
    local told = cjson.decode(text)
    assert.are.equal(6, told.total)
    assert.are.equal(6, #told.writes)
    local by_handler = find(told.writes, "patch", "configmaps")
    assert.are.same({ "marker", "OnUpdate default/watched", "default/watched", "painter", "ok" }, {
      by_handler.handler, by_handler.trigger, by_handler.object, by_handler.manager, by_handler.result })
    local sum = temp.run("sha256sum " .. script):sub(1, 12)
    assert.are.equal(script:gsub("%.lua$", "") .. "@" .. sum, by_handler.script)
    local map = sim.api:get(configmaps .. "/watched")
    assert.are.equal(map.metadata.resourceVersion, by_handler.resourceVersion)
    assert.has_match("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$", by_handler.time)
    assert.is_nil(by_handler.dryRun)

    local by_timer = find(told.writes, "delete", "configmaps")
    assert.are.same({ "timer", "NotFound", 404, 'configmaps "none" not found' }, {
      by_timer.trigger, by_timer.result, by_timer.code, by_timer.message })
    assert.has_match("%.lua:%d+$", by_timer.handler)
    local by_main = find(told.writes, "create", "configmaps")
    assert.are.equal("main", by_main.handler)
    assert.has_match("^default/made%-%w+$", by_main.object)
    assert.are.equal("NotFound", find(told.writes, "patch", "configmaps/status").result)
    local refused = find(told.writes, "update", "secrets")
    assert.are.same({ "Invalid", 422 }, { refused.result, refused.code })
    assert.is_nil(refused.message)

    assert.are.same(told.writes, decode_lines(temp.read(log)))
    assert.has_match("600", (temp.run("stat --format %a " .. log)))
    for _, said in ipairs { text, temp.read(log), engine:err() } do
      assert.is_nil(said:find "aHVudGVyMg")
    end

    local table_text = writes()
    assert.has_match("^TIME +SCRIPT +VERB +RESOURCE +OBJECT +RESULT\n", table_text)
    assert.has_match("patch +configmaps +default/watched +ok", table_text)
    assert.has_match("OnUpdate default/watched +painter", (writes "-owide"))
    assert.has_match('\n- time: "', (writes "-oyaml"))

    local code, metrics = http:curl("GET", "/metrics")
    assert.are.equal(200, code)
    local function counted(verb, status)
      local labels = ('cluster="",verb="%s",resource="configmaps",code="%s"'):format(verb, status)
      assert.has_match('kubelua_writes_total{script="[^"]+",' .. labels .. '} 1\n', metrics)
    end
    counted("patch", 200)
    counted("delete", 404)
    counted("create", 201)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("reports the key that a worker had", function()
    local script, log = cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:delete" }
      local q = k8s.queue { name = "jobs" }
      q:run(function(key)
        k8s.delete { kind = "cm", namespace = "default", name = "absent" }
        print("worked on " .. key)
      end)
      k8s.main(function() q:add "shop/web" end)
    ]], folder .. "/audit.log"
    local engine = cluster.run(sim.server, script, { "--audit-log", log })
    engine:wait_line "^worked on shop/web$"
    assert.are.equal(0, cluster.terminate(engine))
    local entry = find(decode_lines(temp.read(log)), "delete", "configmaps")
    assert.are.same({ "queue jobs", "key shop/web" }, { entry.handler, entry.trigger })
  end)

  it("are listed in the order in which they began", function()
    sim:play { ["do"] = "fault", path = "/api/v1/namespaces/default/configmaps/slow", what = "delay", ["for"] = "1s" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:delete" }
      local function delete(name) k8s.delete { kind = "cm", namespace = "default", name = name } end
      k8s.after("1ms", function()
        k8s.after("100ms", function() delete "quick" end)
        delete "slow"
        print "done"
      end)
    ]], { "--admin-socket", folder .. "/admin.sock" })
    engine:wait_line "^done$"
    assert.has_match("^TIME [^\n]+\n[^\n]+default/slow [^\n]+\n[^\n]+default/quick ", (writes()))
    local ended = cjson.decode((writes "-ojson")).writes
    assert.are.same({ "default/quick", "default/slow" }, { ended[1].object, ended[2].object })
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("keeps the last 1,000, and appends to its file", function()
    local log = folder .. "/audit.log"
    local function run(body, ...)
      local script = cluster.script('local k8s = require "k8s"\nk8s.writes { "configmaps:*" }\n' .. body)
      return cluster.run(sim.server, script, { "--admin-socket", folder .. "/admin.sock", "--audit-log", log, ... })
    end
    local engine = run([[
      k8s.main(function()
        local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "m", namespace = "default" } }
        for i = 1, 1010 do
          map.metadata.name = "m" .. i
          assert(k8s.create(map))
        end
        print "done"
      end)
    ]], "--dry-run=client", "--limit", "writes=2000")
    engine:wait_line("^done$", 30)
    local told = cjson.decode((writes "-ojson"))
    assert.are.equal(1010, told.total)
    assert.are.equal(1000, #told.writes)
    assert.are.equal("default/m11", told.writes[1].object)
    assert.are.equal("default/m1010", told.writes[1000].object)
    assert.are.equal("client", told.writes[1].dryRun)
    assert.has_match("ok %(dry run%)", (writes()))
    assert.has_match("The last 1000 of 1010 writes\n$", (writes()))
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(1010, #decode_lines(temp.read(log)))
    engine = run [[
      k8s.main(function()
        k8s.delete { kind = "cm", namespace = "default", name = "x" }
        print "done"
      end)
    ]]
    engine:wait_line "^done$"
    assert.are.equal(0, cluster.terminate(engine))
    local entries = decode_lines(temp.read(log))
    assert.are.equal(1011, #entries)
    assert.are.equal("NotFound", entries[1011].result)
  end)

  it("goes on in a new file when SIGHUP reports that the old one was moved", function()
    local inner = folder .. "/logs"
    local log, old = inner .. "/audit.log", inner .. "/audit.log.1"
    temp.run("mkdir " .. inner)
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:*" }
      local n = 0
      k8s.every(0.01, function()
        n = n + 1
        k8s.create { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "m" .. n, namespace = "default" } }
      end)
    ]], { "--dry-run=client", "--audit-log", log })
    local function lines(path)
      local file = io.open(path)
      local text = file and file:read "*a" or ""
      if file then file:close() end
      return decode_lines(text:match "^(.*\n)" or "")
    end
    local function await_more(path)
      local count = #lines(path)
      await(function() return #lines(path) > count + 3 end, path)
    end
    await_more(log)
    assert(os.rename(log, old))
    await_more(old)
    engine:kill "HUP"
    await_more(log)
    engine:wait_error('Audit log reopened" file="' .. log)
    assert.has_match("600", (temp.run("stat --format %a " .. log)))

    -- Where that is not possible the old file is better than none.
    local away = folder .. "/away"
    assert(os.rename(inner, away))
    engine:kill "HUP"
    engine:wait_error('Failed to reopen audit log, still using the old file" err="' .. log .. ": No such")
    await_more(away .. "/audit.log")
    assert(os.rename(away, inner))
    engine:kill "HUP"
    assert.are.equal(0, cluster.terminate(engine))
    local n = 0
    for _, path in ipairs { old, log } do
      for _, entry in ipairs(lines(path)) do
        n = n + 1
        assert.are.equal("default/m" .. n, entry.object)
      end
    end
  end)

  it("goes on at a SIGHUP without a file", function()
    local engine = cluster.run(sim.server, cluster.script "require('k8s').main(function() print 'up' end)")
    engine:wait_line "^up$"
    engine:kill "HUP"
    engine:wait_error "Checking all scripts for changes"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has writes whose end nobody waited for", function()
    sim:play { ["do"] = "fault", resource = "configmaps", verb = "create", what = "silence" }
    local script = cluster.script(writer .. "\nk8s.after(0, function() print 'go' end)")
    local log = folder .. "/audit.log"
    local engine = cluster.run(sim.server, script, { "--audit-log", log, "--shutdown-timeout", "1s" })
    engine:wait_line "^timer$"
    assert.are.equal(0, cluster.terminate(engine))
    local entry = find(decode_lines(temp.read(log)), "create", "configmaps")
    assert.are.equal("Cancelled", entry.result)
    assert.has_match("may have been applied", entry.message)
  end)

  it("reports a file that cannot be opened", function()
    local script = cluster.script "local k8s = require 'k8s' k8s.main(function() end)"
    local p = cluster.kubelua { "exec", "--server=" .. sim.server, script, "--audit-log", folder .. "/no/file" }
    assert.are.equal(2, p:wait(30))
    assert.has_match("%-%-audit%-log: .*/no/file: No such file", p:err())
    local text, code, err = writes()
    assert.are.same({ "", 2 }, { text, code })
    assert.has_match("^kubelua writes: ", err)
  end)

  it("does not end the engine when its file does not take it", function()
    local body = [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:*" }
      k8s.main(function()
        local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "m", namespace = "default" } }
        for _ = 1, 3 do k8s.delete(map) end
        while true do
          k8s.delete(map)
          k8s.sleep(0.01)
        end
      end)
    ]]
    local engine = cluster.run(sim.server, cluster.script(body), { "--audit-log", "/dev/full" })
    engine:wait_error 'Failed to write the audit log, retrying" file="/dev/full" err="No space left'
    local before = proc.now()
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_true(proc.now() - before < 10)
    assert.are.equal(1, select(2, engine:err():gsub("audit log", "")))
  end)
end)
