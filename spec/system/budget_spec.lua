-- Scripts that take more than they may, each beside a healthy one, through the whole binary: the call ends with an
-- error that names the limit, and the neighbour is told of everything. Also the flags that set limits.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local hostile = require "spec.support.hostile"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function configmap(name, value)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = { n = value },
  }
end

local neighbour = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespace = "default" })
  maps:add_event_handler {
    OnAdd = function(obj) print("neighbour " .. obj:name()) end,
    OnUpdate = function(_, new) if new:name() == "beat" then print("beat " .. new.data.n) end end,
  }
]]

-- Starts the attack, if it waits for that, and sees to it that the neighbour is well meanwhile.
local function beside(attack, args)
  local sim = cluster.sim()
  local all = { "-f", attack.path }
  for _, arg in ipairs(args or {}) do all[#all + 1] = arg end
  local engine = cluster.run(sim.server, cluster.script(neighbour), all)
  sim.api:create(configmaps, configmap("beat", "0"))
  engine:wait_line "^neighbour beat$"
  sim.api:create(configmaps, configmap "go")
  engine:wait_line("^neighbour go$", 60)
  for i = 1, 5 do
    sim.api:patch(configmaps .. "/beat", { data = { n = tostring(i) } })
    engine:wait_line("^beat " .. i .. "$", 60)
  end
  return engine, sim
end

local function escape(text)
  return (text:gsub("%p", "%%%0"))
end

describe("a script that takes more than it may", function()
  after_each(cluster.stop_all)

  for _, attack in ipairs(hostile.all()) do
    if attack.text ~= "" and attack.limit ~= "load-cpu" and attack.limit ~= "log-lines" then
      it(("ends, and its neighbour does not: %s (%s)"):format(attack.how, attack.name), function()
        -- With a sanitizer it would take more than its CPU before it meets another limit.
        local patience = not attack.limit:find "cpu" and { "--handler-cpu", "5s" } or nil
        local engine = beside(attack, patience)
        local line = engine:wait_error("([^\n]* failed\"[^\n]*" .. escape(attack.text) .. "[^\n]*)", 20)
        if attack.limit:find "cpu" then assert.matches('result="cpu_limit"', line, 1, true) end
        if attack.limit:find "memory" then assert.matches('result="memory_limit"', line, 1, true) end
        assert.matches(attack.name .. "%.lua:%d+", line)
        assert.are.equal(0, cluster.terminate(engine))
      end)
    end
  end

  it("is not loaded when its load phase does that", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, "spec/support/hostile/loop_load.lua")
    assert.are.equal(2, engine:wait(60))
    assert.matches("loop_load.lua:%d: over the limit load%-cpu %(500ms%) in the load phase", engine:err())
  end)

  it("has a thousand lines of the log in a second, and the rest is counted", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, "spec/support/hostile/log_flood.lua")
    sim.api:create(configmaps, configmap "go")
    local lines = engine:wait_error('limit log%-lines exceeded" script="[^"]*log_flood" lines=(%d+) limit=1000', 20)
    local _, written = engine:err():gsub('"flood"', "")
    assert.are.equal(10000, tonumber(lines) + written)
    assert.is_true(written < 3000, written)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("prints what there is room for, and delays nobody", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, "spec/support/hostile/print_flood.lua")
    sim.api:create(configmaps, configmap "go")
    engine:wait_line("^flood 1 ", 20)
    assert.are.equal(0, cluster.terminate(engine))
    local dropped = tonumber(engine:err():match "printLinesDropped=(%d+)")
    local _, printed = engine:out():gsub("flood %d+ ", "")
    local all = printed + dropped
    assert.is_true(printed > 0 and all <= 10000 and all % 100 == 0, printed .. " " .. dropped)
  end)

  it("may retain objects that its cache has no more, as long as they are within its memory", function()
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, cluster.script [[
      local held = {}
      require("k8s").informer("configmaps", { namespace = "default" }):on_update(function(old)
        held[#held + 1] = old
        print("held " .. #held)
      end, { id = "keeper" })
    ]], { "--script-memory=4Mi", "--handler-cpu=5s" })
    sim.api:create(configmaps, configmap("big", "0"))
    for i = 1, 100 do
      sim.api:patch(configmaps .. "/big", { data = { n = i .. ("x"):rep(100000) } })
      if engine:err():find "Quarantined" then break end
    end
    engine:wait_error("over the limit script%-memory %(4Mi%) in the handler keeper; %d+ KiB of it are held " ..
      "by objects that are no longer in a cache", 20)
    engine:wait_line "held 20"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is counted as such", function()
    local engine = beside({ path = "spec/support/hostile/loop.lua" }, { "--metrics-bind-address", "127.0.0.1:0" })
    local address = engine:wait_error 'Serving metrics.*address="([%d.:]+)"'
    local page = io.popen(("curl -s http://%s/metrics"):format(address)):read "*a"
    assert.matches('kubelua_script_errors_total{script="spec/support/hostile/loop",call="handler"} 1', page, 1, true)
  end)
end)

