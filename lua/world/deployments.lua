-- Deployments: a ReplicaSet for each template, and the way from one to the next.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local pods = require "world.pods"
local queue = require "world.queue"
local rolling = require "world.rolling"
local scaling = require "world.scaling"
local selectors = require "world.selectors"
local times = require "world.times"
local values = require "world.values"

local AGENT = "kube-controller-manager"
local ID, SETS = "deployments.apps", "replicasets.apps"
local HASH, REVISION = "pod-template-hash", "deployment.kubernetes.io/revision"
local HISTORY = "deployment.kubernetes.io/revision-history"

local controller = { name = ID }
local tell = events.recorder("deployment-controller", ID)

local not_copied = {
  ["kubectl.kubernetes.io/last-applied-configuration"] = true, ["deprecated.deployment.rollback.to"] = true,
  [REVISION] = true, [HISTORY] = true, [scaling.desired] = true, [scaling.max] = true,
}

local function revision_of(object) return tonumber((object.metadata.annotations or {})[REVISION]) or 0 end

-- The number of a set that is newer than these.
local function next_revision(old_sets)
  local newest = 0
  for _, set in ipairs(old_sets) do newest = math.max(newest, revision_of(set)) end
  return newest + 1
end

local function is_older(a, b)
  if a.metadata.creationTimestamp ~= b.metadata.creationTimestamp then
    return a.metadata.creationTimestamp < b.metadata.creationTimestamp
  end
  return a.metadata.name < b.metadata.name
end

-- The set with the deployment's template, without the label that each set adds to it.
local function find_new(deployment, sets)
  for _, set in ipairs(sets) do
    local template = values.copy(set.spec.template)
    if template.metadata and template.metadata.labels then template.metadata.labels[HASH] = nil end
    if values.equal(template, deployment.spec.template) then return set end
  end
end

local function annotations_of(deployment, revision)
  local notes = {}
  for name, value in pairs(deployment.metadata.annotations or {}) do
    if not not_copied[name] then notes[name] = value end
  end
  notes[REVISION] = tostring(revision)
  return notes
end

local function create_set(deployment, revision, replicas)
  local hash = values.hash(deployment.spec.template)
  local label = { [HASH] = hash }
  local template = values.copy(deployment.spec.template)
  template.metadata = values.merged(template.metadata, { labels = values.merged(template.metadata.labels, label) })
  local selector = values.copy(deployment.spec.selector)
  selector.matchLabels = values.merged(selector.matchLabels, label)
  local name = deployment.metadata.name .. "-" .. hash
  local ok, code, _, message = api.create(AGENT, SETS, deployment.metadata.namespace, {
    metadata = {
      name = name, labels = template.metadata.labels,
      annotations = values.merged(annotations_of(deployment, revision), scaling.notes(deployment)),
      ownerReferences = { owned.reference(ID, deployment) },
    },
    spec = {
      replicas = replicas, selector = selector, template = template, minReadySeconds = deployment.spec.minReadySeconds,
    },
  })
  if ok and replicas > 0 then
    tell(deployment, "Normal", "ScalingReplicaSet", ("Scaled up replica set %s from 0 to %d"):format(name, replicas))
  elseif not ok and code ~= 409 and not message:find("is being terminated", 1, true) then
    tell(deployment, "Warning", "ReplicaSetCreateError",
      ('Failed to create new replica set "%s": %s'):format(name, message))
  end
end

-- Numbers the set and the deployment; the set is the newest one, be it new or of an earlier rollout.
local function number(deployment, new, old_sets)
  local revision = math.max(revision_of(new), next_revision(old_sets))
  local own, before = annotations_of(deployment, revision), (new.metadata.annotations or {})[REVISION]
  if before and before ~= own[REVISION] then
    local history = new.metadata.annotations[HISTORY]
    own[HISTORY] = history and history .. "," .. before or before
  end
  local notes = values.diff(new.metadata.annotations or {}, values.merged(new.metadata.annotations, own))
  if notes then api.patch(AGENT, SETS, new, { metadata = { annotations = notes } }) end
  if revision_of(deployment) ~= revision then
    -- With the status, so that the generation stays.
    api.patch(AGENT, ID, deployment, { metadata = { annotations = { [REVISION] = own[REVISION] } } }, "status")
  end
