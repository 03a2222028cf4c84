-- A program that `cmake --install` put somewhere is complete: it needs nothing of the tree that it was built from.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

describe("an installed program", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function() temp.remove(folder) end)

  -- Exit code, stdout, stderr of a command line in the folder, with no more environment than a new user has.
  local function run(environment, line)
    local clean = 'cd "$0" && exec env -i HOME=/nonexistent PATH=/usr/bin:/bin '
    local p = proc.spawn { "sh", "-c", clean .. environment .. " usr/bin/kubelua " .. line, folder }
    return p:wait(), p:out(), p:err()
  end

  it("runs the specs of a project, and names the package that it lacks", function()
    local install = proc.spawn { "cmake", "--install", cluster.binary:match "^(.*)/", "--prefix", folder .. "/usr" }
    assert.equal(0, install:wait(60), install:err())
    local unit = temp.read(folder .. "/usr/lib/systemd/system/kubelua.service")
    assert.matches("\nExecStart=" .. folder .. "/usr/bin/kubelua run ", unit, 1, true)
    assert.equal(0, (run("", "init project")))
    local code, out, err = run("", "test project -o TAP")
    assert.matches("^ok 1 %- ", out .. err)
    assert.equal(0, code)
    -- As one of the user's own scripts would be: with a module beside it.
    temp.write(folder .. "/own/_words.lua", 'return { mark = "seen" }\n')
    temp.write(folder .. "/own/a.lua", [[
      local k8s = require "k8s"
      local words = require "_words"
      k8s.informer("pods"):on_add(function(pod) print(words.mark .. " " .. pod:name()) end)
    ]])
    temp.write(folder .. "/own/a_spec.lua", [[
      local test = require "k8s.test"
      it("sees a pod", function()
        local env = test.load "a.lua"
        env:add { kind = "Pod", metadata = { name = "web", namespace = "shop" } }
        assert.same({ "seen web" }, env.prints)
      end)
      it("fails", function() assert.equal(1, 2) end)
    ]])
    code, out, err = run("", "test own -o TAP")
    assert.matches("^ok 1 %- sees a pod\nnot ok 2 %- fails\n", out .. err)
    assert.equal(1, code)
    code, out, err = run("LUA_PATH=/nowhere/?.lua", "test own")
    assert.same({ 2, "", "kubelua test: busted is not installed (apt install lua-busted)\n" }, { code, out, err })
  end)
end)
