-- Reloads seen by the operator and by other replicas: what was refused is told, and a lease changes hands when the old
-- generation has done with it.
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local HEAD = scripts_folder.HEAD .. 'k8s.informer "pods"\n'

describe("a reload #threads", function()
  local sim, place
  local function write(name, text) place:write(name, text) end

  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
  end)

  local function holder(lease)
    local code, body = sim.api:curl("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/" .. lease)
    return code == 200 and require("cjson").decode(body).spec.holderIdentity or ""
  end

  local function leads(mark, lease, more)
    return HEAD .. ([[
      k8s.leader { lease = "%s", duration = %s, renew = "2s", retry = "100ms" }
      k8s.on_leader(function() print "%s start" end, function()
        print "%s stop"
        k8s.sleep "1s"
        print "%s stopped"
      end)
    ]]):format(lease, more or '"3s"', mark, mark, mark)
  end

  local function said(engine) return (engine:out():gsub("\n", " ")) end

  it("begins to lead when the old generation has ended to, by the same lease", function()
    write("a.lua", leads("a", "one"))
    local engine = place:start(sim)
    engine:wait_line "a start"
    local me = holder "one"
    assert.are_not.equal("", me)
    write("a.lua", leads("b", "one"))
    engine:wait_line "b start"
    assert.are.equal("a start a stop a stopped b start ", said(engine))
    assert.are.equal(me, holder "one")
  end)

  it("keeps a lease until then, and takes another one after it", function()
    write("a.lua", leads("a", "one"))
    local engine = place:start(sim)
    engine:wait_line "a start"
    local me = holder "one"
    write("a.lua", leads("b", "two"))
    engine:wait_line "a stop"
    assert.are.equal("", holder "two")
    assert.are.equal(me, holder "one")
    engine:wait_line "b start"
    assert.are.equal("a start a stop a stopped b start ", said(engine))
    assert.are.equal("", holder "one")
    assert.are.equal(me, holder "two")
    write("a.lua", leads("c", "two", '"4s"')) -- the same lease with other times
    engine:wait_line "c start"
    assert.has_match("b start b stop b stopped c start ", said(engine), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal("", holder "two")
  end)

  it("reports new files that do not load, with the line and since when", function()
    write("a.lua", HEAD .. "k8s.every('1s', function() end)")
    local engine = place:start(sim)
    engine.await("a", function(s) return s.generation == 1 end)
    write("new.lua", HEAD .. "if then")
    local one = engine.await("new", function(s) return s.reloadError ~= "" end)
    assert.has_match("new%.lua:3: unexpected symbol", one.reloadError)
    assert.has_match("^%d+%-%d%d%-%d%dT", one.reloadErrorTime)
    assert.are.equal(0, one.generation)
    assert.is_false(one.fileIsRunning)
    assert.is_nil(one.handlers)
    write("a.lua", HEAD .. "x = = 1")
    engine.await("a", function(s) return s.reloadError ~= "" end)
    local out, code = engine.ask "status"
    assert.are.equal(0, code)
    assert.has_match("scripts/new .-refused, not running: [^\n]*new%.lua:3: [^\n]* %(%d+s ago%)", out)
    assert.has_match("scripts/a .-reload refused: [^\n]*a%.lua:3: [^\n]* %(%d+s ago%)", out)
    out, code = engine.ask("reload", "new")
    assert.are.equal(3, code)
    assert.has_match("scripts/new: refused, not running: .*new%.lua:3:", out)
    write("new.lua", HEAD .. "print 'new runs'")
    engine:wait_line "new runs"
    one = engine.await("new", function(s) return s.generation == 1 end)
    assert.are.equal("", one.reloadError)
    write("gone.lua", "x = = 1")
    engine.await("gone", function(s) return s.reloadError ~= "" end)
    os.remove(place.path .. "/scripts/gone.lua")
    engine:wait_error 'Script stopped because its file was removed" script="[^"]*gone"'
    assert.is_nil(engine.script "gone")
  end)
end)
