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

  local function install()
    local p = proc.spawn { "cmake", "--install", cluster.binary:match "^(.*)/", "--prefix", folder .. "/usr" }
    assert.equal(0, p:wait(60), p:err())
  end

  it("has pages whose links lead to what is installed", function()
    install()
    local doc = folder .. "/usr/share/doc/kubelua"
    local out, code = temp.run("spec/support/dead-links " .. doc)
    assert.same({ "", 0 }, { out, code })
    assert.matches("(../deploy/rbac.yaml)", temp.read(doc .. "/docs/running.md"), 1, true)
    assert.matches("[rules that ship](rules.md)", temp.read(doc .. "/docs/install.md"), 1, true)
    assert.matches("(../../../kubelua/rules)", temp.read(doc .. "/docs/rules.md"), 1, true)
    local pages = temp.read(doc .. "/docs/README.md")
    assert.matches("[../scripts](../examples): examples to copy", pages, 1, true)
    assert.matches("- dev/schema.md (in the source, docs/dev/schema.md): ", pages, 1, true)
    assert.matches("- ../CONTRIBUTING.md (in the source, CONTRIBUTING.md): ", pages, 1, true)
    -- All but the links is as it was.
    local function plain(text)
      text = text:gsub(" %(in the source, [^)]*%)", ""):gsub("%[([^%[%]\n]*)%]%([^)\n]*%)", "%1")
      return text
    end
    for path in io.popen "ls README.md CHANGELOG.md docs/*.md":lines() do
      assert.equal(plain(temp.read(path)), plain(temp.read(doc .. "/" .. path)), path)
    end
    temp.write(doc .. "/docs/wrong.md", "[here](README.md), [nowhere](none.md#a), [away](https://example.com/a)\n")
    out, code = temp.run("spec/support/dead-links " .. doc)
    assert.same({ "docs/wrong.md:1: none.md\n", 1 }, { out, code })
  end)

  it("runs the specs of a project, and names the package that it lacks", function()
    install()
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
