-- `kubelua completion`: candidates as shells ask for them, by Bash, Zsh and fish themselves where they are installed;
-- and the man pages, which come from the same table.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
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
    assert.are.same({ "kube-node-lease", "kube-public", "kube-system" },
      (complete("exec", "--kubeconfig", config, "-n", "kube-")))
    assert.are.same({ "--namespace=default" }, (complete("audit", "--kubeconfig", config, "--namespace=d")))
    assert.are.same({}, (complete("run", "--kubeconfig", folder .. "/none", "-n", "")))
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

  -- The URL of a server whose response for the namespaces is the file api/v1/namespaces in the folder.
  local function serve()
    local server = proc.spawn { "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "-d", folder }
    temp.write(folder .. "/api/v1/namespaces", "")
    return "http://127.0.0.1:" .. server:wait_line "port (%d+)"
  end

  -- The path of a kubeconfig whose context leads there.
  local function kubeconfig(name, server)
    temp.write(folder .. "/" .. name, cjson.encode {
      apiVersion = "v1", kind = "Config", ["current-context"] = name, users = { { name = "me", user = {} } },
      clusters = { { name = name, cluster = { server = server } } },
      contexts = { { name = name, context = { cluster = name, user = "me" } } },
    })
    return folder .. "/" .. name
  end

  it("offers what can be read of a response that is broken", function()
    local config = kubeconfig("config", serve())
    for response, names in pairs {
      ['{"items":[{"x":1},{"metadata":{"name":"shop"}}]}'] = { "shop" }, ['{"items":[{"metadata":{"name":5}}]}'] = {},
      ['{"items":[{"metadata":5},5,null,"x"]}'] = {}, ['{"items":{"a":1}}'] = {}, ['{"items":5}'] = {}, ["5"] = {},
      ["null"] = {}, ['"x"'] = {}, ["[]"] = {}, ["{"] = {}, [""] = {}, ["<html>"] = {},
    } do
      temp.write(folder .. "/api/v1/namespaces", response)
      assert.are.same({ names, ":none" }, { complete("run", "--kubeconfig", config, "-n", "") }, response)
    end
  end)

  it("asks the server that the line names", function()
    local sim = cluster.sim()
    local config = kubeconfig("config", serve())
    temp.write(folder .. "/api/v1/namespaces", '{"items":[{"metadata":{"name":"kube-served"}}]}')
    for _, flags in ipairs {
      { "--server", sim.server }, { "-s", sim.server }, { "--server=" .. sim.server, "--insecure-skip-tls-verify" },
    } do
      local words = { "run", "--kubeconfig", config, unpack(flags) }
      words[#words + 1], words[#words + 2] = "-n", "kube-"
      assert.are.same({ "kube-node-lease", "kube-public", "kube-system" }, (complete(unpack(words))))
    end
    assert.are.same({ "kube-served" }, (complete("run", "--kubeconfig", config, "-n", "kube-")))
    assert.are.same({}, (complete("run", "--kubeconfig", config, "--cluster", "none", "-n", "")))
    assert.are.same({}, (complete("run", "--kubeconfig", config, "--user", "none", "-n", "")))
  end)

  it("offers nothing when a response raises an error", function()
    local engine = proc.spawn { "python3", "-uc", [[
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready")
while True:
    client = server.accept()[0]
    client.recv(4096)
    client.sendall(b'{"v":1,"result":{"scripts":[5]}}\n')
    client.close()
]], folder .. "/admin.sock" }
    engine:wait_line "^ready$"
    assert.are.same({ {}, ":none" }, { complete("reload", "--admin-socket", folder .. "/admin.sock", "") })
  end)

  describe("of a running engine's caches", function()
    local place, sim, socket

    local function create(kind, resource, namespace, name)
      sim.api:create(("/api/v1/%s%s"):format(namespace and "namespaces/" .. namespace .. "/" or "", resource),
        { apiVersion = "v1", kind = kind, metadata = { namespace = namespace, name = name } })
    end

    before_each(function()
      place = scripts_folder.new()
      place:write("it.lua", [[
        local k8s = require "k8s"
        for _, kind in ipairs { "configmaps", "nodes", "secrets" } do k8s.informer(kind) end
        k8s.main(function() print "ready" end)
      ]])
      sim = cluster.sim()
      for _, name in ipairs { "shop", "shelf", "ops" } do create("Namespace", "namespaces", nil, name) end
      for _, name in ipairs { "web", "web-2", "db" } do create("ConfigMap", "configmaps", "shop", name) end
      create("ConfigMap", "configmaps", "ops", "web")
      create("Secret", "secrets", "shelf", "token")
      create("Node", "nodes", nil, "node-1")
    end)
    after_each(function() place:remove() end)

    local function start()
      local engine = place:start(sim)
      engine:wait_line "^ready$"
      socket = place.path .. "/admin.sock"
      return engine
    end

    local function of(...) return (complete((...), "--admin-socket", socket, select(2, ...))) end

    it("completes names of objects, also behind a namespace or kind", function()
      start()
      assert.are.same({ "db", "web", "web-2" }, of("get", "cm", ""))
      assert.are.same({ "web", "web-2" }, of("get", "configmap", "db", "we"))
      assert.are.same({ "web" }, of("get", "cm", "-n", "ops", ""))
      assert.are.same({ "ops/web" }, of("get", "cm", "ops/"))
      assert.are.same({ "cm/web", "cm/web-2" }, of("get", "cm/w"))
      assert.are.same({ "cm/db" }, of("get", "cm/web", "cm/d"))
      assert.are.same({}, of("get", "cm/web", "nodes/"))
      assert.are.same({ "node-1" }, of("get", "no", "node"))
      assert.are.same({ "cm/db" }, of("history", "-n", "shop", "cm/d"))
      assert.are.same({}, of("history", "cm/db", ""))
      assert.are.same({}, of("get", "pods", ""))
      assert.are.same({}, of("get", "cm", "x*"))
      assert.are.same({}, of("get", 'cm" x', 'a"\n'))
    end)

    it("completes namespaces of the kind, or of all caches", function()
      start()
      local function namespaces(...)
        local names = of(...)
        table.sort(names)
        return names
      end
      local all = namespaces("get", "-n", "")
      local seen = {}
      for _, name in ipairs(all) do seen[name] = true end
      assert.is_true(seen.shop and seen.ops and seen.shelf)
      assert.are.same({ "shelf", "shop" }, namespaces("get", "-n", "sh"))
      assert.are.same({ "shop" }, namespaces("get", "cm", "-n", "sh"))
      assert.are.same({ "--namespace=shelf" }, namespaces("get", "secrets", "--namespace=sh"))
      assert.are.same({ "shelf" }, namespaces("history", "secret/token", "-n", ""))
      assert.are.same({}, namespaces("get", "nodes", "-n", ""))
    end)

    it("prints so many names that none beyond them begins otherwise", function()
      for i = 1, 600 do create("ConfigMap", "configmaps", "shelf", ("map-%04d-a"):format(i)) end
      for i = 1, 600 do create("ConfigMap", "configmaps", "shelf", ("map-b-%04d"):format(i)) end
      start()
      local names = of("get", "cm", "map-")
      assert.are.same({ 1000, "map-0001-a", "map-b-0600" }, { #names, names[1], names[501] })
    end)

    it("prints so many namespaces that none beyond them begins otherwise", function()
      local list = {}
      for i = 1, 1200 do
        local name = (i <= 600 and "ns-%04d-a" or "ns-b-%04d"):format(i)
        list[#list + 1] = { apiVersion = "v1", kind = "Namespace", metadata = { name = name } }
        list[#list + 1] = { apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = name, name = "it" } }
      end
      temp.write(folder .. "/list.json", cjson.encode { apiVersion = "v1", kind = "List", items = list })
      sim = cluster.sim { "--load", folder .. "/list.json" }
      start()
      local names = of("get", "cm", "-n", "ns-")
      assert.are.same({ 1000, "ns-0001-a", "ns-b-1200" }, { #names, names[1], names[1000] })
    end)

    it("completes namespaces when the server does not know a kind", function()
      place:write("it.lua", [[
        local k8s = require "k8s"
        k8s.informer "foos.example.com"
        k8s.informer("configmaps"):on_add(function() print "ready" end)
      ]])
      start()
      assert.are.same({ "shop" }, of("get", "-n", "sh"))
      assert.are.same({}, of("get", "foos.example.com", "-n", ""))
    end)

    it("offers nothing when there is no engine, or it does not respond", function()
      local engine = start()
      engine:kill "STOP"
      local before = os.time()
      for _, words in ipairs { { "get", "cm", "" }, { "get", "-n", "" }, { "get", "" } } do
        assert.are.same({}, of(unpack(words)))
      end
      assert.is_true(os.time() - before < 20)
      engine:kill "CONT"
      socket = place.path .. "/none.sock"
      assert.are.same({ {}, {} }, { of("get", "cm", ""), of("get", "-n", "") })
    end)
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
