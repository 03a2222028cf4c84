-- k8s.test: its own specs (spec/testing) and those of the examples run in `kubelua test`, as users run theirs.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("kubelua test", function()
  after_each(cluster.stop_all)

  local function run(...)
    local p = cluster.kubelua { "test", ... }
    return p:wait(120), p:out(), p:err()
  end

  it("passes the specs of k8s.test", function()
    local code, out, err = run("spec/testing", "-o", "TAP")
    assert.equal(0, code, out .. err)
    assert.has_match("ok 10 ", out, 1, true)
  end)

  it("has a spec for each example", function()
    for path in io.popen("ls scripts/*.lua"):lines() do
      local spec = path:gsub("scripts/(.*)%.lua$", "scripts/spec/%1_spec.lua")
      assert(io.open(spec), "there is no " .. spec):close()
    end
  end)

  it("passes the specs of the examples and of the recipes, of which each has one", function()
    for _, folder in ipairs { "scripts", "scripts/recipes" } do
      local code, out, err = run(folder, "-o", "TAP")
      assert.equal(0, code, out .. err)
    end
    for path in io.popen("ls scripts/recipes/*.lua"):lines() do
      local name = path:match "([%w_]+)%.lua$"
      assert(io.open(("scripts/recipes/spec/%s_spec.lua"):format(name)), path .. " has no spec"):close()
      local lines = select(2, assert(io.open(path)):read("*a"):gsub("\n", "\n"))
      assert.is_true(lines < 80, path .. " has " .. lines .. " lines")
      local p = cluster.kubelua { "rbac", "-f", path, "--name", "kubelua-" .. name:gsub("_", "-") }
      assert.equal(0, p:wait())
      assert.equal(temp.read(("scripts/recipes/rights/%s.yaml"):format(name)), p:out()) -- made so
    end
  end)

  it("ends the output of a failing spec with what happened in its environments", function()
    local folder = temp.folder {
      ["hello.lua"] = 'local k8s = require "k8s"\nk8s.every("20s", function() print "hello" end)\n',
      ["spec/hello_spec.lua"] = [[
        local test = require "k8s.test"
        it("prints hello", function()
          local env = test.load "hello.lua"
          env:advance "30s"
          assert.printed(env, "good bye")
        end)
      ]],
    }
    local code, out = run(folder)
    temp.remove(folder)
    assert.equal(1, code)
    assert.equal((([[
hello_spec.lua:5: Expected a line:
  good bye
It printed:
  hello

What happened with FOLDER/hello.lua:
      0.000s  load     FOLDER/hello.lua
      0.000s  advance  30s
     20.000s  print    hello
]]):gsub("FOLDER", (folder:gsub("%%", "%%%%")))), out:match "hello_spec.lua:5: .*")
  end)

  it("names the command that failed in what happened", function()
    local folder = temp.folder {
      ["x.lua"] = [[
        local k8s = require "k8s"
        k8s.command("teams", function() error "boom" end)
      ]],
      ["spec/x_spec.lua"] = [[
        local test = require "k8s.test"
        it("calls", function() test.load("x.lua"):call "teams" end)
      ]],
    }
    local code, out = run(folder)
    temp.remove(folder)
    assert.equal(1, code)
    assert.has_match("FAILED   command teams: [^\n]*/x.lua:2: boom\n", out)
  end)

  it("reports a fault that no request met, whether or not the spec passes", function()
    local folder = temp.folder {
      ["x.lua"] = 'require("k8s").informer("pods")\n',
      ["spec/x_spec.lua"] = [[
        local test = require "k8s.test"
        local function load()
          local env = test.load "x.lua"
          env:fault { verb = "patch", kind = "pods", code = 409 }
          env:fault { verb = "create", code = 500, times = 0 }
          env:fault { verb = "list", code = 500 }
          env:clear_faults()
          env:fault { verb = "get", kind = "pods", code = 500, skip = 1 }
          return env
        end
        it("passes", function() load():fault { verb = "delete", delay = "1s" } end)
        it("fails", function() assert.printed(load(), "never") end)
      ]],
    }
    local code, out, err = run(folder)
    temp.remove(folder)
    assert.equal(1, code)
    local lines = {}
    for line in err:gmatch "[^\n]+" do
      lines[#lines + 1] = line:gsub("^(kubelua test: ).*/spec/", "%1")
    end
    assert.same({
      'kubelua test: x_spec.lua:8: no request matched env:fault {"code":500,"kind":"pods","skip":1,"verb":"get"}',
      'kubelua test: x_spec.lua:11: no request matched env:fault {"delay":"1s","verb":"delete"}',
    }, lines)
    assert.has_match('x_spec.lua:8: no request matched env:fault {"code":500,"kind":"pods"', out, 1, true)
  end)

  it("finds scripts from the directory under test, wherever it is run", function()
    local folder = temp.folder {
      ["x.lua"] = 'print "x"\n',
      ["x_spec.lua"] = 'it("a", function() assert.printed(require("k8s.test").load "x.lua", "x") end)\n',
      ["spec/y_spec.lua"] = 'it("b", function() assert.printed(require("k8s.test").load "x.lua", "x") end)\n',
    }
    local here = temp.run(("cd %s && %s test"):format(folder, io.popen("realpath " .. cluster.binary):read "*l"))
    local code, out = run(folder)
    temp.remove(folder)
    assert.has_match("2 successes / 0 failures / 0 errors", here, 1, true)
    assert.equal(0, code, out)
  end)
end)
