-- Exec plugins as an operator meets them: what they say, that they are not there, and their end. No server is needed:
-- nothing is sent before there are credentials.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local script = [[ require("k8s").informer("pods"):add_event_handler { OnAdd = print } ]]

describe("an exec plugin", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function kubeconfig(exec)
    temp.write(folder .. "/config", ([[
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, %s}}}]
]]):format(exec))
    return folder .. "/config"
  end

  local function plugin(text)
    temp.write(folder .. "/plugin", "#!/bin/sh\n" .. text)
    os.execute(("chmod +x '%s/plugin'"):format(folder))
    return kubeconfig "command: ./plugin"
  end

  local function read_pid()
    local file = io.open(folder .. "/pid")
    local pid = file and file:read "*n"
    if file then file:close() end
    return pid
  end

  local function is_alive(pid)
    local file = io.open(("/proc/%d/stat"):format(pid))
    local state = file and file:read("*a"):match "%) (%a)"
    if file then file:close() end
    return state and state ~= "Z" or false
  end

  -- T-12
  it("that hangs delays nothing but requests, and ends with the engine, with what it has started", function()
    local file = plugin(("echo working on it >&2; sleep 1000 & echo $! >'%s/pid'; wait"):format(folder))
    local engine = cluster.run("--kubeconfig=" .. file, cluster.script(script),
      { "--health-probe-bind-address", "127.0.0.1:0" })
    local probes = api.new { server = "http://" .. engine:wait_error 'Serving health probes" address="([^"]+)"' }
    engine:wait_error 'Exec plugin output" command="[^"]*/plugin" text="working on it"'
    local pid = await(read_pid, "the plugin's pid")
    assert.are.equal(200, (probes:curl("GET", "/healthz")))
    assert.are.equal(500, (probes:curl("GET", "/readyz")))
    local before = proc.now()
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_true(proc.now() - before < 5)
    await(function() return not is_alive(pid) end, "the end of the plugin")
  end)

  -- Nothing is taken apart then: it is killed all the same (T-12).
  local function hang()
    return plugin(("sleep 1000 & echo $! >'%s/pid'; wait"):format(folder))
  end

  it("that hangs ends with an engine that a second signal ends", function()
    local engine = cluster.run("--kubeconfig=" .. hang(), cluster.script [[
      require("k8s").after(0.01, function() print "stuck" while true do end end)
    ]], { "--shutdown-timeout", "1h", "--limit", "handler-cpu=1h" })
    local pid = await(read_pid, "the plugin's pid")
    engine:wait_line "^stuck$"
    engine:kill "INT"
    engine:kill "TERM"
    engine:wait()
    assert.has_match("second signal received", engine:err(), 1, true)
    await(function() return not is_alive(pid) end, "the end of the plugin")
  end)

  it("that hangs ends with an engine to which nobody listens any more", function()
    local path = cluster.script [[
      local k8s = require "k8s"
      k8s.every(0.01, function() print "another line" end)
      k8s.main(function() k8s.list "pods" end)
      k8s.reads { "pods:list" }
    ]]
    local p = proc.spawn { "bash", "-c", '"$0" exec "$1" --kubeconfig "$2" | (while [ ! -s "$3" ]; do head -n 1; done)',
      cluster.binary, path, hang(), folder .. "/pid" }
    p:wait()
    local pid = read_pid()
    await(function() return not is_alive(pid) end, "the end of the plugin")
  end)

  -- T-12
  it("that hangs is what main waits for, and what status reports", function()
    local file, waits = plugin "sleep 1000", "waiting for the exec plugin " .. folder .. "/plugin"
    local exec = cluster.kubelua { "exec", "--kubeconfig", file, "--sync-timeout", "2s", cluster.script [[
      local pods = require("k8s").informer "pods"
      require("k8s").main(function() return pods end)
    ]] }
    assert.are.equal(3, exec:wait())
    assert.has_match("informers did not sync within --sync-timeout: pods: " .. waits .. " (", exec:err(), 1, true)
    local socket = folder .. "/admin"
    local engine = cluster.run("--kubeconfig=" .. file, cluster.script(script), { "--admin-socket", socket })
    local text = await(function()
      local status = cluster.kubelua { "status", "--admin-socket", socket }
      return status:wait() == 0 and status:out():match "\nexec plugin: [^\n]*" and status:out()
    end, "a status that tells of the plugin")
    assert.has_match("\nexec plugin: " .. waits .. " for ", text, 1, true)
    assert.has_match("plugin for %d+s\n", text)
    assert.has_no_match("waiting for discovery", text)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- T-12
  it("that fails is named by those who wait", function()
    local engine = cluster.run("--kubeconfig=" .. plugin "echo no network >&2; exit 7", cluster.script(script))
    engine:wait_error 'Exec plugin output" command="[^"]*/plugin" text="no network"'
    engine:wait_error 'Discovery failed" err="GET /api: exec plugin [^"]*/plugin: exit code 7"'
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- What is before the NUL byte might be a token, too: of somebody else.
  it("that returns a token with a NUL byte has none, and nothing is sent", function()
    local engine = cluster.run("--kubeconfig=" .. plugin([[
cat <<'EOF'
{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t0psecret\u0000more"}}
EOF]]), cluster.script(script))
    engine:wait_error('Discovery failed" err="GET /api: exec plugin [^"]*/plugin: '
      .. 'its token must not contain a NUL byte"')
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_nil(engine:err():find("t0psecret", 1, true))
  end)

  -- T-14
  it("that is not installed is named, by those who wait again and again, with its hint, once", function()
    local file = kubeconfig "command: no-such-plugin, installHint: get it from the shelf"
    local engine = cluster.run("--kubeconfig=" .. file, cluster.script(script))
    engine:wait_error 'The exec plugin is not installed" command="no%-such%-plugin" hint="get it from the shelf"'
    for _ = 1, 2 do -- runs, more than a second apart
      engine:wait_error 'Discovery failed" err="GET /api: exec plugin no%-such%-plugin: it is not installed"'
    end
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(1, select(2, engine:err():gsub("get it from the shelf", "")))
    assert.are.equal(1, select(2, engine:err():gsub("Exec plugin failed", "")))
  end)
end)
