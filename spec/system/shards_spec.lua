-- Engines that share the objects of an informer (run --shard), on the simulated server: each object has one owner at a
-- time, also when replicas are killed, frozen or cut off; and what a script, the status and the metrics show of it.
-- `./dev prove shards` has long random histories, on a real server too.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local ffi = require "ffi"
local history = require "spec.support.shard_history"
local proc = require "spec.support.proc"
local relay = require "spec.support.relay"
local shards = require "spec.support.shards"
local temp = require "spec.support.temp"

local function pause(seconds) ffi.C.poll(nil, 0, seconds * 1000) end

local MAPS = "/api/v1/namespaces/default/configmaps"

local function object_of(name)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name } }
end

describe("replicas that share objects #threads", function()
  local group, sim, folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    if group then group:stop() end
    group = nil
    temp.remove(folder)
  end)

  -- Changes one object after the other until the members have shared all again.
  local function settle()
    local ends = proc.now() + 1
    repeat
      local name = "m" .. math.random(group.total)
      group:write(sim.api, "/api/v1/namespaces/work/configmaps/" .. name, name)
    until proc.now() > ends
    group:settle()
  end

  local function start_group(total, args)
    sim = cluster.sim(args)
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "work" } })
    for i = 1, total do sim.api:create("/api/v1/namespaces/work/configmaps", object_of("m" .. i)) end
    group = shards.group {
      server = sim.server, kind = "configmaps", namespace = "work", lease = 3, total = total,
    }
    group:start()
    group:settle()
  end

  local function change(fn)
    group.changes = group.changes + 1
    fn(group.members[math.random(#group.members)])
    settle()
  end

  local function kill(member)
    group:kill(member)
    group:start()
  end

  local function freeze(member)
    local thaw = group:fault("freeze", member)
    pause(4.5)
    thaw()
  end

  local function cut_off(member)
    local mend = group:fault("hold", member)
    pause(4.5)
    mend()
  end

  local function leave(member) assert.equal(0, group:terminate(member)) end

  for mode, changes in ipairs { { kill, freeze }, { cut_off, leave } } do
    local server = mode == 1 and "" or ", with a server that selects"
    it("have one owner for each object, whatever happens to them (A-7)" .. server, function()
      start_group(60, { "--shards", server == "" and "off" or "on" })
      change(function() group:start() group:start() end)
      for _, member in ipairs(group.members) do
        assert.is_true(member.have > 8 and member.have < 34, member.have) -- a third of 60 by a hash
      end
      for _, one in ipairs(changes) do change(one) end
      local count = group:check { failover = history.failover(3) + 1, handover = history.handover(3) + 1, list = 8,
        kept = 5 }
      assert.is_true(count.calls > 60 and count.lost > 0)
      assert.is_true(count.waits.all < 12, count.waits.all) -- two leases, three looks, a retry, and a list
    end)
  end

  it("move what they have left together, beside the I/O thread", function()
    sim = cluster.sim { "--pods", "2500", "--shards", "on" }
    group = shards.group { server = sim.server, kind = "pods", namespace = "", lease = 10,
      total = sim.api:get("/sim/stats").resources.pods.objects, args = { "-v1" } }
    local first = group:start()
    group:settle(120)
    group:start()
    group:start()
    group:settle(120)
    local pass = '"Objects moved together" unusedBytes=(%d+) unusedBytesBefore=(%d+)'
    await(function()
      local before, after = 0, 0
      for left, had in temp.read(first.err):gmatch(pass) do
        before, after = math.max(before, tonumber(had)), tonumber(left)
      end
      return before > 2000000 and after < before / 2
    end, function() return "few bytes unused: " .. temp.read(first.err) end, 60)
  end)

  local function configure(text, args)
    local socket = folder .. "/admin.sock"
    local all = { "--shard=team", "--shard-lease-duration=3s", "--admin-socket", socket,
      "--metrics-bind-address", "127.0.0.1:0" }
    for _, arg in ipairs(args or {}) do all[#all + 1] = arg end
    return cluster.run(sim.server, cluster.script(text), all), socket
  end

  it("are seen by scripts, in the status and in metrics", function()
    sim = cluster.sim()
    sim.api:create(MAPS, object_of "a")
    local engine, socket = configure [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { shard = true, field_selector = "metadata.name=a" })
      local whole = k8s.informer "secrets"
      maps:on_add(function(map, ev)
        local status = k8s.shard.status()
        print(ev.shard, ev.initial, k8s.shard.owns(map), k8s.shard.owns "shop", k8s.shard.owns(map:copy()))
        print(status.group, status.members, status.ranges, status.share, status.lease:match "^team%-")
        print("partial", maps:status().partial, whole:status().partial)
      end)
    ]]
    engine:wait_line "^nil\ttrue\ttrue\ttrue\ttrue$"
    engine:wait_line "^team\t1\t1\t1\tteam%-$"
    engine:wait_line "^partial\ttrue\tfalse$"
    local metrics = engine:wait_error 'Serving metrics" address="([^"]+)"'
    local _, page = api.new({ server = "http://" .. metrics }):curl("GET", "/metrics")
    assert.has_match('\nkubelua_shard_members{group="team"} 1\n', page, 1, true)
    assert.has_match('\nkubelua_shard_slots{group="team"} 4096\n', page, 1, true)
    assert.has_match('\nkubelua_shard_slot_changes_total{group="team",change="gained"} 4096\n', page, 1, true)
    local status = cjson.decode((temp.run(cluster.binary .. " status -o json --admin-socket " .. socket)))
    local own = status.engine.shard
    assert.same({ "default", "team", 1, 4096, 1, 1, 1, 0 }, { own.namespace, own.group, own.members, own.slots,
      own.ranges, own.informers, own.objects, own.informersBehind })
    assert.is_true(status.informers[1].partial)
    assert.has_match("default/team: 1 replicas; this one has 4096 of 4096 slots (100.0 %) in 1 ranges",
      (temp.run(cluster.binary .. " status --admin-socket " .. socket)), 1, true)
    assert.equal(0, cluster.terminate(engine))
    local lease = sim.api:get("/apis/coordination.k8s.io/v1/namespaces/default/leases").items[1]
    assert.equal("", lease.spec.holderIdentity)
    assert.equal("team", lease.metadata.labels["kubelua.dev/shard"])
  end)

  it("share the kinds of --shard-kinds too, but not those of rules; without --shard each has all", function()
    sim = cluster.sim()
    local text = [[
      local k8s = require "k8s"
      local maps = k8s.informer("cm", { selector = "a=b" })
      local whole = k8s.informer("configmaps", { shard = false })
      maps:on_add(function(_, ev) print("shared", ev.shard) end)
      whole:on_add(function(_, ev) print("whole", ev.shard, k8s.shard.status() and 1) end)
      k8s.rule { id = "r", kinds = { "configmaps" }, check = function() return true end }
    ]]
    local map = object_of "a"
    map.metadata.labels = { a = "b" }
    sim.api:create(MAPS, map)
    local engine = configure(text, { "--shard-kinds", "configmaps=namespace" })
    engine:wait_line "^shared\tnil$"
    assert.equal(0, cluster.terminate(engine))
    assert.has_match("\nwhole\tnil\t1\n", "\n" .. engine:out(), 1, true)
    engine = cluster.run(sim.server, cluster.script((text:gsub('selector = "a=b"', "shard = true"))))
    engine:wait_line "^shared\tnil$"
    engine:wait_line "^whole\tnil\tnil$"
  end)

  it("have all of a setting that follows a Secret, though Secrets are shared", function()
    sim = cluster.sim()
    sim.api:create("/api/v1/namespaces/default/secrets", { metadata = { name = "s" }, stringData = { token = "one" } })
    local path = cluster.script [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret", from = "secret:default/s/token" } }
      k8s.every("100ms", function()
        local status = k8s.shard.status()
        if status.members == 2 and status.share == 0.5 then print(settings.token == "one") end
      end)
    ]]
    local engines = {}
    for i = 1, 2 do
      engines[i] = cluster.run(sim.server, path, {
        "--shard", "--shard-kinds", "secrets", "--shard-lease-duration", "3s",
      })
    end
    for _ = 1, 5 do
      for i = 1, 2 do assert.are.equal("true", engines[i]:wait_line "^%l+$") end
    end
  end)

  it("name kinds of --shard-kinds that the server does not have", function()
    sim = cluster.sim()
    local engine = configure("", { "--shard-kinds", "pods", "--shard-kinds", "deployment,jobs=namespace" })
    engine:wait_error 'Objects of an unknown kind are not shared" kind="deployment,jobs" err="'
    assert.equal(0, cluster.terminate(engine))
    assert.is_nil(engine:err():find('kind="pods"', 1, true))
  end)

  it("do not run a queue's key of an object that another one has by now, and end calls without a Lease", function()
    sim = cluster.sim()
    for i = 1, 40 do sim.api:create(MAPS, object_of("m" .. i)) end
    local text = [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { shard = true, field_selector = "metadata.name!=kubelua-shard-team" })
      local keys = k8s.queue { name = "keys", workers = 1 }
      maps:on_add(function(map) keys:add(map:key()) end)
      keys:run(function(key)
        local _, name = k8s.split_key(key)
        print((maps:lister():get(key) and "has " or "lacks ") .. name)
        k8s.sleep "200ms"
      end)
    ]]
    local first = configure(text)
    first:wait_line "^has"
    local second = cluster.run(sim.server, cluster.script(text), { "--shard=team", "--shard-lease-duration=3s" })
    second:wait_line("^has", 30)
    await(function()
      first:pump(proc.now() + 0.05)
      second:pump(proc.now() + 0.05)
      local _, done = (first:out() .. second:out()):gsub("has ", "")
      return done >= 40
    end, "40 keys")
    assert.is_nil((first:out() .. second:out()):find "lacks")
    second:kill "KILL"
  end)

  -- The script keeps the engine's thread from its end to the beginning of the next one.
  it("are shown all objects again in a new term of the Lease, though they missed the end of the last one", function()
    sim = cluster.sim()
    for _, name in ipairs { "a", "busy" } do sim.api:create(MAPS, object_of(name)) end
    local own = relay.start(sim.server)
    local script = cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { shard = true, field_selector = "metadata.name!=kubelua-shard-team" })
      maps:add_event_handler {
        OnAdd = function(map, ev) print("add", map:name(), ev.shard) end,
        OnLost = function(map) print("lost", map:name()) end,
        OnUpdate = function()
          print "begin"
          local at = k8s.now()
          while k8s.now() < at + 9 do end
          print "end"
        end,
      }
    ]]
    local engine = cluster.run(own.url, script, { "--shard=team", "--shard-lease-duration=3s", "--trust", script })
    for _ = 1, 2 do engine:wait_line "^add" end
    sim.api:patch(MAPS .. "/busy", { metadata = { annotations = { value = "1" } } })
    engine:wait_line "^begin"
    own:hold()
    pause(4.5)
    own:mend()
    engine:wait_line("^end", 20)
    for _ = 1, 2 do engine:wait_line("^lost", 20) end
    for _ = 1, 2 do engine:wait_line("^add\t%a+\tgained$", 20) end
    own:stop()
  end)

  it("start over under another name when their Lease is deleted", function()
    sim = cluster.sim()
    sim.api:create(MAPS, object_of "a")
    local engine = configure [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { shard = true, field_selector = "metadata.name=a" })
      maps:add_event_handler {
        OnAdd = function(map, ev) print("add", ev.shard, k8s.shard.status().lease) end,
        OnLost = function(map) print("lost", k8s.shard.status().lease) end,
      }
    ]]
    local name = engine:wait_line "^add\tnil\t(.+)$"
    local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    sim.api:delete(leases .. "/" .. name)
    engine:wait_error('Lost the lease of a shard" lease="' .. name:gsub("%p", "%%%0"))
    local other = engine:wait_line("^add\tgained\t(.+)$", 30)
    assert.is_not.equal(name, other)
    for _, lease in ipairs(sim.api:get(leases).items) do assert.is_not.equal(name, lease.metadata.name) end
    assert.equal(0, cluster.terminate(engine))
  end)

  it("begin anew when their Leases and the table are deleted, and after a table without members", function()
    local table_of, leases = MAPS .. "/kubelua-shard-spec", "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    local function read()
      local code, text = sim.api:curl("GET", table_of)
      local text_of = code == 200 and cjson.decode(text).data.table or ""
      return select(2, text_of:gsub("\nmember ", "")), text_of:match "\nepoch (%d+)"
    end
    local function begins_anew()
      await(function() return (read()) == 3 end, "a table with three members", 40)
      group:settle()
    end
    start_group(20)
    for _ = 1, 2 do group:start() end
    begins_anew()
    for _, lease in ipairs(sim.api:get(leases).items) do sim.api:delete(leases .. "/" .. lease.metadata.name) end
    sim.api:delete(table_of)
    begins_anew()
    local _, epoch = read()
    epoch = ("%.0f"):format(epoch + 1000)
    sim.api:patch(table_of, { data = { table = ("kubelua-shards 1\nepoch %s\nbarrier %s\n"):format(epoch, epoch) } })
    begins_anew()
  end)

  -- The server fails renewals until the Lease is over, and keeps it.
  it("need no new list when their Lease was renewed late and nobody else had their objects", function()
    sim = cluster.sim()
    for _, name in ipairs { "a", "b" } do sim.api:create(MAPS, object_of(name)) end
    local engine = configure [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { shard = true, field_selector = "metadata.name!=kubelua-shard-team" })
      maps:add_event_handler {
        OnAdd = function(map, ev) print("add", map:name(), ev.shard) end,
        OnUpdate = function(_, map) print("update", map:name()) end,
        OnLost = function(map) print("lost", map:name()) end,
      }
    ]]
    for _ = 1, 2 do engine:wait_line "^add\t%a\tnil$" end
    sim:play { ["do"] = "fault", verb = "delete", resource = "leases", what = "status", code = 500, times = 0 }
    sim:play { ["do"] = "fault", verb = "update", resource = "leases", what = "status", code = 500, times = 30 }
    for _ = 1, 2 do engine:wait_line("^lost", 20) end
    sim.api:patch(MAPS .. "/a", { metadata = { annotations = { value = "1" } } })
    for _ = 1, 2 do engine:wait_line("^add\t%a\tgained$", 20) end
    engine:wait_line "^update\ta$"
    local metrics = engine:wait_error 'Serving metrics" address="([^"]+)"'
    local _, page = api.new({ server = "http://" .. metrics }):curl("GET", "/metrics")
    assert.has_match('\nreflector_watchlists_total{[^}]*configmaps[^}]*} 1\n', page)
    assert.equal(0, cluster.terminate(engine))
  end)

  for _, wrong in ipairs {
    { "--shard=A_b", '--shard: "A_b" must be 1 to 40 lower-case letters' },
    { "--shard-kinds=pods", "--shard-kinds needs --shard" },
    { "--shard --shard-kinds=pods=name", '--shard-kinds must be KIND or KIND=namespace, not "pods=name"' },
    { "--shard --from=nats://127.0.0.1:1/objects", "--shard and --from are mutually exclusive; use --partition" },
    { "--shard --shard-lease-duration=1500ms", "--shard-lease-duration: " },
  } do
    it("are refused with " .. wrong[1], function()
      local words = { "run", "--server", "http://127.0.0.1:1", "-f", cluster.script "" }
      for word in wrong[1]:gmatch "%S+" do words[#words + 1] = word end
      local engine = cluster.kubelua(words)
      engine:wait_error(wrong[2]:gsub("%p", "%%%0"))
      assert.equal(2, engine:wait(20))
    end)
  end
end)

-- Not under ThreadSanitizer, which is too slow for so many objects and Leases of seconds.
describe("a replica that loses objects", function()
  local group
  after_each(function()
    cluster.stop_all()
    if group then group:stop() end
  end)

  it("returns their memory", function()
    local sim = cluster.sim { "--pods", "12000", "--replicas", "1", "--shards", "on" }
    group = shards.group { server = sim.server, kind = "pods", namespace = "", lease = 3,
      total = sim.api:get("/sim/stats").resources.pods.objects }
    local first = group:start()
    group:settle(300)
    local all = first.process:memory().objects
    group:start()
    group:start()
    group:settle(300)
    local function part() return first.process:memory().objects / all end
    await(function() return part() < 0.45 end, function() return "a third of the memory, not " .. part() end, 30)
  end)
end)
