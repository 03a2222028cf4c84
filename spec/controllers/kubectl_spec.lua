-- kubectl on `kubelua sim --world` and on a kube-apiserver with kube-controller-manager and kube-scheduler of the same
-- version, where spec/controllers/kubelet.lua takes the place of kubelets: each script of this folder prints the same
-- on both. `./dev prove controllers` runs it; KUBELUA_CONTROLLERS=NAME one script alone.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local plain = require "spec.controllers.plain"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local folder = "spec/controllers"

local function scripts()
  local names, wanted = {}, os.getenv "KUBELUA_CONTROLLERS"
  for name in temp.run("ls " .. folder .. "/*.sh"):gmatch "([^/\n]+)%.sh" do
    if name ~= "lib" and (not wanted or wanted == name) then names[#names + 1] = name end
  end
  return names
end

describe("kubectl beside controllers", function()
  local sim, server, home
  local parts = {}

  local function start_part(words)
    words.stderr = ("%s/%d.log"):format(home, #parts + 1)
    parts[#parts + 1] = proc.spawn(words)
  end

  -- The nodes that the world made for itself, in the real cluster.
  local function copy_nodes()
    local list = sim.api:get "/api/v1/nodes"
    for _, node in ipairs(list.items) do
      node.kind, node.apiVersion = "Node", "v1"
      for _, field in ipairs { "uid", "resourceVersion", "creationTimestamp", "managedFields" } do
        node.metadata[field] = nil
      end
    end
    temp.write(home .. "/nodes.json", cjson.encode(list))
    server:kubectl("create -f " .. home .. "/nodes.json")
  end

  setup(function()
    home = temp.folder()
    sim = cluster.sim { "--world", "--world-nodes", "3", "--write-kubeconfig", home .. "/simulated" }
    server = apiserver.start()
    copy_nodes()
    local access = { "--kubeconfig=" .. server.kubeconfig, "--leader-elect=false", "--secure-port=0" }
    start_part { "build/real/kube-scheduler", unpack(access) }
    start_part { "build/real/kube-controller-manager", "--service-account-private-key-file=" .. server.dir
      .. "/service-account.key", "--root-ca-file=" .. server.ca, "--node-monitor-grace-period=24h",
      "--horizontal-pod-autoscaler-sync-period=3s",
      "--flex-volume-plugin-dir=" .. home .. "/volumes", unpack(access) }
    cluster.run("--kubeconfig=" .. server.kubeconfig, folder .. "/kubelet.lua", { "--limit", "writes=60000" })
  end)

  teardown(function()
    for _, part in ipairs(parts) do part:kill "TERM" end
    for _, part in ipairs(parts) do part:wait(30) end
    cluster.stop_all()
    server:stop()
    temp.remove(home)
  end)

  -- Both at a time, as they mostly wait.
  local function run_both(name)
    local command = "TOOL=build/real/kubectl KUBECONFIG='%s' NS=%s timeout 500 bash %s/lib.sh %s/%s.sh >%s/%s 2>&1"
    local function on(kubeconfig, file)
      return command:format(kubeconfig, name .. "-spec", folder, folder, name, home, file)
    end
    temp.run(("%s & %s & wait"):format(on(server.kubeconfig, "real"), on(home .. "/simulated", "world")))
    return plain.of(temp.read(home .. "/real")), plain.of(temp.read(home .. "/world"))
  end

  -- Lines of the real one with "<", those of the world with ">"; "" if there are none. Both texts stay in build/.
  local function difference(name, real, simulated)
    local kept = "build/controllers/" .. name
    temp.run "mkdir -p build/controllers"
    temp.write(kept .. ".real", real .. "\n")
    temp.write(kept .. ".world", simulated .. "\n")
    return (temp.run(("diff %s.real %s.world"):format(kept, kept)))
  end

  for _, name in ipairs(scripts()) do
    it("prints the same of " .. name, function()
      local real, simulated = run_both(name)
      assert.has_match("exit code 0", real)
      assert.has_no_match('"[^\n]*" is not "[^\n]*"', real) -- a wait that came to nothing
      assert.are.equal("", difference(name, real, simulated))
      print(("# %s: %d commands, %d lines"):format(name, select(2, real:gsub("\n%$ kubectl", "")),
        select(2, real:gsub("\n", "")) + 1))
    end)
  end
end)