describe("a handler that goes over its limits again and again", function()
  after_each(cluster.stop_all)

  it("is not called any more, which status and log report", function()
    local sim, socket = cluster.sim(), temp.name() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script [[
      require("k8s").informer("configmaps", { namespace = "default" }):on_add(function(obj)
        while obj:name():find "bad" do end
        print("told " .. obj:name())
      end, { id = "rule" })
    ]], { "--admin-socket", socket })
    for i = 1, 5 do sim.api:create(configmaps, configmap("bad" .. i)) end
    engine:wait_error 'Quarantined.*handler="rule".*over the limit handler%-cpu'
    sim.api:create(configmaps, configmap "good")
    local status
    repeat
      status = cluster.kubelua { "status", "--admin-socket", socket }
      assert.are.equal(0, status:wait(20))
    until status:out():find("3 calls skipped", 1, true)
    assert.matches("quarantined: rule for %d+s?, 3 calls skipped: .*over the limit handler%-cpu", status:out())
    assert.has_no_match("told", engine:out())
  end)

  it("is called again when the operator lifts it, for all that is in the cache", function()
    local sim, socket = cluster.sim(), temp.name() .. ".sock"
    local path = cluster.script [[
      require("k8s").informer("configmaps", { namespace = "default" }):on_add(function(obj, ev)
        while obj.data.n == "bad" do end
        print("told " .. obj:name(), ev.initial)
      end, { id = "rule" })
    ]]
    local engine = cluster.run(sim.server, path, { "--admin-socket", socket })
    local function quarantine(...)
      local command = cluster.kubelua { "quarantine", "--admin-socket", socket, ... }
      return command:wait(20), command
    end
    for i = 1, 3 do sim.api:create(configmaps, configmap("map" .. i, "bad")) end
    local name = path:gsub("%.lua$", "")
    local advice = engine:wait_error 'Quarantined .*; fix and reload the script, or run ([^"]+)"'
    assert.are.equal("kubelua quarantine --lift " .. name .. "/rule", advice)
    local code, list = quarantine()
    assert.are.equal(0, code)
    assert.matches("rule +%d+s? +0\n.*over the limit handler%-cpu", list:out())
    local wrong, err = quarantine("--lift", name .. "/other")
    assert.are.equal(2, wrong)
    assert.are.equal(('kubelua quarantine: "%s/other" is not in quarantine, did you mean "%s/rule"?; '
      .. "in quarantine: %s/rule\n"):format(name, name, name), err:err())
    wrong, err = quarantine("--lift", "role")
    assert.are.equal(2, wrong)
    assert.matches('"role" is not in quarantine, did you mean "rule"?', err:err(), 1, true)
    sim.api:patch(configmaps .. "/map1", { data = { n = "good" } })
    for i = 2, 3 do sim.api:delete(configmaps .. "/map" .. i) end
    sim.api:create(configmaps, configmap("map4", "good"))
    local _, lifted, command
    repeat _, command = quarantine() until command:out():find " 4\n"
    lifted, command = quarantine("--lift", (name:match "[^/]+$")) -- as rollback and call name it
    assert.are.equal(0, lifted)
    assert.matches("Lifted: 1", command:out())
    engine:wait_line "^told map[14]\ttrue$"
    engine:wait_line "^told map[14]\ttrue$"
    code, list = quarantine()
    assert.are.equal(0, code)
    assert.matches("No quarantined functions", list:out())
  end)
