-- Nodes: some for a cluster that has none; pods that a node no longer has, or repels, go.
local api = require "world.api"
local cache = require "world.cache"
local placing = require "world.placing"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "nodes"

local controller = { name = ID }
local wanted = 0

local function new_node(number)
  local now, name = times.text(), "node-" .. number
  local resources = { cpu = "16", memory = "64Gi", pods = "110", ["ephemeral-storage"] = "100Gi" }
  local function condition(type, status, reason)
    return { type = type, status = status, reason = reason, lastHeartbeatTime = now, lastTransitionTime = now }
  end
  return {
    metadata = { name = name, annotations = { ["node.alpha.kubernetes.io/ttl"] = "0" }, labels = {
      ["kubernetes.io/hostname"] = name, ["kubernetes.io/os"] = "linux", ["kubernetes.io/arch"] = "amd64",
      ["beta.kubernetes.io/os"] = "linux", ["beta.kubernetes.io/arch"] = "amd64",
      ["topology.kubernetes.io/zone"] = "zone-" .. (number - 1) % 3 + 1,
    } },
    spec = { podCIDR = ("10.244.%d.0/24"):format(number), podCIDRs = { ("10.244.%d.0/24"):format(number) } },
    status = {
      addresses = {
        { type = "InternalIP", address = ("172.18.%d.%d"):format(math.floor(number / 250), number % 250 + 2) },
        { type = "Hostname", address = name },
      },
      capacity = resources, allocatable = resources,
      conditions = {
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID"), condition("Ready", "True", "KubeletReady"),
      },
      nodeInfo = {
        kubeletVersion = "v1.36.0", kubeProxyVersion = "", operatingSystem = "linux", architecture = "amd64",
        osImage = "kubelua sim", kernelVersion = "6.1.0", containerRuntimeVersion = "containerd://2.0.0",
        machineID = name, systemUUID = name, bootID = name,
      },
    },
  }
end

local function pods_of(name)
  return values.filter(cache.list "pods", function(pod) return pod.spec.nodeName == name end)
end

local function sync_start()
  if next(cache.resources[ID].objects) then return end
  for i = 1, wanted do api.create("kubelet", ID, nil, new_node(i)) end
end

local NOT_READY, UNSCHEDULABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"

-- Taints follow the Ready condition and `unschedulable`; those of others stay.
local function taint(node)
  local spec = node.spec or {}
  local old = spec.taints or {}
  local taints = values.filter(old, function(t)
    return t.effect ~= "NoSchedule" or (t.key ~= NOT_READY and t.key ~= UNSCHEDULABLE)
  end)
  local ready = pods.condition(node, "Ready")
  if ready and ready.status ~= "True" then taints[#taints + 1] = { key = NOT_READY, effect = "NoSchedule" } end
  if spec.unschedulable then
    local before = values.filter(old, function(t) return t.key == UNSCHEDULABLE end)[1]
    taints[#taints + 1] = before or { key = UNSCHEDULABLE, effect = "NoSchedule", timeAdded = times.text() }
  end
  if #taints == #old then return end
  api.patch(AGENT, ID, node, { spec = { taints = #taints > 0 and taints or raw.null } })
end

function controller.sync(name)
  if name == "" then return sync_start() end
  local node = cache.get(ID, name)
  if not node then
    for _, pod in ipairs(pods_of(name)) do api.delete(AGENT, "pods", pod, nil, 0) end
    return
  end
  taint(node)
  if not (node.spec and node.spec.taints) then return end
  for _, pod in ipairs(pods_of(name)) do
    if placing.repels(node, pod, { NoExecute = true }) and not pod.metadata.deletionTimestamp then
      api.delete(AGENT, "pods", pod)
    end
  end
end

cache.on(ID, function(new, old, key)
  if not new or not old or not values.equal(new.spec, old.spec)
    or not values.equal(pods.condition(new, "Ready"), pods.condition(old, "Ready")) then
    queue.add(controller, key)
  end
end)

local function start(options)
  wanted = options.nodes
  queue.add(controller, "")
end

return { controller, start = start }
