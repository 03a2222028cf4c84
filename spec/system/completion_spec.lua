-- `kubelua completion`: candidates as shells ask for them, by Bash, Zsh and fish themselves where they are installed;
-- and the man pages, which come from the same table.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"

-- Exit code, stdout, stderr.
local function run(...)
  local p = cluster.kubelua { ... }
  local code = p:wait()
  return code, p:out(), p:err()
end

-- The candidates, and what the shell adds.
local function complete(...)
  local code, out = run("__complete", ...)
  assert.are.equal(0, code)
  local names, more = {}, nil
  for line in out:gmatch "[^\n]+" do
    names[#names + 1] = line:match "^[^\t]+"
    more = line
  end
  names[#names] = nil
  return names, more
end

local function has(shell) return os.execute("command -v " .. shell .. " >/dev/null 2>&1") == 0 end

describe("kubelua completion", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("completes commands, flags, their values and what an argument may be", function()
    assert.are.same({ "rbac", "run", "reload", "rollback", "repl", "record", "replay" }, (complete "r"))
    assert.are.same({ "repl", "replay" }, (complete("help", "repl")))
    assert.are.same({ "--watch-list", "--watch-list-deadline" }, (complete("run", "--watch-l")))
    assert.are.same({ "auto", "on", "off" }, (complete("run", "--watch-list", "")))
    assert.are.same({ "--watch-list=on", "--watch-list=off" }, (complete("run", "--watch-list=o")))
    assert.are.same({ "bash", "zsh", "fish" }, (complete("completion", "")))
    assert.are.same({ { "cluster" }, ":files" }, { complete("types", "--from", "") })
    assert.are.same({ "custom-columns=" }, (complete("get", "-o", "c")))
    assert.are.same({}, (complete("get", "-o", "custom-columns=")))
    assert.are.same({ {}, ":files" }, { complete("run", "--kubeconfig", "") })
    assert.are.same({ {}, ":directories" }, { complete("run", "--lua-path", "") })
    assert.are.same({ {}, ":none" }, { complete("run", "--shutdown-timeout", "") })
    assert.are.same({ { "builtin:pod-security", "builtin:probes" }, ":none" }, { complete("audit", "-f", "builtin:p") })
    assert.are.equal(":files", select(2, complete("audit", "-f", "scr")))
    assert.are.same({ {}, ":none" }, { complete("no-such", "--x") })
    assert.are.same({ { "ttl" }, ":none" }, { complete("init", "--recipe", "tt") })
    assert.are.same({ "deployments.apps" }, (complete("record", "dep")))
    assert.are.same({ "deployments.apps" }, (complete("publish", "dep")))
  end)

  it("offers something for each -o that has no word yet, but names of files", function()
    local count = 0
    for _, name in ipairs((complete "")) do
      local _, help = run("help", name)
      local arg = help:match "\n  %-o, %-%-output (%S+)"
      local names, more = complete(name, "-o", "")
      if arg and arg ~= "FILE" then
        count = count + 1
        assert.is_true(#names > 1, name)
        assert.are.equal(":none", more)
      elseif arg then
        assert.are.same({ {}, ":files" }, { names, more })
      end
    end
    assert.is_true(count > 10, count)
  end)

  it("completes names of the kubeconfig, kinds of the cluster, scripts and commands of the engine", function()
    local sim = cluster.sim()
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      metadata = { name = "gadgets.example.com" },
      spec = { group = "example.com", scope = "Namespaced", names = { plural = "gadgets", kind = "Gadget" },
        versions = { { name = "v1", served = true, storage = true,
          schema = cluster.any_schema } } },
    })
    local config = folder .. "/config"
    temp.write(config, cjson.encode {
      apiVersion = "v1", kind = "Config", ["current-context"] = "here",
      clusters = { { name = "local", cluster = { server = sim.server } } }, users = { { name = "me", user = {} } },
      contexts = { { name = "here", context = { cluster = "local", user = "me" } },
        { name = "there", context = { cluster = "local", user = "me" } } },
    })
    assert.are.same({ "here", "there" }, (complete("run", "--kubeconfig", config, "--context", "")))
    assert.are.same({ "--cluster=local" }, (complete("run", "--kubeconfig", config, "--cluster=")))
    assert.are.same({ "me" }, (complete("run", "--kubeconfig=" .. config, "--user", "m")))
    assert.are.same({ "gadgets.example.com" }, (complete("record", "--kubeconfig", config, "gad")))
    assert.are.same({ "gadgets.example.com" }, (complete("run", "--kubeconfig", config, "--history", "gad")))
    assert.are.same({ "deployments.apps" }, (complete("run", "--kubeconfig", config, "--shard-kinds", "deployments.")))

    local socket = folder .. "/admin.sock"
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.command("drain", function() end, { help = "Drains it" })
      k8s.informer "configmaps"
    ]]
    cluster.run(sim.server, script, { "--admin-socket", socket }):wait_error '"Starting"'
    local _, calls = run("__complete", "call", "--admin-socket", socket, "")
    assert.matches("^drain\tDrains it\n:none\n$", calls)
    assert.are.same({ (script:gsub("%.lua$", "")) }, (complete("reload", "--admin-socket", socket, "")))
    assert.are.same({}, (complete("rollback", "--admin-socket", folder .. "/none.sock", "")))
    assert.are.same({ "configmaps" }, (complete("history", "--admin-socket", socket, "")))
  end)

  it("refuses another shell, and names the nearest", function()
    local code, _, err = run("completion", "bahs")
    assert.are.equal(2, code)
    assert.are.equal('kubelua completion: no shell "bahs", did you mean "bash"?; there are: bash, zsh, fish\n', err)
    code, _, err = run "completion"
    assert.are.equal(2, code)
    assert.are.equal("kubelua completion: no shell given; there are: bash, zsh, fish\n", err)
  end)

  -- What Bash puts into COMPREPLY.
  local function in_bash(line)
    local p = proc.spawn { "bash", "-c", [[
      source <("$1" completion bash)
      kubelua() { :; }
      COMP_LINE=$2 COMP_POINT=${#2}
      compopt() { :; }
      _kubelua
      printf '%s\n' "${COMPREPLY[@]}"]], "bash", binary, line }
    assert.are.equal(0, p:wait(), p:err())
    return p:out()
  end

  it("works in Bash, which cuts words at = and :", function()
    assert.are.equal("json\n", in_bash(binary .. " status -o j"))
    assert.are.equal("auto\non\noff\n", in_bash(binary .. " run --watch-list="))
    assert.are.equal("pod-security\nprobes\n", in_bash(binary .. " audit -f builtin:p"))
    temp.write(folder .. "/a.lua", "")
    assert.are.equal(folder .. "/a.lua\n", in_bash(binary .. " exec " .. folder .. "/a"))
  end)

  it("works in fish", function()
    if not has "fish" then return pending "fish is not installed" end
    local path = (binary:match "^(.*)/") .. ":" .. os.getenv "PATH"
    local p = proc.spawn { "env", "HOME=" .. folder, "PATH=" .. path, "fish", "-c",
      "kubelua completion fish | source; complete -C 'kubelua status -o j'; complete -C 'kubelua completion '" }
    assert.are.equal(0, p:wait(), p:err())
    assert.are.equal("json\nbash\nfish\nzsh\n", p:out())
  end)

  it("is valid in Zsh", function()
    if not has "zsh" then return pending "zsh is not installed" end
    local p = proc.spawn { "zsh", "-fc", "source <(" .. binary .. " completion zsh 2>&1); whence -w _kubelua" }
    p:wait()
    assert.matches("_kubelua: function", p:out())
  end)

  it("has a man page for each command, without a warning", function()
    local names = complete ""
    for _, name in ipairs(names) do
      if name ~= "help" then
        local code, page = run("__man", name)
        assert.are.equal(0, code)
        assert.matches("^%.TH KUBELUA\\%-" .. name:upper() .. " 1 ", page)
        temp.write(folder .. "/page.1", page)
        local p = proc.spawn { "groff", "-man", "-Tutf8", "-ww", "-z", folder .. "/page.1" }
        assert.are.same({ 0, "" }, { p:wait(), p:err() })
      end
    end
    assert.matches("kubelua\\%-run\\fR%(1%)", (select(2, run "__man")))
  end)
end)