end)

-- What they do ends by a function of C, so that ThreadSanitizer sees them stopped.
describe("a transform or an index function that goes over its limits again and again #threads", function()
  local sim, socket, engine, path, address

  local function run(script)
    sim, socket, path = cluster.sim(), temp.name() .. ".sock", cluster.script(script)
    for i = 1, 3 do sim.api:create(configmaps, configmap("map" .. i, "bad")) end
    engine = cluster.run(sim.server, path, { "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0" })
    address = engine:wait_error 'Serving metrics.*address="([%d.:]+)"'
  end

  local function ask(...)
    local command = cluster.kubelua { select(1, ...), "--admin-socket", socket, select(2, ...) }
    assert.are.equal(0, command:wait(20))
    return command:out()
  end

  local function is_quarantined(id)
    engine:wait_error('Quarantined.*handler="' .. id .. '".*over the limit filter%-cpu')
    assert.matches(id .. " +%d+s? +0\n.*over the limit filter%-cpu", ask "quarantine")
    assert.matches("quarantined: " .. id .. " for %d+s?, 0 calls skipped: .*over the limit filter%-cpu", ask "status")
    local page = io.popen(("curl -s http://%s/metrics"):format(address)):read "*a"
    assert.matches('\nkubelua_handler_quarantined{script="[^"]+",handler="' .. id .. '"} 1\n', page)
  end

  local function lift(id)
    for i = 1, 3 do sim.api:patch(configmaps .. "/map" .. i, { data = { n = "good" } }) end
    await(function() return (tonumber(ask("quarantine"):match " (%d+)\n") or 0) >= 3 end, function()
      return ask "quarantine"
    end)
    assert.matches("Lifted: 1", ask("quarantine", "--lift", path:gsub("%.lua$", "") .. "/" .. id))
  end

  after_each(cluster.stop_all)

  it("is not called any more; lifted, the objects of a transform are listed", function()
    run [[
      require("k8s").informer("configmaps", { namespace = "default", transform = function(map)
        while map.data.n:find "bad" do end
        return map
      end }):on_add(function(obj) print("told " .. obj:name()) end)
    ]]
    is_quarantined "transform/configmaps"
    lift "transform/configmaps"
    for _ = 1, 3 do engine:wait_line "^told map[123]$" end
    assert.matches("No quarantined functions", ask "quarantine")
    sim.api:create(configmaps, configmap("map4", "good"))
    engine:wait_line "^told map4$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is not called any more; lifted, the index is built", function()
    run [[
      local k8s = require "k8s"
      local maps, last = k8s.informer("configmaps", { namespace = "default" }), 0
      maps:add_index("n", function(obj, emit)
        while obj.data.n:find "bad" do end
        emit(obj.data.n)
      end)
      k8s.every("20ms", function()
        local count = #maps:lister():by_index("n", "good")
        if count ~= last then print("under good " .. count) end
        last = count
      end)
    ]]
    is_quarantined "index/n"
    lift "index/n"
    engine:wait_line "^under good 3$"
    assert.matches("No quarantined functions", ask "quarantine")
    sim.api:create(configmaps, configmap("map4", "good"))
    engine:wait_line "^under good 4$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

describe("what is in quarantine", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("is lifted by any unique name, and else listed", function()
    for _, name in ipairs { "one", "two" } do
      temp.write(folder .. "/" .. name .. ".lua", ([[
        local maps = require("k8s").informer("configmaps", { namespace = "default" })
        maps:on_add(function(obj) while obj:name():find "bad" do local _ = {} end end, { id = "rule" })
        maps:on_delete(function() while true do local _ = {} end end, { id = "%s" })
      ]]):format(name == "one" and "own" or "two"))
    end
    local sim, socket = cluster.sim(), folder .. "/socket"
    local engine = cluster.run(sim.server, folder, { "--admin-socket", socket, "--handler-cpu", "20ms" })
    local function lift(name)
      local command = cluster.kubelua { "quarantine", "--admin-socket", socket, "--lift", name }
      local code = command:wait(20)
      return code == 0 and command:out() or command:err():gsub(escape(folder), "F")
    end
    local function fill(what)
      for i = 1, 3 do sim.api:create(configmaps, configmap("bad" .. what .. i)) end
      for _ = 1, 2 do engine:wait_error 'Quarantined.*handler="rule"' end
    end
    engine:wait_error "Synced"
    assert.are.equal('kubelua quarantine: "rule" is not in quarantine; nothing is in quarantine\n', lift "rule")
    fill "a"
    for i = 1, 3 do sim.api:delete(configmaps .. "/bada" .. i) end
    for _ = 1, 2 do engine:wait_error 'Quarantined.*handler="[ot]w[no]"' end
    assert.are.equal('kubelua quarantine: "rule" is ambiguous: F/one/rule, F/two/rule\n', lift "rule")
    assert.are.equal("Lifted: 1\n", lift "own")
    assert.are.equal("Lifted: 1\n", lift "one/rule")
    assert.are.equal("Lifted: 2\n", lift "two") -- the script, whose handler has the same name
    fill "b"
    assert.are.equal("Lifted: 1\n", lift(folder .. "/one.lua/rule"))
    assert.are.equal("Lifted: 1\n", lift(folder .. "/two"))
    assert.matches('^kubelua quarantine: "x" is not in quarantine', (lift "x"))
  end)
end)

describe("the limits of scripts", function()
  after_each(cluster.stop_all)

  it("are the operator's to set", function()
    local engine = beside({ path = "spec/support/hostile/loop.lua" }, { "--handler-cpu", "20ms" })
    engine:wait_error "over the limit handler%-cpu %(20ms%) in the handler attack"
    engine = beside({ path = "spec/support/hostile/memory_tables.lua" },
      { "--script-memory=8Mi", "--limit", "handler-cpu=5s" })
    engine:wait_error "over the limit script%-memory %(8Mi%) in the handler attack"
    engine = beside({ path = "spec/support/hostile/timers.lua" }, { "--limit", "timers=7" })
    engine:wait_error "over the limit timers %(7%)"
  end)

  it("are named by a flag that is wrong", function()
    for flag, text in pairs {
      ["--limit=handler-cpi=1s"] = '--limit: unknown limit "handler-cpi"; did you mean handler-cpu?',
      ["--limit=tasks"] = '--limit: "tasks" is not NAME=VALUE',
      ["--handler-cpu=fast"] = '--handler-cpu: handler-cpu: "fast" is not a duration',
      ["--script-memory=big"] = '--script-memory: script-memory: "big" is not a size',
      ["--trust=nobody"] = '--trust: script "nobody" not found',
    } do
      local engine = cluster.run("http://127.0.0.1:1", cluster.script "return 1", { flag })
      assert.are.equal(2, engine:wait(20))
      assert.matches(text, engine:err(), 1, true)
    end
  end)

  it("are lowered by a script that knows it needs less", function()
    local engine = cluster.run(cluster.sim().server, cluster.script [[
      local k8s = require "k8s"
      k8s.limits { handler_cpu = "10ms", timers = 5 }
      k8s.after(0, function() while true do end end)
    ]])
    engine:wait_error "over the limit handler%-cpu %(10ms%) in the timer"
  end)

  it("do not bind the CPU of a script that the operator trusts", function()
    local path = cluster.script [[
      local k8s = require "k8s"
      k8s.after(0, function()
        local n, till = 0, os.clock() + 0.3
        while os.clock() < till do n = n + 1 end
        print("trusted")
      end)
    ]]
    local engine = cluster.run(cluster.sim().server, path, { "--trust", (path:gsub("%.lua$", "")) })
    engine:wait_line "^trusted$"
    assert.has_no_match("over the limit", engine:err())
  end)

  it("leave k8s.main its time under exec", function()
    local engine = cluster.kubelua { "exec", "--server=" .. cluster.sim().server, cluster.script [[
      require("k8s").main(function()
        local till = os.clock() + 1.3
        while os.clock() < till do end
        return 7
      end)
    ]] }
    assert.are.equal(7, engine:wait(60))
  end)
end)
