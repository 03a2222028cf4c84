-- DaemonSets: a pod for each node that fits.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local placing = require "world.placing"
local pod_control = require "world.pod_control"
local pods = require "world.pods"
local queue = require "world.queue"
local revisions = require "world.revisions"
local rolling = require "world.rolling"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "daemonsets.apps"
local REVISION = "controller-revision-hash"

local controller = { name = ID }
local tell = events.recorder("daemonset-controller", ID)

-- What every pod of a daemon tolerates.
local tolerations = {}
for _, taint in ipairs { "not-ready NoExecute", "unreachable NoExecute", "disk-pressure NoSchedule",
  "memory-pressure NoSchedule", "pid-pressure NoSchedule", "unschedulable NoSchedule" } do
  local name, effect = taint:match "^(%S+) (%S+)$"
  table.insert(tolerations, { key = "node.kubernetes.io/" .. name, operator = "Exists", effect = effect })
end

local function with_tolerations(spec)
  local all = values.copy(spec.tolerations or {})
  for _, toleration in ipairs(tolerations) do all[#all + 1] = toleration end
  return values.merged(spec, { tolerations = all })
end

-- A node by the only name that its affinity allows.
local function affinity_of(spec, name)
  local affinity = values.copy(spec.affinity or {})
  affinity.nodeAffinity = affinity.nodeAffinity or {}
  affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms = {
    { matchFields = { { key = "metadata.name", operator = "In", values = { name } } } },
  } }
  return affinity
end

local function node_of(pod)
  if pod.spec.nodeName then return pod.spec.nodeName end
  local required = ((pod.spec.affinity or {}).nodeAffinity or {}).requiredDuringSchedulingIgnoredDuringExecution
  local term = required and required.nodeSelectorTerms[1]
  return term and term.matchFields and term.matchFields[1].values[1]
end

local function fitting_nodes(set)
  local pod, fitting = { spec = with_tolerations(set.spec.template.spec) }, {}
  for _, node in ipairs(cache.list "nodes") do
    if placing.is_wanted(node, pod) and not placing.repels(node, pod, { NoSchedule = true, NoExecute = true }) then
      fitting[node.metadata.name] = true
    end
  end
  return fitting
end

local function create_pod(set, node, hash)
  local pod = pods.of_template(set.spec.template, owned.reference(ID, set), {
    [REVISION] = hash, ["pod-template-generation"] = tostring(set.metadata.generation),
  })
  pod.metadata.generateName = set.metadata.name .. "-"
  pod.spec = with_tolerations(pod.spec)
  pod.spec.affinity = affinity_of(pod.spec, node)
  pod_control.create(tell, set, pod)
end

-- Says why a pod goes that its node should have.
local function tell_of_end(set, pod, node)
  local name = pod.metadata.namespace .. "/" .. pod.metadata.name
  if pods.phase(pod) == "Failed" then
    tell(set, "Warning", "FailedDaemonPod",
      ("Found failed daemon pod %s on node %s, will try to kill it"):format(name, node))
  elseif pods.phase(pod) == "Succeeded" then
    tell(set, "Normal", "SucceededDaemonPod",
      ("Found succeeded daemon pod %s on node %s, will try to delete it"):format(name, node))
  end
end

-- Has one pod on each fitting node, and none elsewhere; returns them by node.
local function place(set, all, fitting, hash)
  local by_node = {}
  for _, pod in ipairs(all) do
    local node = node_of(pod) or ""
    local keeps = fitting[node] and not pods.is_over(pod) and not by_node[node]
    if keeps then by_node[node] = pod end
    if not keeps and not pod.metadata.deletionTimestamp then
      if fitting[node] then tell_of_end(set, pod, node) end
      pod_control.delete(tell, set, pod)
    end
  end
  for node in values.sorted(fitting) do
    if not by_node[node] then create_pod(set, node, hash) end
  end
  return by_node
end

local function is_available(set, pod)
  local at = pod and pods.available_at(pod, set.spec.minReadySeconds)
  return at and at <= times.now() and not pod.metadata.deletionTimestamp
end

-- Deletes pods of earlier templates, as many as may be unavailable.
local function update(set, by_node, fitting, hash)
  local strategy = set.spec.updateStrategy or {}
  if strategy.type == "OnDelete" then return end
  local wanted = #values.names(fitting)
  local most = math.max(1, rolling.amount((strategy.rollingUpdate or {}).maxUnavailable or 1, wanted, true))
  local old, away = {}, 0
  for node in values.sorted(fitting) do
    local pod = by_node[node]
    local is_old = pod and pod.metadata.labels[REVISION] ~= hash
    if not is_available(set, pod) then away = away + 1 end
    if is_old and not pod.metadata.deletionTimestamp then
      table.insert(old, is_available(set, pod) and #old + 1 or 1, pod)
    end
  end
  for _, pod in ipairs(old) do
    local counts = is_available(set, pod)
    if counts and away >= most then return end
    pod_control.delete(tell, set, pod)
    if counts then away = away + 1 end
  end
end

local function write_status(set, key, by_node, fitting, all, hash)
  local n = { wanted = 0, current = 0, ready = 0, updated = 0, available = 0, misplaced = 0 }
  for node in values.sorted(fitting) do
    local pod = by_node[node]
    n.wanted = n.wanted + 1
    if pod then n.current = n.current + 1 end
    if pod and pods.is_ready(pod) then n.ready = n.ready + 1 end
    if pod and pod.metadata.labels[REVISION] == hash then n.updated = n.updated + 1 end
    if is_available(set, pod) then n.available = n.available + 1 end
    local at = pod and pods.available_at(pod, set.spec.minReadySeconds)
    if at and at > times.now() then queue.add_at(at, controller, key) end
  end
  for _, pod in ipairs(all) do
    if not fitting[node_of(pod) or ""] then n.misplaced = n.misplaced + 1 end
  end
  local function some(count) return count > 0 and count or nil end
  api.status(AGENT, ID, set, values.merged({ conditions = (set.status or {}).conditions }, {
    observedGeneration = set.metadata.generation, desiredNumberScheduled = n.wanted, numberMisscheduled = n.misplaced,
    currentNumberScheduled = n.current, numberReady = n.ready, updatedNumberScheduled = some(n.updated),
    numberAvailable = some(n.available), numberUnavailable = some(n.wanted - n.available),
  }))
end

function controller.sync(key)
  local set = cache.get(ID, key)
  if not set then return end
  local all = owned.claim(AGENT, ID, set, "pods")
  local name, hash = revisions.present(ID, set)
  local fitting, by_node = fitting_nodes(set), {}
  if set.metadata.deletionTimestamp then
    for _, pod in ipairs(all) do by_node[node_of(pod) or ""] = pod end
  else
    by_node = place(set, all, fitting, hash)
    update(set, by_node, fitting, hash)
  end
  write_status(set, key, by_node, fitting, all, hash)
  revisions.tidy(set, { [name] = true })
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
owned.watch("pods", ID, function(key) queue.add_soon(controller, key) end)
cache.on("nodes", function(new, old)
  if new and old and values.equal(new.spec, old.spec) and values.equal(new.metadata.labels, old.metadata.labels) then
    return
  end
  for key in values.sorted(cache.resources[ID].objects) do add(key) end
end)

return { controller }
