-- Nodes: some for a cluster that has none; pods of a node that is gone go.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
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

-- An Event of node-controller about a node.
local function tell(node, reason, words)
  local about = { kind = "Node", apiVersion = "v1", name = node.metadata.name, uid = node.metadata.uid }
  events.tell(AGENT, { component = "node-controller" }, about, "Normal", reason,
    ("Node %s event: %s"):format(node.metadata.name, words:format(node.metadata.name)))
end

-- An Event of its kubelet.
local function tell_state(name, reason, message)
  events.tell("kubelet", { component = "kubelet", host = name }, { kind = "Node", apiVersion = "v1", name = name },
    "Normal", reason, message or ("Node %s status is now: %s"):format(name, reason))
end

local function pods_of(name)
  return values.filter(cache.list "pods", function(pod) return pod.spec.nodeName == name end)
end

local function sync_start()
  if next(cache.resources[ID].objects) then return end
  for i = 1, wanted do
    tell_state("node-" .. i, "Starting", "Starting kubelet.")
    api.create("kubelet", ID, nil, new_node(i))
    tell_state("node-" .. i, "NodeReady")
  end
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
end

local function is_closed(node) return node.spec and node.spec.unschedulable or false end

cache.on(ID, function(new, old, key)
  if not old then tell(new, "RegisteredNode", "Registered Node %s in Controller") end
  if not new then tell(old, "RemovingNode", "Removing Node %s from Controller") end
  if new and old and is_closed(new) ~= is_closed(old) then
    tell_state(key, is_closed(new) and "NodeNotSchedulable" or "NodeSchedulable")
  end
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
