-- -R: scripts of the directories below that of -f, for every command that takes scripts, and while an engine runs.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local script = scripts_folder.script

describe("-R #threads", function()
  local place, sim
  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
  end)

  local function shell(text) assert.equal(0, os.execute("cd '" .. place.path .. "' && " .. text), text) end

  -- Names of the scripts of an engine, below the directory that it was given.
  local function names(engine)
    local list = {}
    for i, one in ipairs(cjson.decode((engine.ask("status", "-ojson"))).scripts) do
      list[i] = one.name:match "/scripts/(.*)$"
    end
    return table.concat(list, " ")
  end

  describe("of an engine", function()
    local function start(args) return place:start(sim, nil, { "-R", unpack(args or {}) }) end

    it("loads two scripts of one file name, and none of modules, specs and hidden directories", function()
      place:write("a.lua", script "top")
      place:write("team/a.lua", script("nested", 'require "_names"'))
      place:write("team/_names.lua", "return {}")
      place:write("_lib/a.lua", "error 'a module'")
      place:write(".git/a.lua", "error 'hidden'")
      place:write("team/a_spec.lua", "error 'a spec'")
      local engine = start()
      assert.equal("a team/a", names(engine))
      engine:wait_line "nested add"
    end)

    it("loads what comes into new directories, also later, and stops what goes with one", function()
      place:write("a.lua", script "a")
      local engine = start()
      place:write("one/two/b.lua", script "b")
      engine:wait_line "b loaded"
      place:write("one/two/three/c.lua", script "c")
      engine:wait_line "c loaded"
      place:write("one/d.lua", script "d")
      engine:wait_line "d loaded"
      place:write("one/two/b.lua", script "b2")
      engine:wait_line "b2 loaded"
      shell "rm -r scripts/one/two"
      engine:wait_error 'Script stopped because its file was removed" script="[^"]+/one/two/three/c"'
      engine:wait_error 'Script stopped because its file was removed" script="[^"]+/one/two/b"' -- from the end
      assert.equal("a one/d", names(engine))
      place:write("one/two/b.lua", script "b3") -- a directory of the same name is another
      engine:wait_line "b3 loaded"
      place:write("one/two/b.lua", script "b4")
      engine:wait_line "b4 loaded"
    end)

    it("follows a directory of a ConfigMap, which is behind links that are exchanged", function()
      local function release(number, mark)
        place:write(("..%d/team/a.lua"):format(number), script(mark))
        shell(("cd scripts && ln -sfn ..%d ..next && mv -T ..next ..data"):format(number))
      end
      release(1, "one")
      shell "ln -s ..data/team scripts/team"
      local engine = start()
      assert.equal("team/a", names(engine))
      release(2, "two")
      engine:wait_line "two loaded"
      shell "rm -r scripts/..1"
      release(3, "three")
      engine:wait_line "three loaded"
      engine.await("team/a", function(one) return one.generation == 3 end)
      -- A key that the next version of the ConfigMap does not have.
      shell "mkdir scripts/..4 && ln -sfn ..4 scripts/..next && mv -T scripts/..next scripts/..data && rm scripts/team"
      engine:wait_error 'Script stopped because its file was removed" script="[^"]+/team/a"'
    end)

    it("ends neither at a link that leads back nor for a file that is there twice", function()
      place:write("a/b/x.lua", script "x")
      shell "ln -s ../.. scripts/a/b/up"
      local engine = start()
      assert.equal("a/b/x", names(engine))
      shell "ln -s b scripts/a/c"
      engine:wait_error 'Failed to scan for scripts" err="[^"]+/a/b/x.lua and [^"]+/a/c/x.lua are the same file"'
      assert.equal("a/b/x", names(engine))
      shell "rm scripts/a/c"
      place:write("a/y.lua", script "y")
      engine:wait_line "y loaded"
    end)

    it("names a script that does not load by its path, at the start and later", function()
      place:write("a.lua", script "a")
      place:write("team/bad.lua", "local = 1\n")
      local p = cluster.run(sim.server, place.path .. "/scripts", { "-R" })
      assert.equal(2, p:wait())
      assert.matches("/scripts/team/bad.lua:1: ", p:err(), 1, true)
      os.remove(place.path .. "/scripts/team/bad.lua")
      local engine = start()
      place:write("other/bad.lua", "local = 1\n")
      engine:wait_error 'Reload refused.* script="[^"]+/other/bad"'
      local one = engine.await("other/bad", function(one) return one.reloadError end)
      assert.matches("/scripts/other/bad.lua:1: ", one.reloadError, 1, true)
      assert.equal(1, engine.script("/a").generation)
    end)

    it("is a setting as others: of the environment, and of --config", function()
      place:write("team/a.lua", script "a")
      temp.write(place.path .. "/kubelua.yaml", "recursive: true\n")
      local engine = place:start(sim, nil, { "--config", place.path .. "/kubelua.yaml" })
      assert.equal("team/a", names(engine))
      local by_env = cluster.kubelua { "run", "-s", sim.server, "-f", place.path .. "/scripts",
        env = { KUBELUA_RECURSIVE = "true" } }
      by_env:wait_line "a loaded"
    end)
  end)

  describe("of other commands", function()
    local folder
    before_each(function()
      folder = place.path .. "/scripts"
      place:write("a.lua", script("top", 'print "top ran"'))
      place:write("team/a.lua", script "nested" .. [[
        k8s.informer("configmaps"):on_add(function() end)
        k8s.rule { id = "told", kinds = { "pods" }, check = function(obj, r) r:fail("told") end }
      ]])
    end)

    -- Exit code, stdout, stderr of the command with -R, and stdout without.
    local function both(verb, ...)
      local plain = cluster.kubelua { verb, "-f", folder, ... }
      plain:wait()
      local p = cluster.kubelua { verb, "-R", "-f", folder, ... }
      return p:wait(), p:out(), p:err(), plain:out()
    end

    it("is that of check", function()
      place:write("team/bad.lua", "local = 1\n")
      local code, out, _, plain = both "check"
      assert.equal(1, code)
      assert.matches(folder .. "/team/bad.lua:1: ", out, 1, true)
      assert.has_no_match("team/bad.lua", plain, 1, true)
    end)

    it("is that of rbac", function()
      local code, out, err, plain = both("rbac", "--against", "docs/shop.json")
      assert.equal(0, code, err)
      assert.matches("configmaps", out, 1, true)
      assert.has_no_match("configmaps", plain, 1, true)
    end)

    it("is that of record and replay", function()
      local recording = place.path .. "/a.rec"
      local function streams(...)
        local p = cluster.kubelua { "record", "-s", sim.server, "-o", recording, "-f", folder, "--for", "500ms", ... }
        assert.equal(0, p:wait(), p:err())
        return tonumber(p:err():match "Recorded (%d+) stream")
      end
      assert.equal(1, streams())
      assert.equal(2, streams "--recursive")
      local p = cluster.kubelua { "replay", recording, "--speed", "max", "-f", folder, "-R" }
      assert.equal(0, p:wait(), p:err())
      assert.matches("nested add", p:out(), 1, true)
    end)

    it("is that of audit, for -f and --from", function()
      temp.write(place.path .. "/manifests/deep/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\n")
      local code, out, err = both("audit", "--from", place.path .. "/manifests", "-o", "json")
      assert.equal(1, code, err)
      assert.equal("told", cjson.decode(out).results[1].rule)
    end)

    it("is that of test, which runs the specs beside scripts", function()
      place:write("team/a_spec.lua", 'it("is run", function() end)\n')
      local plain = cluster.kubelua { "test", folder }
      assert.equal(2, plain:wait())
      local p = cluster.kubelua { "test", "-R", folder, "-o", "TAP" }
      assert.equal(0, p:wait(), p:err())
      assert.equal("ok 1 - is run\n1..1\n", p:out())
      p = cluster.kubelua { "test", "-R", folder .. "/team/../team/a.lua/.." }
      assert.equal(2, p:wait())
    end)

    it("is that of plan, which shows what goes with its directory", function()
      local engine = place:start(sim, nil, { "-R", "--report=metrics" })
      local function plan(from, ...) return (engine.ask("plan", "-f", from, ...)) end
      assert.equal("2 scripts: 2 unchanged\n", plan(folder, "-R"))
      assert.equal("1 script: 1 unchanged\n", plan(folder))
      shell "cp -r scripts next"
      assert.equal("2 scripts: 2 unchanged\n", plan(place.path .. "/next", "-R")) -- each a.lua is its own
      shell "rm -r next/team && mkdir next/new && cp scripts/a.lua next/new/b.lua"
      local out = plan(place.path .. "/next", "-R")
      assert.matches("scripts/team/a: stops, its file is gone", out, 1, true)
      assert.matches("next/new/b: new", out, 1, true)
      assert.matches("3 scripts: 1 to stop, 1 new, 1 unchanged", out, 1, true)
    end)

    it("is named where a directory has scripts only below it", function()
      for _, verb in ipairs { "run", "check", "rbac", "plan" } do
        local p = cluster.kubelua { verb, "-f", place.path }
        os.remove(folder .. "/a.lua")
        assert.equal(2, p:wait())
        assert.matches("no scripts (*.lua) in this directory; ", p:err(), 1, true)
        p = cluster.kubelua { verb, "-f", folder }
        assert.equal(2, p:wait())
        assert.matches("; with -R, those of the directories below are taken\n", p:err(), 1, true)
      end
    end)
  end)
end)
