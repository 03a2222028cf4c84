-- Work queues in the whole binary: workers on a cache, retries, metrics, `kubelua queue`, the end.
local api = require "spec.support.api"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local folder

-- An engine with an admin socket; engine.queues() is what `kubelua queue -o json` says.
local function watched(server, script, args)
  local path = folder .. "/admin.sock"
  local engine = cluster.run(server, cluster.script(script), { "--admin-socket", path, unpack(args or {}) })
  function engine.ask(...)
    local p = cluster.kubelua { "queue", "--admin-socket", path, ... }
    assert.are.equal(0, p:wait(), p.streams.err.text)
    return p.streams.out.text
  end
  function engine.await(good)
    local deadline = proc.now() + 30
    repeat
      local queues = cjson.decode(engine.ask "-ojson").queues
      if good(queues) then return queues end
    until proc.now() > deadline
    error("not so within 30 s:\n" .. engine:report())
  end
  function engine.status()
    local p = cluster.kubelua { "status", "--admin-socket", path }
    p:wait()
    return p.streams.out.text
  end
  return engine
end

describe("a work queue #threads", function()
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("has its workers begin when all caches are complete, and each see every key", function()
    local sim = cluster.sim { "--pods", "500" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods, nodes = k8s.informer "pods", k8s.informer "nodes"
      local q = k8s.queue { name = "pods", workers = 4 }
      pods:add_event_handler { OnAdd = q:enqueuer(), OnUpdate = q:enqueuer(), OnDelete = q:enqueuer() }
      local seen, count, busy, least = {}, 0, {}, math.huge
      q:run(function(key)
        assert(not busy[key])
        least = math.min(least, pods:lister():count(), 500 * nodes:lister():count())
        busy[key] = true
        k8s.sleep(math.random() / 1000)
        busy[key] = nil
        if math.random(4) == 1 then error "at random" end
        if seen[key] then return end
        seen[key], count = true, count + 1
        if count == 500 then print("all 500, least " .. least) end
      end)
    ]])
    engine:wait_line("^all 500, least 500$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is listed by kubelua queue and kubelua status, and drops what fails too often, reporting it once", function()
    local sim = cluster.sim()
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      local q = k8s.queue { name = "mail", workers = 2, max_retries = 2, base = "1ms" }
      k8s.queue { name = "idle" }
      q:run(function(key, job)
        if key == "slow" then k8s.sleep(1000) end
        if key == "raises" then error "out of order" end
        if key == "retries" then job:retry { message = "not yet" } end
      end)
      k8s.main(function()
        for _, key in ipairs { "slow", "raises", "retries", "good" } do q:add(key) end
        q:add_after("later", "1h")
      end)
    ]])
    local drop = 'Key dropped after max_retries" script=%S+ queue="mail" key="raises" retries=2 '
    engine:wait_error(drop .. 'err=".*out of order"')
    engine:wait_error 'Key dropped after max_retries" .* key="retries" retries=2 err="not yet"'
    local queues = engine.await(function(queues) return queues[1].dropped == 2 and queues[1].depth == 0 end)
    local mail = queues[1]
    assert.are.equal(2, #queues)
    assert.are.same({ 2, 1, 1, 0, 3 }, { mail.workers, mail.processing, mail.delayed, mail.failing, mail.errors })
    assert.are.equal(4 + 1, mail.retries) -- two of each, and the one that comes later
    assert.are.equal(0, queues[2].workers)
    local text = engine.ask()
    assert.has_match("^QUEUE +WORKERS +DEPTH +DELAYED +PROCESSING +FAILING +RETRIES +DROPPED\n", text)
    assert.has_match("\nmail +2 +0 +1 +1 +0 +5 +2\nidle +0 +0 ", text)
    assert.has_match("LONGEST +SCRIPT\n", engine.ask "-owide")
    assert.has_match("\n\nQUEUE +WORKERS ", engine.status())
    local _, drops = engine:err():gsub("Key dropped", "")
    assert.are.equal(2, drops)
    assert.are.equal(0, cluster.terminate(engine)) -- what waits is no reason to wait
  end)

  it("is listed with the keys that fail and the one that takes longest", function()
    local sim = cluster.sim()
    local engine = watched(sim.server, [[
      local k8s = require "k8s"
      local q = k8s.queue { name = "mail", workers = 20, base = "1h", max = "1h" }
      local lazy = k8s.queue { name = "lazy" }
      q:run(function(key, job)
        if key:find "slow" then k8s.sleep(1000) end
        if key == "raises" then error { message = "out of order" } end
        if key == "retries" then job:retry "not yet\27[1m" end
        if key:find "many" then job:retry() end
      end)
      lazy:run(function() end)
      k8s.main(function()
        for _, key in ipairs { "slow", "raises", "slower", "retries" } do q:add(key) end
        for i = 1, 12 do q:add("many" .. i) end
        print "added"
      end)
    ]])
    engine:wait_line "^added$"
    local mail = engine.await(function(queues) return queues[1].failing == 14 and queues[1].processing == 2 end)[1]
    assert.are.equal("slow", mail.longestKey)
    assert.are.equal(10, #mail.failingKeys)
    local raises, retries = mail.failingKeys[1], mail.failingKeys[2]
    assert.is_true(raises.nextTryMilliseconds > 3500000 and raises.nextTryMilliseconds <= 3600000)
    assert.are.same({ "raises", 1, "out of order", "delayed" },
      { raises.key, raises.retries, raises.error, raises.state })
    assert.are.same({ "retries", 1, "not yet\27[1m" }, { retries.key, retries.retries, retries.error })
    assert.has_match("\nmail [^\n]+\n    longest: slow\n    fails: raises, 1 retry, the next in [%w]+: out of order\n"
      .. "    fails: retries, 1 retry, the next in %w+: not yet %[1m\n    fails: many1, 1 retry, the next in %w+\n",
      engine.ask "-owide")
    assert.has_match("\n    and 4 more fail\nlazy +1 [^\n]+\n$", engine.ask "-owide")
    assert.has_no_match("fails", engine.ask())
  end)

  it("reports it when there is none, and wrong arguments", function()
    local sim = cluster.sim()
    local engine = watched(sim.server, [[require("k8s").every(1, function() end)]])
    engine:wait_error "Starting"
    assert.are.equal("No queues found.\n", engine.ask())
    local p = cluster.kubelua { "queue", "mail", "--admin-socket", folder .. "/admin.sock" }
    assert.are.equal(2, p:wait())
    assert.has_match('kubelua queue: unexpected argument "mail"', p.streams.err.text, 1, true)
  end)

  it("has client-go's metrics (W-11)", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local q = k8s.queue { name = "mail", base = "1ms" }
      q:run(function(key, job) if job.retries == 0 then job:retry() else print "done" end end)
      k8s.main(function() q:add "a" end)
    ]], { "--metrics-bind-address", "127.0.0.1:0" })
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    engine:wait_line "^done$"
    local _, page = http:curl("GET", "/metrics")
    for _, line in ipairs {
      "workqueue_depth{L} 0", "workqueue_adds_total{L} 2", "workqueue_retries_total{L} 1",
      "workqueue_unfinished_work_seconds{L} ", "workqueue_longest_running_processor_seconds{L} ",
      "workqueue_queue_duration_seconds_count{L} 2", "workqueue_work_duration_seconds_count{L} ",
      "kubelua_queue_dropped_total{L} 0",
    } do
      local labels = '%{name="mail",script="[^"]*"%}'
      assert.has_match("\n" .. line:gsub("{L}", function() return labels end), page)
    end
  end)

  it("may be drained by a script, and its end is seen by q:get (W-2, W-5)", function()
    local sim = cluster.sim()
    local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script [[
      local k8s = require "k8s"
      local q, r = k8s.queue { name = "work", workers = 3 }, k8s.queue { name = "raw" }
      local n = 0
      q:run(function() k8s.sleep "10ms" n = n + 1 end)
      k8s.main(function()
        for i = 1, 50 do q:add("k" .. i) end
        q:shut_down { drain = true }
        r:add "a"
        k8s.after("20ms", function() r:add "b" r:shut_down() end)
        local keys = {}
        while true do
          local key, down = r:get()
          if down then break end
          keys[#keys + 1] = key
          r:done(key)
        end
        print(n, table.concat(keys, ","))
      end)
    ]] }
    assert.are.equal(0, engine:wait(30), engine:err())
    assert.are.equal("50\ta,b\n", engine:out())
  end)

  -- Lines that come in whatever order, after what was there at the last call.
  local function wait_for(engine, lines)
    local from = engine.seen or 1
    engine:wait_until(function()
      local text = engine:out():sub(from)
      for _, line in ipairs(lines) do
        if not text:find(line .. "\n", 1, true) then return false end
      end
      engine.seen = from + #text
      return true
    end, table.concat(lines, ", "))
  end

  -- A script that leads and works.
  local function leading(sim)
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.leader { lease = "default/queues", duration = "3s", renew = "2s", retry = "500ms" }
      k8s.on_leader(function() print "leads" end, function() print "lost" end)
      local queue = k8s.queue { name = "raw", leader = true }
      queue:run(function(key) print("raw " .. key) k8s.sleep(key == "slow" and "1h" or 0) end)
      queue:add "quick"
      queue:add "slow"
      k8s.controller {
        of = "configmaps", leader = true,
        reconcile = function(key) print("look at " .. key) end,
      }
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    return engine
  end

  local maps = "/api/v1/namespaces/default/configmaps"
  local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", namespace = "default" } }

  it("with leader = true works on the leader only, and its keys wait for the next term", function()
    local sim = cluster.sim()
    sim.api:create(maps, map)
    local first = leading(sim)
    wait_for(first, { "leads", "raw quick", "raw slow", "look at default/a" })
    local second = leading(sim)
    assert.are.equal("synced\n", second:out())
    first:kill "KILL"
    wait_for(second, { "leads", "raw quick", "raw slow", "look at default/a" })
    -- Somebody else takes the lease, and never renews it: the work that waits is cancelled, and begun anew.
    sim.api:patch("/apis/coordination.k8s.io/v1/namespaces/default/leases/queues",
      { spec = { holderIdentity = "other", renewTime = os.date "!%Y-%m-%dT%H:%M:%S.000000Z" } })
    wait_for(second, { "lost" })
    wait_for(second, { "leads", "raw slow", "look at default/a" })
    local _, count = second:out():gsub("raw quick", "")
    assert.are.equal(1, count)
    assert.are.equal(0, cluster.terminate(second))
  end)

  it("has keys that a leader's own calls got come again in the next term (W-3), and drains (W-5)", function()
    local sim = cluster.sim()
    sim.api:create(maps, map)
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:patch" }
      k8s.leader { lease = "default/queues", duration = "3s", renew = "2s", retry = "500ms" }
      local queue, terms = k8s.queue { name = "raw" }, 0
      queue:add "default/a"
      k8s.on_leader(function()
        terms = terms + 1
        while true do
          local key, down = queue:get()
          if down then return end
          print("work on " .. key)
          if terms == 1 then k8s.sleep "1h" end
          local map = { kind = "configmaps", namespace = "default", name = "a" }
          assert(k8s.patch(map, { data = { term = tostring(terms) } }))
          queue:done(key)
          print("done " .. key)
          if terms == 2 then queue:shut_down { drain = true } print "drained" end
        end
      end, function() print "lost" end)
    ]])
    wait_for(engine, { "work on default/a" })
    sim.api:patch("/apis/coordination.k8s.io/v1/namespaces/default/leases/queues",
      { spec = { holderIdentity = "other", renewTime = os.date "!%Y-%m-%dT%H:%M:%S.000000Z" } })
    wait_for(engine, { "lost" })
    wait_for(engine, { "work on default/a", "done default/a", "drained" })
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("tells a loop of the end of the engine, so that what is behind it runs, and may write", function()
    local sim = cluster.sim { "--pods", "2" }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.writes { "configmaps:create" }
      local queue = k8s.queue { name = "raw" }
      k8s.informer("pods"):on_add(function(pod) queue:add(pod:key()) end)
      k8s.main(function()
        local count = 0
        while true do
          local key, down = queue:get()
          if down then break end
          count = count + 1
          queue:done(key)
          print("done " .. count)
        end
        local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "default", name = "end" } }
        print("behind the loop", assert(k8s.create(map)):name())
        k8s.sleep "1h"
        print "never"
      end)
    ]])
    engine:wait_line "done 2"
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match("\nbehind the loop\tend\n", engine:out())
    assert.has_no_match("never", engine:out())
  end)

  it("makes exec incomplete when a key failed for good, not when another try made it good", function()
    local sim = cluster.sim()
    local function exit_code(rest)
      local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script([[
        local k8s = require "k8s"
        local q = k8s.queue { name = "work", base = "1ms", max_retries = 3 }
        local tries = 0
        q:run(function(key, job)
          tries = tries + 1
          if key == "poor" or tries < 3 then return nil, "not yet" end
        end)
        k8s.main(function() ]] .. rest .. [[ end)
      ]]) }
      return engine:wait(30), engine:err()
    end
    assert.are.equal(0, (exit_code [[ q:add "good" repeat k8s.sleep "1ms" until tries == 3 ]]))
    local code, err = exit_code [[ q:add "poor" repeat k8s.sleep "1ms" until tries == 4 ]]
    assert.are.equal(3, code)
    assert.has_match("incomplete: 1 work queue key failed\n", err, 1, true)
    assert.are.equal(3, (exit_code [[ q:add "poor" repeat k8s.sleep "1ms" until tries == 1 ]]))
  end)

  it("does what docs/queues.md shows first", function()
    local file = assert(io.open "docs/queues.md")
    local example = file:read("*a"):match "```lua\n(.-)```"
    file:close()
    local sim = cluster.sim { "--pods", "5" }
    local engine = cluster.run(sim.server, cluster.script(example))
    for _ = 1, 5 do engine:wait_line "^[%w-]+/[%w.-]+ is on [%w.-]+$" end
  end)
end)
