-- `kubelua test`: which specs it runs, what it hands on to busted, and its exit codes.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("kubelua test", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function file(name, text) temp.write(folder .. "/" .. name, text) end

  -- Exit code, stdout, stderr.
  local function run(...)
    local p = cluster.kubelua { "test", ... }
    return p:wait(), p:out(), p:err()
  end

  local PASSES, FAILS = 'it("does well", function() end)\n', 'it("does badly", function() assert.equal(1, 2) end)\n'

  it("runs the specs of a directory and of its directory spec, and those below", function()
    file("a_spec.lua", 'it("one", function() end)\n')
    file("spec/b_spec.lua", 'it("two", function() end)\n')
    file("spec/deep/c_spec.lua", 'it("three", function() end)\n')
    file("other/d_spec.lua", 'it("four", function() end)\n')
    file("spec/helper.lua", "error 'this is no spec'\n")
    local code, out = run(folder, "-o", "TAP")
    assert.equal("ok 1 - one\nok 2 - two\nok 3 - three\n1..3\n", out)
    assert.equal(0, code)
  end)

  it("runs files by their names, each once", function()
    file("a_spec.lua", PASSES)
    file("any.lua", 'it("any", function() end)\n')
    local path = folder .. "/any.lua"
    local _, out = run(path, folder, path, "-o", "TAP")
    assert.equal("ok 1 - any\nok 2 - does well\n1..2\n", out)
  end)

  it("ends with 1 when a spec fails, and reports where", function()
    file("a_spec.lua", PASSES .. FAILS)
    local code, out = run(folder)
    assert.equal(1, code)
    assert.has_match("1 success / 1 failure / 0 errors", out, 1, true)
    assert.has_match("a_spec.lua:2: Expected objects to be equal.", out, 1, true)
  end)

  it("ends with 1 when a spec does not compile", function()
    file("a_spec.lua", "it(\n")
    local code, out = run(folder)
    assert.equal(1, code)
    assert.has_match("a_spec.lua:2:", out, 1, true)
  end)

  it("ends with 2 and names where it searched when there are no specs", function()
    local code, out, err = run(folder .. "/")
    assert.equal(2, code)
    assert.equal("", out)
    assert.equal(("kubelua test: no specs: neither %s/*_spec.lua nor %s/spec/**/*_spec.lua is there\n")
      :format(folder, folder), err)
    local _
    code, _, err = run(folder .. "/nothing")
    assert.equal(2, code)
    assert.equal(("kubelua test: %s/nothing: No such file or directory\n"):format(folder), err)
  end)

  it("ends with 2 and names the filters when no test matches", function()
    file("a_spec.lua", PASSES .. 'pending("comes later")\n')
    local function told(...)
      local code, _, err = run(folder, ...)
      return code .. " " .. err
    end
    assert.equal("2 kubelua test: no test matches --filter=zzz\n", told("--filter", "zzz"))
    assert.equal("2 kubelua test: no test matches --filter=does --tags=slow\n", told("--filter", "does", "-t", "slow"))
    assert.equal("2 kubelua test: no test matches --filter-out=.\n", told("--filter-out", "."))
    assert.equal("2 kubelua test: no test matches --filter=zzz\n", told("--list", "--filter", "zzz"))
    assert.equal("0 ", told("--filter", "does"))
    assert.equal("0 ", told("--filter", "later"))
    assert.equal("0 ", told("--list"))
    file("a_spec.lua", 'describe("nothing yet", function() end)\n')
    assert.equal("2 kubelua test: the specs contain no tests\n", told())
    file("a_spec.lua", "it(\n")
    assert.equal(1, (run(folder, "--filter", "zzz")))
  end)

  local binary = temp.run("realpath " .. cluster.binary):gsub("%s", "")

  it("names -R where only deeper directories have specs", function()
    file("deep/a/b/a_spec.lua", PASSES)
    local code, _, err = run(folder .. "/deep")
    assert.equal(2, code)
    assert.has_match("_spec.lua is there; -R finds 1 in deeper directories\n", err, 1, true)
    assert.equal(0, (run("-R", folder .. "/deep")))
  end)

  it("names the directory spec beside a directory of scripts that has none", function()
    file("project/spec/deep/a_spec.lua", PASSES)
    file("project/scripts/b.lua", "")
    local looked = "kubelua test: no specs: neither %s/*_spec.lua nor %s/spec/**/*_spec.lua is there"
    local project = folder .. "/project"
    local code, _, err = run(project .. "/scripts/")
    assert.equal(2, code)
    assert.equal((looked .. "; those of %s/spec are run by kubelua test %s\n")
      :format(project .. "/scripts", project .. "/scripts", project, project), err)
    local out
    local function at(where, ...)
      local words = { where, binary, ... }
      return temp.run(("cd %s && %s test " .. ("%s "):rep(#words - 2)):format(unpack(words)))
    end
    out, code = at(project, "scripts")
    assert.equal(2, code)
    assert.equal((looked .. "; those of spec are run by kubelua test .\n"):format("scripts", "scripts"), out)
    for where, what in pairs { [project] = ".", [folder] = "project", [project .. "/scripts"] = "../spec" } do
      out, code = at(where, what)
      assert.equal(0, code, out)
      assert.has_match("1 success / 0 failures / 0 errors", out, 1, true)
    end
    assert.equal(0, select(2, at(project)))
    out, code = at(project .. "/scripts", ".")
    assert.equal(2, code)
    assert.equal((looked .. "\n"):format(".", "."), out)
  end)

  it("names the package that is missing when there is no busted", function()
    file("a_spec.lua", PASSES)
    local p = cluster.kubelua { "test", folder, env = { LUA_PATH = "/nowhere/?.lua" } }
    assert.equal(2, p:wait())
    assert.equal(
      "kubelua test: busted is not installed (apt install lua-busted)\n",
      p:err()
    )
  end)

  it("hands busted's options on by busted's names", function()
    file("a_spec.lua", 'it("a #slow", function() end) it("b", function() end) it("c", function() end)\n')
    local function tap(...)
      local _, out = run(folder, "-o", "TAP", ...)
      return out:gsub("ok %d+ %- ", ""):gsub("\n", " ")
    end
    assert.equal("b c 1..2 ", tap("--exclude-tags", "slow"))
    assert.equal("a #slow 1..1 ", tap("-t", "slow"))
    assert.equal("a #slow c 1..2 ", tap("--filter", "[ac]"))
    assert.equal("b 1..1 ", tap("--filter-out=[ac]"))
    assert.equal("a #slow b c 1..3 a #slow b c 1..3 ", tap("--repeat", "2"))
    assert.equal(tap("--shuffle", "--seed", "7"), tap("--shuffle", "--seed", "7"))
    local _, listed = run(folder, "--list", "--sort")
    assert.equal("a #slow\nb\nc\n", listed)
    local code, xml = run(folder, "-o", "junit")
    assert.equal(0, code)
    assert.has_match("<testcase [^>]*name='b'", xml)
  end)

  it("stops at the first failure with the flag not to go on", function()
    file("a_spec.lua", FAILS .. PASSES)
    local _, out = run(folder, "--keep-going=false")
    assert.has_match("0 successes / 1 failure", out, 1, true)
  end)

  it("provides specs with io, os, a compiling LuaJIT and the parts of k8s without a cluster", function()
    file("a_spec.lua", [[
      local k8s = require "k8s"
      it("has all", function()
        assert.is_true((jit.status()))
        assert.is_function(io.open)
        assert.is_function(os.getenv)
        assert.equal('{"a":[],"b":null}', k8s.json.encode { a = k8s.json.array {}, b = k8s.null })
        assert.equal(k8s.int64 "9007199254740993", k8s.json.decode "[9007199254740993]"[1])
        assert.is_true(k8s.selects("app=web", { app = "web" }))
        assert.is_nil(k8s.informer)
      end)
    ]])
    local code, out = run(folder)
    assert.equal(0, code, out)
  end)

  it("ends with 130 at an interrupt, and what it printed is not lost", function()
    file("a_spec.lua", PASSES .. 'it("loops", function() print "looping" while true do end end)\n')
    local p = cluster.kubelua { "test", folder, "-o", "TAP" }
    p:wait_line "^looping$"
    p:kill "INT"
    assert.equal(130, p:wait())
  end)
end)
