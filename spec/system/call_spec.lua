-- `kubelua call`: commands of the scripts of a running engine.
local cjson = require "cjson"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local folder

-- Scripts by name, run by one engine.
local function engine_of(server, scripts, args)
  for name, text in pairs(scripts) do
    local file = assert(io.open(folder .. "/" .. name .. ".lua", "w"))
    file:write('local k8s = require "k8s"\n' .. text)
    file:close()
  end
  local path = folder .. "/admin.sock"
  local words = { "run", "-s", server, "-f", folder, "--admin-socket", path, "--metrics-bind-address", "127.0.0.1:0" }
  for _, word in ipairs { "--health-probe-bind-address", "0", unpack(args or {}) } do words[#words + 1] = word end
  local engine = cluster.kubelua(words)
  engine.metrics = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
  function engine.start_call(...) return cluster.kubelua { "call", "--admin-socket", path, ... } end
  function engine.call(...)
    local p = engine.start_call(...)
    local code = p:wait()
    return code, p.streams.out.text, p.streams.err.text
  end
  return engine
end

local script = [[
  local started = 0
  k8s.command("echo", function(...) return table.concat({ ... }, "|") end, { help = "Says it again." })
  k8s.command("rows", function()
    return { { name = "b", size = 10, ready = true }, { name = "a", note = "x y", size = 2.5 } }
  end)
  k8s.command("lines", function() return { { "NODE", "PODS" }, { "n-1", 12 }, { "n-22", 3 } } end)
  k8s.command("map", function() return { a = 1, b = { 1, 2 } } end)
  k8s.command("nested", function() return { web = { pods = 3 }, db = { pods = 1 } } end)
  k8s.command("list", function() return { "x", 2, true } end)
  k8s.command("nothing", function() end)
  k8s.command("number", function() return 42 end)
  k8s.command("refuse", function() return nil, { reason = "Conflict", message = "not now" } end)
  k8s.command("raise", function() error "broken" end)
  k8s.command("function", function() return print end)
  k8s.command("wait", function(time)
    started = started + 1
    print("waits " .. started)
    k8s.sleep(tonumber(time))
    return "waited"
  end)
  k8s.command("spin", function() while true do pcall(error) end end)
  k8s.command("bytes", function() return "a\255b" end)
  local kept = k8s.state("kept", { init = { x = { y = 1 } } })
  k8s.command("state", function() return kept end)
]]

describe("kubelua call #threads", function()
  local sim, engine
  setup(function()
    folder = temp.folder()
    sim = cluster.sim()
    engine = engine_of(sim.server, {
      one = script,
      two = 'k8s.command("map", function() return "two" end) k8s.command("alone", function() return "yes" end)',
    })
    engine:wait_on(engine.streams.err, "Starting")
  end)
  teardown(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function assert_call(out, ...)
    local code, said, err = engine.call(...)
    assert.are.same({ 0, out, "" }, { code, said, err })
  end

  it("prints what a command returns", function()
    assert_call("a|b c|-x\n", "echo", "a", "b c", "--", "-x")
    assert_call("NAME  NOTE  READY  SIZE\nb           true   10\na     x y          2.5\n", "rows")
    assert_call("NODE  PODS\nn-1   12\nn-22  3\n", "lines")
    assert_call("KEY  PODS\ndb   1\nweb  3\n", "nested")
    assert_call("a  1\nb  [1,2]\n", "one/map")
    assert_call("x\n2\ntrue\n", "list")
    assert_call("", "nothing")
    assert_call("42\n", "number")
    assert_call("a\239\191\189b\n", "bytes")
    assert_call("KEY  Y\nx    1\n", "state")
  end)

  it("prints JSON and YAML", function()
    local code, out = engine.call("rows", "-o", "json")
    assert.are.equal(0, code)
    assert.are.same({ { name = "b", size = 10, ready = true }, { name = "a", note = "x y", size = 2.5 } },
      cjson.decode(out))
    assert_call('db:\n  pods: 1\nweb:\n  pods: 3\n', "nested", "-o", "yaml")
    assert_call('"a"\n', "echo", "a", "-o", "json")
  end)

  it("ends with 1 for nil and an error, and with 3 when the command fails", function()
    local code, out, err = engine.call "refuse"
    assert.are.same({ 1, "", "kubelua call: refuse: not now\n" }, { code, out, err })
    code, out, err = engine.call "raise"
    assert.are.same({ 3, "" }, { code, out })
    assert.matches("^kubelua call: raise: [^\n]*/one.lua:%d+: broken\n$", err)
    engine:wait_on(engine.streams.err, '"Command failed" .*command="raise"')
    code, out, err = engine.call "function"
    assert.are.same({ 3, "" }, { code, out })
    assert.matches("the result: cannot encode a function", err)
  end)

  it("reports when a command is in quarantine", function()
    for _ = 1, 3 do
      local code, _, err = engine.call "spin"
      assert.are.equal(3, code)
      assert.matches("over the limit handler%-cpu %(50ms%) in the command spin", err)
    end
    local code, out, err = engine.call "spin"
    assert.are.same({ 3, "" }, { code, out })
    assert.matches("^kubelua call: spin: the command is in quarantine after consecutive calls exceeded a limit ", err)
    assert.matches("over the limit handler%-cpu .*%-%-lift [^ ]*/one/command/spin\n$", err)
    local status = cluster.kubelua { "status", "--admin-socket", folder .. "/admin.sock" }
    assert.are.equal(0, status:wait(20))
    assert.matches("quarantined: command/spin for %d+s?, 1 calls? skipped: ", status:out())
    local lift = cluster.kubelua {
      "quarantine", "--admin-socket", folder .. "/admin.sock", "--lift", folder .. "/one/command/spin",
    }
    assert.are.equal(0, lift:wait(20))
    assert.matches("over the limit", select(3, engine.call "spin"))
  end)

  it("names what there is when there is no such command", function()
    local code, _, err = engine.call "ecko"
    assert.are.equal(2, code)
    assert.matches('unknown command "ecko", did you mean "echo"%?; available commands: .*alone', err)
    code, _, err = engine.call "tow/echo"
    assert.are.equal(2, code)
    assert.matches('script "tow" not found, did you mean "two"%?; available commands: .*alone', err)
    assert.matches('script "/x" not found; available commands: ', select(3, engine.call "/x/echo"))
    assert.matches('unknown command "two/ecko"', select(3, engine.call "two/ecko"))
    code, _, err = engine.call "map"
    assert.are.equal(2, code)
    assert.matches('command "map" is ambiguous: [^ ]*/one/map, [^ ]*/two/map', err)
    assert_call("two\n", "two/map")
    assert_call("two\n", folder .. "/two/map")
    assert_call("yes\n", "alone")
  end)

  it("lists the commands with their help", function()
    local code, out = engine.call()
    assert.are.equal(0, code)
    assert.matches("^NAME +SCRIPT +HELP\n", out)
    assert.matches("\necho +[^ ]*/one +Says it again%.\n", out)
    assert.matches("\nalone +[^ ]*/two +%-\n", out)
    local _, json = engine.call("-o", "json")
    assert.are.equal(17, #cjson.decode(json))
  end)

  it("is called several times at once, and cancelled when the client goes", function()
    local first, second = engine.start_call("wait", "0.2"), engine.start_call("wait", "600")
    engine:wait_line "^waits 2$"
    assert.are.equal(0, first:wait())
    assert.are.equal("waited\n", first.streams.out.text)
    second:kill "INT"
    second:wait()
    local code, _, err = engine.call("wait", "600", "--timeout", "100ms")
    assert.are.equal(3, code)
    assert.matches("did not respond within 0.1 s", err)
    await(function()
      local _, page = engine.metrics:curl("GET", "/metrics")
      return page:match "\nkubelua_tasks_cancelled_total (%d+)" == "2"
    end, "calls to be cancelled")
  end)

  it("is refused or cancelled when the engine ends", function()
    local waiting = engine.start_call("wait", "600")
    engine:wait_line "^waits 4$"
    engine:kill "TERM"
    assert.are.equal(3, waiting:wait())
    local err = waiting.streams.err.text
    assert.is_truthy(err:find "the call was cancelled" or err:find "the engine stopped before it responded", err)
    assert.are.equal(0, engine:wait())
    assert.are.equal(2, (engine.call "echo"))
  end)
end)

describe("the example pods_on.lua", function()
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("reports which pods are on a node", function()
    local sim = cluster.sim { "--pods", "30" }
    local path = folder .. "/admin.sock"
    local engine = cluster.kubelua {
      "run", "-s", sim.server, "-f", "scripts/pods_on.lua", "--admin-socket", path, "--metrics-bind-address", "0",
      "--health-probe-bind-address", "0",
    }
    local function call(...)
      local p = cluster.kubelua { "call", "--admin-socket", path, "pods-on", ... }
      return p:wait(), p.streams.out.text, p.streams.err.text
    end
    engine:wait_error '"Synced"'
    local _, counts = call()
    local node, count = counts:match "^(%S+) +(%d+)\n"
    local code, rows = call(node)
    assert.are.equal(0, code)
    assert.matches("^NAMESPACE +NAME +PHASE\n", rows)
    assert.are.equal(tonumber(count), select(2, rows:gsub("\n", "")) - 1)
    local refused, _, err = call "no-such-node"
    assert.are.equal(1, refused)
    assert.matches("kubelua call: pods%-on: no pods on no%-such%-node\n", err)
    engine:kill "TERM"
    assert.are.equal(0, engine:wait())
  end)
end)

describe("kubelua call of a cron", function()
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("runs it now, and lists it with its schedule", function()
    local own = engine_of(cluster.sim().server, { tidy = [[
      k8s.cron("0 3 * * *", function() k8s.sleep "10ms" return { tidied = 3 } end, { name = "tidy" })
    ]] })
    own:wait_on(own.streams.err, "Starting")
    local _, out = own.call()
    assert.has_match('Runs the function of k8s.cron "0 3 * * *" now.', out, 1, true)
    assert.are.same({ 0, '{\n    "tidied": 3\n}\n', "" }, { own.call("tidy", "-o", "json") })
    assert.are.same({ 1, "", "kubelua call: tidy: a run takes no arguments\n" }, { own.call("tidy", "x") })
    local code, _, err = own.call "tidi"
    assert.are.equal(2, code)
    assert.has_match('did you mean "tidy"?', err, 1, true)
  end)
end)
