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

local NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
local UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

-- The taints that a node is to have, of those that are ours: no new pods, and those that are there go.
local function wanted_taints(node)
  local ready, list = pods.condition(node, "Ready"), {}
  local key = ready and (ready.status == "False" and NOT_READY or ready.status == "Unknown" and UNREACHABLE)
  if key then
    list[1] = { key = key, effect = "NoSchedule" }
    list[2] = { key = key, effect = "NoExecute" }
  end
  if node.spec and node.spec.unschedulable then list[#list + 1] = { key = UNSCHEDULABLE, effect = "NoSchedule" } end
  return list
end

local function is_ours(taint)
  return taint.key == NOT_READY or taint.key == UNREACHABLE
    or taint.key == UNSCHEDULABLE and taint.effect == "NoSchedule"
end

local function is_same(a, b) return a.key == b.key and a.effect == b.effect end

-- Taints follow the Ready condition and `unschedulable`; those of others stay.
local function taint(node)
  local old = node.spec and node.spec.taints or {}
  local taints, changed = values.filter(old, function(t) return not is_ours(t) end), false
  for _, new in ipairs(wanted_taints(node)) do
    local before = values.filter(old, function(t) return is_same(t, new) end)[1]
    changed = changed or not before
    new.timeAdded = times.text()
    taints[#taints + 1] = before or new
  end
  if #taints == #old and not changed then return end
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
