-- kubelua plan: what a reload would change in a running engine, and that asking changes nothing.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local HEAD = 'local k8s = require "k8s"\n'
local PODS = HEAD .. 'local pods = k8s.informer("pods")\n'

describe("kubelua plan", function()
  local sim, engine, folder
  local function write(name, text) temp.write(folder .. "/" .. name, text) end

  -- Exit code, stdout, stderr.
  local function plan(...)
    local p = cluster.kubelua { "plan", "--admin-socket", folder .. "/admin.sock", ... }
    local code = p:wait()
    return code, p:out(), p:err()
  end

  local function decoded(...)
    local code, out = plan("-ojson", ...)
    return cjson.decode(out), code
  end

  local function row(answer, name)
    for _, one in ipairs(answer.scripts) do
      if one.name:match "[^/]+$" == name then return one end
    end
  end

  before_each(function()
    folder = temp.folder()
    sim = cluster.sim { "--pods", "1" }
    -- The engine has one folder, and plans are made of another, so that it does not reload by itself.
    write("live/kept.lua", PODS .. 'pods:on_add(function() end, { id = "it" })')
    write("live/edited.lua", PODS .. [[
      pods:on_add(function() print "x" end, { id = "it" })
      k8s.every("30s", function() end)
    ]])
    write("live/gone.lua", HEAD .. 'k8s.command("gone", function() end)')
    os.execute(("cp -r '%s/live' '%s/next'"):format(folder, folder))
    engine = cluster.run(sim.server, folder .. "/live", { "--admin-socket", folder .. "/admin.sock", "-n", "shop",
      "--trust", folder .. "/live/gone" })
    engine:wait_error "Synced"
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("reports that nothing would change", function()
    local code, out = plan("-f", folder .. "/live")
    assert.are.equal("3 scripts: 3 unchanged\n", out)
    assert.are.equal(0, code)
    code, out = plan("-f", folder .. "/next") -- the same texts elsewhere
    assert.are.equal("3 scripts: 3 unchanged\n", out)
    assert.are.equal(0, code)
    local answer = decoded("-f", folder .. "/next/edited.lua")
    assert.are.same({ unchanged = 1, added = 0, changed = 0, reloaded = 0, removed = 0, refused = 0 }, answer.summary)
    assert.are.same({}, answer.scripts[1].changes)
    assert.is_true(answer.scripts[1].unchanged >= 3)
  end)

  it("reports what is added, removed and changed, and what only is loaded again", function()
    write("next/new.lua", HEAD .. 'k8s.command("fresh", function() end)')
    write("next/kept.lua", PODS .. 'pods:on_add(function() end, { id = "it" }) -- a comment')
    write("next/edited.lua", PODS .. [[
      pods:on_add(function() print "y" end, { id = "it" })
      k8s.informer("nodes")
      k8s.every("31s", function() end)
    ]])
    os.remove(folder .. "/next/gone.lua")
    local code, out = plan("-f", folder .. "/next")
    assert.are.equal(1, code)
    assert.has_match("live/edited: changes, generation 1 runs\n", out, 1, true)
    local edited_file = folder .. "/next/edited.lua"
    assert.has_match("\n  + informer nodes in shop (" .. edited_file .. ":4)\n"
      .. "      starts a list and watch, unless", out,
      1, true)
    assert.has_match("\n  ~ handler it: OnAdd changed (" .. edited_file .. ":3)\n", out, 1, true)
    assert.has_match("\n  - timer every 30s {function}\n", out, 1, true)
    assert.has_match("\n  + timer every 31s {function} (" .. edited_file .. ":5)\n", out, 1, true)
    assert.is_nil(out:find("function " .. ("%x"):rep(16)))
    assert.has_match("\n  1 unchanged\n", out, 1, true)
    assert.has_match("live/kept: reloaded, generation 1 runs; what it registers is the same\n", out, 1, true)
    assert.has_match("next/new: new\n  + command fresh ", out, 1, true)
    assert.has_match("live/gone: stops, its file is gone; generation 1 runs\n  - command gone ", out, 1, true)
    assert.has_match("\n4 scripts: 1 to stop, 1 to be reloaded, 1 to change, 1 new\n$", out)
    local answer = decoded("-f", folder .. "/next")
    local edited = row(answer, "edited")
    assert.are.equal("changed", edited.result)
    assert.are.equal(1, edited.generation)
    assert.are.equal(1, edited.unchanged)
    assert.are.equal(4, #edited.changes)
    for _, change in ipairs(edited.changes) do
      if change.class == "handler" then
        assert.has_match("OnAdd=function %x+}$", change.before)
        assert.has_match("OnAdd=function %x+}$", change.after)
        assert.are.same({ edited_file, 3 }, { change.file, change.line })
      end
      assert.are.equal(change.class == "handler" and "changed" or change.key == "every 30s" and "removed" or "added",
        change.change)
    end
    assert.are.equal("removed", row(answer, "gone").result)
    assert.are.equal("added", row(answer, "new").result)
    -- One file says nothing of the others.
    assert.are.equal(1, #decoded("-f", folder .. "/next/kept.lua").scripts)
  end)

  it("reports which informers are listed again, as their transforms changed", function()
    local function transforming(mark)
      return HEAD .. "local mark = " .. mark .. [[

        k8s.informer("pods", { transform = function(o) o.mark = mark return o end })
      ]]
    end
    write("live/edited.lua", transforming "1")
    engine:wait_error 'Reloaded" script="[^"]*edited"'
    write("next/edited.lua", transforming "2")
    local _, out = plan("-f", folder .. "/next/edited.lua")
    local place = " (" .. folder .. "/next/edited.lua:3)\n"
    assert.has_match("  ~ transform pods in shop: function changed" .. place .. "      its informer is relisted\n",
      out, 1, true)
    write("next/edited.lua", transforming "k8s.state('s', { version = 1 })")
    _, out = plan("-f", folder .. "/next/edited.lua")
    local unlike = "  ~ transform pods in shop: `mark` is a userdata, which cannot be compared"
    assert.has_match(unlike .. place, out, 1, true)
    write("next/edited.lua", transforming "1" .. " -- a comment")
    _, out = plan("-f", folder .. "/next/edited.lua")
    assert.has_match("1 to be reloaded\n$", out)
  end)

  it("names what does not load, with the line", function()
    write("next/edited.lua", HEAD .. "if then")
    local code, out = plan("-f", folder .. "/next")
    assert.are.equal(3, code)
    assert.has_match("live/edited: refused: .*next/edited%.lua:2: unexpected symbol", out)
    assert.has_match("1 to be refused, 2 unchanged\n$", out)
    local answer = decoded("-f", folder .. "/next/edited.lua")
    assert.has_match("edited%.lua:2: ", row(answer, "edited").error)
  end)

  it("reports a state that the engine has no directory for, and where one is to be kept", function()
    write("live/edited.lua", HEAD .. 'k8s.state("n", {})')
    engine:wait_error 'Reloaded" script="[^"]*edited"'
    write("next/edited.lua", HEAD .. 'k8s.state("n", { keep = "file" })')
    local code, out = plan("-f", folder .. "/next/edited.lua")
    assert.are.equal(3, code)
    local message = 'edited.lua:2: k8s.state: n: keep = "file" needs a directory, which --state-dir gives'
    assert.has_match(message, out, 1, true)
    write("next/edited.lua", HEAD .. 'k8s.state("n", { keep = "configmap" })')
    code, out = plan("-f", folder .. "/next/edited.lua")
    assert.are.equal(1, code)
    assert.has_match("~ state n: ", out, 1, true)
  end)

  it("reports what a reload would refuse, though it loads, as the reload then does", function()
    write("live/edited.lua", HEAD .. 'k8s.state("n", { version = 1 })\nk8s.metric.counter("n_total", "n")')
    engine:wait_error 'Reloaded" script="[^"]*edited"'
    write("next/edited.lua", HEAD .. '\nk8s.state("n", { version = 2 })')
    local code, out = plan("-f", folder .. "/next/edited.lua")
    local no_migrate = "edited%.lua:3: k8s%.state: n: version changes from 1 to 2 without a migrate function"
    assert.are.equal(3, code)
    assert.has_match("live/edited: refused: [^\n]*" .. no_migrate .. "\n1 script: 1 to be refused\n$", out)
    local answer
    answer, code = decoded("-f", folder .. "/next/edited.lua")
    assert.are.equal(3, code)
    assert.are.equal("refused", answer.scripts[1].result)
    assert.are.equal(1, answer.summary.refused)
    os.rename(folder .. "/next/edited.lua", folder .. "/live/edited.lua")
    engine:wait_error("Reload refused.*" .. no_migrate)
    write("next/edited.lua", HEAD .. 'k8s.state("n", { version = 2, migrate = function() return {} end })')
    assert.are.equal(1, (plan("-f", folder .. "/next/edited.lua")))
    write("next/kept.lua", PODS .. 'k8s.metric.counter("n_total", "n", {})') -- is the other script's
    assert.are.equal(1, (plan("-f", folder .. "/next/kept.lua")))
    local taken = "kept%.lua:3: k8s%.metric: n_total: the script [^\n]*live/edited has it with another type, help, "
      .. "labels or buckets"
    write("next/kept.lua", PODS .. 'k8s.metric.gauge("n_total", "n")')
    code, out = plan("-f", folder .. "/next/kept.lua")
    assert.are.equal(3, code)
    assert.has_match("live/kept: refused: [^\n]*" .. taken .. "\n", out)
    os.rename(folder .. "/next/kept.lua", folder .. "/live/kept.lua")
    engine:wait_error("Reload refused.*" .. taken)
  end)

  it("has no limit of CPU where the engine trusts", function()
    local slow = HEAD .. "local t = os.clock() while os.clock() - t < 0.7 do end"
    write("next/gone.lua", slow)
    write("next/edited.lua", slow)
    local _, out = plan("-f", folder .. "/next")
    assert.has_match("live/edited: refused: [^\n]*over the limit load%-cpu", out)
    assert.has_match("live/gone: changes, ", out)
  end)

  it("changes nothing, and prints the same as the reload then does", function()
    write("next/edited.lua", PODS .. 'print "loaded"\npods:on_add(function() print "y" end, { id = "it" })')
    local lists = sim.api:get("/sim/stats").lists
    local answer = decoded("-f", folder .. "/next/edited.lua")
    assert.are.equal(2, #answer.scripts[1].changes)
    assert.are.equal(lists, sim.api:get("/sim/stats").lists)
    assert.is_nil(engine:out():find "loaded")
    os.rename(folder .. "/next/edited.lua", folder .. "/live/edited.lua")
    engine:wait_line "loaded"
    engine:wait_error 'Reloaded" script="[^"]*edited"'
    await(function() return (plan("-f", folder .. "/live")) == 0 end, "the new generation to be what the file says")
  end)

  it("ends with 2 when there is no engine or no file", function()
    local p = cluster.kubelua { "plan", "-f", folder .. "/next", "--admin-socket", folder .. "/none.sock" }
    assert.are.equal(2, p:wait())
    assert.has_match("^kubelua plan: [^\n]*none%.sock[^\n]*\n$", p:err())
    local code, out, err = plan("-f", folder .. "/missing.lua")
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert.has_match("missing.lua: No such file", err, 1, true)
    code, out, err = plan()
    assert.are.equal("", out)
    assert.are.equal(2, code)
    assert.has_match("no script given; use -f FILE or -f DIR", err, 1, true)
  end)
end)