end

local function scale(deployment, set, replicas)
  local before = set.spec.replicas
  if before == replicas then return end
  local ok = api.patch(AGENT, SETS, set,
    { metadata = { annotations = scaling.notes(deployment) }, spec = { replicas = replicas } })
  if not ok then return end
  tell(deployment, "Normal", "ScalingReplicaSet", ("Scaled %s replica set %s from %d to %d"):format(
    replicas > before and "up" or "down", set.metadata.name, before, replicas))
end

-- A set that keeps its number of replicas has it from the deployment as it is, too.
local function note(deployment, set)
  local notes = scaling.notes(deployment)
  if selectors.has(set.metadata.annotations, notes) then return end
  api.patch(AGENT, SETS, set, { metadata = { annotations = notes } })
end

-- The oldest sets without pods go, but for as many as the history keeps.
local function tidy(deployment, old_sets)
  local idle = values.filter(old_sets, function(set)
    return set.spec.replicas == 0 and (set.status or {}).replicas == 0 and not set.metadata.deletionTimestamp
      and (set.status.observedGeneration or 0) >= set.metadata.generation
  end)
  table.sort(idle, function(a, b) return revision_of(a) < revision_of(b) end)
  for i = 1, #idle - (deployment.spec.revisionHistoryLimit or 10) do api.delete(AGENT, SETS, idle[i]) end
end

local function sum(sets, field)
  local n = 0
  for _, set in ipairs(sets) do n = n + ((set.status or {})[field] or 0) end
  return n
end

local function condition(type, status, reason, message)
  return { type = type, status = status, reason = reason, message = message, lastUpdateTime = times.text() }
end

-- A rollout that is paused is not late; when it goes on, its deadline begins anew.
local function paused(deployment, conditions)
  local before = pods.condition(deployment, "Progressing")
  local reason, limit_s = before and before.reason, deployment.spec.progressDeadlineSeconds
  if not limit_s or limit_s == 2147483647 or reason == "ProgressDeadlineExceeded" then return conditions end
  if (deployment.spec.paused or false) == (reason == "DeploymentPaused") then return conditions end
  local text = deployment.spec.paused and "Paused" or "Resumed"
  return pods.set_condition(conditions, condition("Progressing", "Unknown", "Deployment" .. text,
    "Deployment is " .. text:lower()))
end

