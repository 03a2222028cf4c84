-- Scripts that change in ways that tell less than what is meant: files on their way, links that are exchanged, what an
-- old generation leaves undone.
local cjson = require "cjson"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local script = scripts_folder.script

describe("a script that changes #threads", function()
  local sim, place
  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
  end)

  local COUNT = [[
    local kept = k8s.state "n"
    k8s.command("count", function() kept.n = (kept.n or 0) + 1 return kept.n end)
  ]]

  it("keeps its state while its file is written again in place, or moved there", function()
    place:write("a.lua", script("a", COUNT))
    local engine = place:start(sim)
    assert.are.equal("1\n", (engine.ask("call", "count")))
    place:write("a.lua", "")
    place:write("b.lua", script "b") -- both are looked at
    engine:wait_line "b loaded"
    assert.are.equal(1, engine.script("a").generation)
    place:write("a.lua", script("a2", COUNT))
    engine:wait_line "a2 loaded"
    engine.await("a", function(s) return s.generation == 2 end)
    os.remove(place.path .. "/scripts/a.lua")
    place:write("c.lua", script "c")
    engine:wait_line "c loaded"
    assert.is_truthy(engine.script "a")
    place:write("a.lua", script("a3", COUNT))
    engine:wait_line "a3 loaded"
    engine.await("a", function(s) return s.generation == 3 end)
    assert.are.equal("2\n", (engine.ask("call", "count")))
  end)

  -- A process that writes the parts in place, with a pause after each and the file open. It dies with the spec.
  local function write_slowly(name, pause, ...)
    local parts = {}
    for i, part in ipairs { ... } do
      local last = i == select("#", ...) and "exec " or ""
      temp.write(("%s/part%d"):format(place.path, i), part)
      parts[i] = ("cat '%s/part%d' >&3; %ssleep %s"):format(place.path, i, last, pause)
    end
    return proc.spawn { "sh", "-c", ("exec 3>'%s/scripts/%s'; %s"):format(place.path, name, table.concat(parts, "; ")) }
  end

  it("is loaded when its writer closes it, not when that pauses", function()
    place:write("a.lua", script("a", COUNT))
    local engine = place:start(sim)
    assert.are.equal("1\n", (engine.ask("call", "count")))
    write_slowly("a.lua", "0.7", script "half", COUNT, 'print "whole loaded"\n')
    engine:wait_line "whole loaded"
    local one = engine.await("a", function(s) return s.generation > 1 end)
    assert.are.equal(2, one.generation)
    assert.are.equal("2\n", (engine.ask("call", "count")))
    assert.has_no_match("half written", engine:err(), 1, true)
  end)

  it("is loaded as it is when its writer holds it open for long, and the log reports it", function()
    place:write("a.lua", script "a")
    local engine = place:start(sim)
    local writer = write_slowly("a.lua", "1000", script "held")
    engine:wait_error 'Script file may be half written, its writer has not closed it for 5 s" file="[^"]+/a.lua"'
    engine:wait_line "held loaded"
    writer:kill "TERM"
    writer:wait()
  end)

  it("is tried again on SIGHUP, also when another file was open then", function()
    place:write("a.lua", script "a")
    place:write("b.lua", script "b")
    local engine = place:start(sim)
    place:write("a.lua", script("a2", "error 'broken'"))
    engine:wait_error "Reload refused.*broken"
    local tried = engine.script("a").tried
    local open = assert(io.open(place.path .. "/scripts/b.lua", "w"))
    open:write(script "b2")
    open:flush()
    engine:kill "HUP"
    engine:wait_error 'Checking all scripts for changes" signal="SIGHUP"'
    open:close()
    engine:wait_line "b2 loaded"
    engine.await("a", function(one) return one.tried > tried end)
  end)

  it("may be empty for good", function()
    place:write("a.lua", script "a")
    local engine = place:start(sim)
    place:write("a.lua", "")
    engine.await("a", function(s) return s.generation == 2 end)
  end)

  it("is seen when a directory on the way is a link that is exchanged", function()
    temp.write(place.path .. "/releases/1/x.lua", script "one")
    temp.write(place.path .. "/releases/2/x.lua", script "two")
    temp.write(place.path .. "/releases/3/x.lua", script "three")
    local function link(release) os.execute(("cd '%s' && ln -sfn releases/%d current"):format(place.path, release)) end
    link(1)
    os.execute(("ln -s current '%s/outer'"):format(place.path))
    local engine = place:start(sim, place.path .. "/outer")
    link(2)
    engine:wait_line "two loaded"
    link(3)
    engine:wait_line "three loaded"
  end)

  it("reports that its main does not run again", function()
    local main = 'k8s.main(function() print "main" k8s.sleep "1h" end)\n'
    place:write("a.lua", script("a", main))
    local engine = place:start(sim)
    engine:wait_line "main"
    assert.are.equal("running", engine.script("a").mainState)
    place:write("a.lua", script("b", main))
    local one = engine.await("a", function(s) return s.generation == 2 end)
    assert.are.equal("skipped", one.mainState)
    assert.are.equal("not run again after a reload", one.main)
  end)

  it("is not blamed for what was in quarantine before, and a return by hand is no failure", function()
    local stuck = 'k8s.every("20ms", function() ' .. scripts_folder.ENDLESS .. " end)\n"
    place:write("a.lua", script("a", stuck))
    local engine = place:start(sim, nil, { "--handler-cpu", "10ms" })
    engine.await("a", function(s) return #s.quarantined == 1 end)
    place:write("a.lua", script("b", stuck))
    local function two_seconds_later(s) return s.quarantined[1] and s.quarantined[1].skipped >= 100 end
    local one = engine.await("a", function(s) return s.generation > 1 and two_seconds_later(s) end)
    assert.are.equal(2, one.generation, one.reloadError)
    assert.is_false(one.returned)
    local out, code = engine.ask("rollback", "-ojson", "a")
    assert.are.equal(0, code, out)
    assert.is_true(cjson.decode(out).scripts[1].returned)
  end)
end)
