-- `kubelua sim -- COMMAND` and --write-kubeconfig: a simulator for somebody else's tests.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local manifest = [[
kind: ConfigMap
apiVersion: v1
metadata: {name: one}
data: {a: b}
]]

local scratch

-- `kubelua sim ... -- sh -c SCRIPT`, whose temporary files are in `scratch`.
local function beside(script, ...)
  local words = { cluster.binary, "sim", env = { TMPDIR = scratch } }
  for _, word in ipairs { ... } do words[#words + 1] = word end
  for _, word in ipairs { "--", "sh", "-c", script } do words[#words + 1] = word end
  return cluster.start(words)
end

local function left_behind() return (temp.run("ls -A " .. scratch)) end

describe("kubelua sim --", function()
  before_each(function() scratch = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("runs a command on a ready server, with its streams, and ends with its exit code", function()
    local path = scratch .. "/one.yaml"
    temp.write(path, manifest)
    local query = cluster.binary .. [[ exec - <<'END'
local k8s = require "k8s"
k8s.reads { "ConfigMap:get" }
k8s.main(function() print("data.a is " .. k8s.get("ConfigMap", "default/one").data.a) end)
END
]]
    local p = beside(query .. "echo $? >&2; read line; echo \"line $line\"; exit 7", "--load", path)
    p:wait_line "^data.a is b$"
    p:wait_error "^0$"
    p:write "typed\n"
    p:wait_line "^line typed$"
    assert.are.equal(7, p:wait())
    os.remove(path)
    assert.are.equal("", left_behind())
  end)

  it("gives the command alone the kubeconfig", function()
    local p = beside 'ls -l "$KUBECONFIG" | cut -c1-10; dirname "$KUBECONFIG"'
    p:wait_line "^%-rw%-%-%-%-%-%-%-$"
    p:wait_line("^" .. scratch .. "/kubelua%-sim%-%w+$")
    assert.are.equal(0, p:wait())
    assert.are.equal("", left_behind())
  end)

  it("passes signals on, and waits for the command", function()
    local p = beside 'trap "echo hup" HUP; trap "echo term; exit 3" TERM; echo ready; while :; do sleep 0.01; done'
    p:wait_line "^ready$"
    p:kill "HUP"
    p:wait_line "^hup$"
    p:kill "TERM"
    p:wait_line "^term$"
    assert.are.equal(3, p:wait())
    assert.are.equal("", left_behind())
  end)

  it("is killed like its command, and kills what the command left running", function()
    local p = beside "sleep 1000 & echo $!; (setsid sleep 1001 & echo $!); kill -9 $$"
    local first, second = p:wait_line "^(%d+)$", p:wait_line "^(%d+)$"
    assert.are.equal(128 + 9, p:wait())
    for _, pid in ipairs { first, second } do
      assert.are.equal(1, select(2, temp.run("kill -0 " .. pid)))
    end
    assert.are.equal("", left_behind())
  end)

  it("takes its command along when it is killed itself, and all that this has started", function()
    local p = beside "sleep 1000 & echo $!; (setsid sleep 1001 & echo $!); echo $PPID; echo $$; exec sleep 1002"
    local pids = {}
    for i = 1, 4 do pids[i] = p:wait_line "^(%d+)$" end
    p:kill "KILL"
    p:wait()
    for _, pid in ipairs(pids) do
      await(function() return select(2, temp.run("kill -0 " .. pid)) == 1 end, "the end of " .. pid)
    end
  end)

  it("ends like its command when the process between them is killed", function()
    local p = beside "sleep 1000 & echo $!; echo $$; kill -9 $PPID; exec sleep 1001"
    local first, second = p:wait_line "^(%d+)$", p:wait_line "^(%d+)$"
    assert.are.equal(128 + 9, p:wait())
    for _, pid in ipairs { first, second } do
      assert.are.equal(1, select(2, temp.run("kill -0 " .. pid)))
    end
    assert.are.equal("", left_behind())
  end)

  it("ends as a shell does when there is no such command", function()
    for word, code in pairs { ["no-such-command"] = 127, [scratch] = 126 } do
      local p = cluster.start { cluster.binary, "sim", "--", word, env = { TMPDIR = scratch } }
      p:wait_error("^kubelua sim: cannot run " .. word:gsub("%p", "%%%0") .. ": ")
      assert.are.equal(code, p:wait())
    end
    assert.are.equal("", left_behind())
  end)

  it("ends likewise when there is no descriptor for it", function()
    local p = cluster.start { "sh", "-c", "ulimit -n 4; exec " .. cluster.binary .. " sim -- echo begun" }
    p:wait_error "^kubelua sim: cannot run echo: Too many open files$"
    assert.are.equal(126, p:wait())
    assert.are.equal("", p:out())
  end)

  it("takes a command behind -- only", function()
    for text, words in pairs {
      ['unexpected argument "true"; a command stands behind --'] = { "true" },
      ['unexpected argument "a"; a command stands behind --'] = { "a", "--", "true" },
      ["no command behind --"] = { "--" },
    } do
      local p = cluster.start { cluster.binary, "sim", unpack(words) }
      p:wait_error("^kubelua sim: " .. text:gsub("%p", "%%%0") .. "$")
      assert.are.equal(2, p:wait())
    end
    local p = cluster.start { cluster.binary, "sim", "--", "echo", "a", "--", "--help" }
    p:wait_line "^a %-%- %-%-help$"
    assert.are.equal(0, p:wait())
  end)

  it("does not begin when the server cannot", function()
    local p = beside("echo begun", "--load", scratch .. "/none.yaml")
    assert.are.equal(2, p:wait())
    assert.is_nil(p:out():find "begun")
    assert.are.equal("", left_behind())
  end)

  it("serves the replay source, too", function()
    local p = beside("grep -c server: $KUBECONFIG", "--replay", "--pods", "3")
    p:wait_line "^1$"
    assert.are.equal(0, p:wait())
  end)
end)

describe("kubelua sim --write-kubeconfig", function()
  before_each(function() scratch = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("writes a file for any client, which stays", function()
    local path = scratch .. "/config"
    local sim = cluster.sim { "--write-kubeconfig", path, "--listen", "0.0.0.0" }
    local server = temp.read(path):match "server: (%S+)"
    assert.are.equal((sim.server:gsub("0.0.0.0", "127.0.0.1")), server)
    local script = cluster.script [[
local k8s = require "k8s"
k8s.reads { "Namespace:get" }
k8s.main(function() print(k8s.get("Namespace", "default").kind) end)
]]
    local p = cluster.start { cluster.binary, "exec", script, "--kubeconfig", path }
    p:wait_line "^Namespace$"
    assert.are.equal(0, p:wait())
    assert.are.equal(0, cluster.terminate(sim))
    assert.are.equal("config\n", (temp.run("ls " .. scratch)))
  end)

  it("has a token where kubectl would ask for a name", function()
    for flag, count in pairs { ["--tls"] = "1", ["--gzip"] = "0" } do
      local p = beside("grep -c token: $KUBECONFIG; true", flag)
      p:wait_line("^" .. count .. "$")
      assert.are.equal(0, p:wait())
    end
  end)

  it("is what the command gets, and names a path that cannot be written", function()
    local path = scratch .. "/config"
    local p = beside("echo $KUBECONFIG", "--write-kubeconfig", path)
    p:wait_line("^" .. path .. "$")
    assert.are.equal(0, p:wait())
    local q = beside("echo begun", "--write-kubeconfig", scratch .. "/none/config")
    q:wait_error("/none/config: No such file or directory$")
    assert.are.equal(2, q:wait())
    assert.is_nil(q:out():find "begun")
  end)
end)