-- Whether and how the rollout goes on.
local function progressing(deployment, status, new, conditions, key)
  local name, limit_s = deployment.metadata.name, deployment.spec.progressDeadlineSeconds
  local before = pods.condition({ status = { conditions = conditions } }, "Progressing")
  local set = new and ('ReplicaSet "%s"'):format(new.metadata.name) or ('Deployment "%s"'):format(name)
  local wanted = deployment.spec.replicas
  if status.updatedReplicas == wanted and status.replicas == wanted and status.availableReplicas == wanted then
    return pods.set_condition(conditions, condition("Progressing", "True", "NewReplicaSetAvailable",
      set .. " has successfully progressed."))
  end
  local old = deployment.status or {}
  local moves = status.updatedReplicas > (old.updatedReplicas or 0) or status.readyReplicas > (old.readyReplicas or 0)
    or status.availableReplicas > (old.availableReplicas or 0)
    or status.replicas - status.updatedReplicas < (old.replicas or 0) - (old.updatedReplicas or 0)
  local settled = before and before.reason == "NewReplicaSetAvailable"
  if settled and status.replicas == status.updatedReplicas then return conditions end
  if moves or settled or not before then
    local since = before and before.status == "True" and before.lastTransitionTime or times.text()
    before = condition("Progressing", "True", "ReplicaSetUpdated", set .. " is progressing.")
    before.lastTransitionTime = since
    conditions = values.filter(conditions, function(c) return c.type ~= "Progressing" end)
    conditions[#conditions + 1] = before
  end
  local due = limit_s and limit_s < 2147483647 and times.of(before.lastUpdateTime) + limit_s * times.second
  if due and due > times.now() then queue.add_at(due, controller, key) end
  if due and due <= times.now() and before.reason ~= "ProgressDeadlineExceeded" then
    return pods.set_condition(conditions, condition("Progressing", "False", "ProgressDeadlineExceeded",
      set .. " has timed out progressing."))
  end
  return conditions
end

local function write_status(key, deployment, new, sets)
  local wanted = deployment.spec.replicas
  local status = {
    observedGeneration = deployment.metadata.generation, replicas = sum(sets, "replicas"),
    updatedReplicas = new and sum({ new }, "replicas") or 0, readyReplicas = sum(sets, "readyReplicas"),
    availableReplicas = sum(sets, "availableReplicas"), terminatingReplicas = sum(sets, "terminatingReplicas"),
  }
  local asked = 0
  for _, set in ipairs(sets) do asked = asked + set.spec.replicas end
  local missing = asked - status.availableReplicas
  status.unavailableReplicas = missing > 0 and missing or nil
  local conditions = deployment.status and deployment.status.conditions or {}
  local enough = status.availableReplicas >= wanted - rolling.unavailable(deployment)
  conditions = pods.set_condition(conditions, enough
    and condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    or condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."))
  conditions = paused(deployment, conditions)
  status.conditions = deployment.spec.paused and conditions or progressing(deployment, status, new, conditions, key)
  status.collisionCount = (deployment.status or {}).collisionCount
  for _, field in ipairs { "replicas", "updatedReplicas", "readyReplicas", "availableReplicas" } do
    if status[field] == 0 then status[field] = nil end
  end
  api.status(AGENT, ID, deployment, status)
end

-- One step: what follows from it comes back as a change.
local function roll(deployment, new, old_sets)
  local all = values.filter({ new or false, unpack(old_sets) }, function(set) return set end)
  if deployment.spec.paused or scaling.is_due(deployment, all) then
    local plan = scaling.plan(deployment, new, old_sets)
    for _, set in ipairs(all) do
      if plan[set] == set.spec.replicas then note(deployment, set) end
      if plan[set] then scale(deployment, set, plan[set]) end
    end
    if deployment.spec.paused or next(plan) ~= nil then return end
  end
  if not new then
    if deployment.spec.strategy.type == "Recreate" and rolling.runs(old_sets) then
      for _, set in ipairs(old_sets) do scale(deployment, set, 0) end
      return
    end
    create_set(deployment, next_revision(old_sets), rolling.first(deployment, old_sets))
    return
  end
  for set, replicas in rolling.step(deployment, new, old_sets) do scale(deployment, set, replicas) end
end

function controller.sync(key)
  local deployment = cache.get(ID, key)
  if not deployment then return end
  local sets = owned.claim(AGENT, ID, deployment, SETS)
  table.sort(sets, is_older)
  local new = find_new(deployment, sets)
  local old_sets = values.filter(sets, function(set) return set ~= new end)
  if not deployment.metadata.deletionTimestamp then
    if new then number(deployment, new, old_sets) end
    roll(deployment, new, old_sets)
    if new and not deployment.spec.paused then tidy(deployment, old_sets) end
  end
  write_status(key, deployment, new, sets)
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
owned.watch(SETS, ID, add)

-- One that stops all pods before it makes new ones waits until the last is gone.
cache.on("pods", function(new, old)
  local ref = old and not new and cache.controller_of(old)
  local set = ref and cache.find(ref.uid)
  local owner = set and cache.controller_of(set.object)
  local deployment = owner and owner.kind == "Deployment" and cache.find(owner.uid)
  if deployment and (deployment.object.spec.strategy or {}).type == "Recreate" then add(deployment.key) end
end)

return { controller }
