-- What an operator gives to scripts is given wherever they are loaded: --lua-path, --limit, --trust.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("paths of the operator", function()
  local folder, script, modules, sim

  before_each(function()
    folder = temp.folder()
    temp.run(("mkdir -p %s/modules/team %s/spec"):format(folder, folder))
    temp.write(folder .. "/modules/team/names.lua", "return { kind = 'pods', of = function(o) return o:key() end }\n")
    script = folder .. "/tells.lua"
    temp.write(script, [[
      local k8s = require "k8s"
      local names = require "team.names"
      k8s.informer(names.kind):on_add(function(pod) print("pod", names.of(pod)) end)
      k8s.main(function() end)
    ]])
    modules = folder .. "/modules"
    sim = cluster.sim { "--pods", "1" }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Exit code, stdout and stderr, with the flag and without.
  local function both(words)
    local without = cluster.kubelua(words)
    local more = { unpack(words) }
    more[#more + 1] = "--lua-path"
    more[#more + 1] = modules
    local with = cluster.kubelua(more)
    return { with:wait(30), with:out(), with:err() }, { without:wait(30), without:out(), without:err() }
  end

  local missing = "module 'team.names' not found"

  it("is a module that check, rbac and record find on --lua-path", function()
    local with, without = both { "check", "-f", script }
    assert.are.same({ 0, "" }, { with[1], with[2] })
    assert.has_match("1 script, 0 errors, 0 warnings; no server was asked", with[3], 1, true)
    assert.are.equal(1, without[1])
    assert.has_match("tells.lua:2: error: [^\n]*" .. missing, without[2])
    with, without = both { "rbac", "-f", script, "-s", sim.server }
    assert.are.equal(0, with[1], with[3])
    assert.has_match("resources: [pods]", with[2], 1, true)
    assert.are.equal(2, without[1])
    assert.has_match(missing, without[3], 1, true)
    with, without = both { "record", "-o", folder .. "/a.rec", "-f", script, "-s", sim.server, "--for", "1s" }
    assert.are.equal(0, with[1], with[3])
    assert.has_match(missing, without[3], 1, true)
  end)

  it("is a module that run, exec and replay find", function()
    local engine = cluster.run(sim.server, script, { "--lua-path", modules })
    engine:wait_line "^pod\t"
    local with, without = both { "exec", script, "-s", sim.server }
    assert.are.equal(0, with[1], with[3])
    assert.are.equal(2, without[1])
    local recorder = cluster.kubelua { "record", "-o", folder .. "/a.rec", "-s", sim.server, "--for", "1s", "pods" }
    assert.are.equal(0, recorder:wait(30), recorder:err())
    with, without = both { "replay", folder .. "/a.rec", "-f", script, "--speed", "max" }
    assert.are.equal(0, with[1], with[3])
    assert.has_match("^pod\t", with[2])
    assert.are.equal(2, without[1])
    assert.has_match(missing, without[3], 1, true)
  end)

  it("is a module that the scripts of a spec find", function()
    temp.write(folder .. "/spec/tells_spec.lua", [[
      local test = require "k8s.test"
      it("prints the name", function()
        local env = test.load "tells.lua"
        env:add { kind = "Pod", metadata = { namespace = "shop", name = "web" } }
        assert.equal("pod\tshop/web", env.prints[1])
      end)
    ]])
    local with, without = both { "test", folder }
    assert.are.equal(0, with[1], with[2])
    assert.are.equal(1, without[1])
    assert.has_match(missing, without[2], 1, true)
  end)

  it("are limits of scripts under test, unless their spec sets others", function()
    temp.write(folder .. "/spec/tells_spec.lua", [[
      local test = require "k8s.test"
      it("has more timers than it may", function()
        assert.has_error(function() test.load "timers.lua" end)
      end)
      it("has as many as it may", function() test.load("timers.lua", { limits = { timers = 5 } }) end)
    ]])
    temp.write(folder .. "/timers.lua", 'for _ = 1, 5 do require("k8s").after(1, print) end')
    local p = cluster.kubelua { "test", folder, "--limit", "timers=4" }
    assert.are.equal(0, p:wait(30), p:out())
    p = cluster.kubelua { "test", folder }
    assert.are.equal(1, p:wait(30), p:out())
    p = cluster.kubelua { "test", folder, "--limit", "timerz=4" }
    assert.are.equal(2, p:wait(30), p:out())
    assert.has_match("did you mean timers", p:err())
  end)

  it("are limits and trust in a replay, as under run", function()
    temp.write(script, [[
      local k8s = require "k8s"
      k8s.informer("pods"):on_add(function()
        local until_then = 0
        for i = 1, 2e7 do until_then = until_then + i % 7 end
        print("counted", until_then > 0)
      end)
    ]])
    local recorder = cluster.kubelua { "record", "-o", folder .. "/a.rec", "-s", sim.server, "--for", "1s", "pods" }
    assert.are.equal(0, recorder:wait(30), recorder:err())
    local function replay(...)
      local p = cluster.kubelua { "replay", folder .. "/a.rec", "-f", script, "--speed", "max", ... }
      return p:wait(60), p:out(), p:err()
    end
    local _, out, err = replay("--handler-cpu", "10ms")
    assert.are.equal("", out)
    assert.has_match("over the limit handler%-cpu %(10ms%)", err)
    assert.are.equal("counted\ttrue\n", select(2, replay("--limit", "handler-cpu=20s")))
    assert.are.equal("counted\ttrue\n", select(2, replay("--trust", script)))
    local code
    code, _, err = replay("--trust", "tels")
    assert.are.equal(2, code)
    assert.has_match('^kubelua replay: %-%-trust: script "tels" not found', err)
    code, _, err = replay("--limit", "handler-cpi=1s")
    assert.are.equal(2, code)
    assert.has_match("did you mean handler%-cpu", err)
  end)
end)
