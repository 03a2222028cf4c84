-- Jobs: pods that run to their end, as often as wanted. Each pod has a finalizer until it is counted.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local pod_control = require "world.pod_control"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "jobs.batch"
local TRACKING, INDEX = "batch.kubernetes.io/job-tracking", "batch.kubernetes.io/job-completion-index"
local BACKOFF_S, BACKOFF_MAX_S = 10, 360

local controller = { name = ID }
local tell = events.recorder("job-controller", ID)

local function is_tracked(pod)
  for _, finalizer in ipairs(pod.metadata.finalizers or {}) do
    if finalizer == TRACKING then return true end
  end
  return false
end

local function untrack(pod)
  local rest = values.filter(pod.metadata.finalizers or {}, function(f) return f ~= TRACKING end)
  api.patch(AGENT, "pods", pod, { metadata = { finalizers = raw.array(rest) } })
end

local function is_finished(job)
  for _, type in ipairs { "Complete", "Failed" } do
    local condition = pods.condition(job, type)
    if condition and condition.status == "True" then return condition end
  end
end

local function index_of(pod) return tonumber((pod.metadata.annotations or {})[INDEX]) end

-- "0,2-4" as a set, and back.
local function read_indexes(text)
  local set = {}
  for from, to in (text or ""):gmatch "(%d+)%-?(%d*)" do
    for i = tonumber(from), tonumber(to) or tonumber(from) do set[i] = true end
  end
  return set
end

local function write_indexes(set)
  local parts, list = {}, values.names(set)
  local at = 1
  while at <= #list do
    local to = at
    while list[to + 1] == list[to] + 1 do to = to + 1 end
    parts[#parts + 1] = to == at and tostring(list[at])
      or list[at] .. (to == at + 1 and "," or "-") .. list[to]
    at = to + 1
  end
  return table.concat(parts, ",")
end

local function create_pod(job, index)
  local labels = {
    ["batch.kubernetes.io/controller-uid"] = job.metadata.uid, ["batch.kubernetes.io/job-name"] = job.metadata.name,
    ["controller-uid"] = job.metadata.uid, ["job-name"] = job.metadata.name,
  }
  local pod = pods.of_template(job.spec.template, owned.reference(ID, job), labels)
  pod.metadata.generateName = job.metadata.name .. "-"
  pod.metadata.finalizers = { TRACKING }
  if index then
    pod.metadata.generateName = job.metadata.name .. "-" .. index .. "-"
    pod.metadata.annotations = values.merged(pod.metadata.annotations, { [INDEX] = tostring(index) })
    pod.metadata.labels[INDEX] = tostring(index)
    pod.spec.hostname = job.metadata.name .. "-" .. index
    for _, container in ipairs(pod.spec.containers) do
      container.env = container.env or {}
      table.insert(container.env, { name = "JOB_COMPLETION_INDEX", valueFrom = {
        fieldRef = { apiVersion = "v1", fieldPath = ("metadata.labels['%s']"):format(INDEX) },
      } })
    end
  end
  pod_control.create(tell, job, pod)
end

-- Whether a pod that is deleted counts as failed before it ended.
local function counts_deleted(job)
  return job.spec.podReplacementPolicy ~= "Failed" and not job.spec.podFailurePolicy
end

-- Adds the ends of pods that were not counted yet to the status; returns those pods.
local function count_ends(job, all, status)
  local counted, done = {}, read_indexes(status.completedIndexes)
  for _, pod in ipairs(all) do
    local gone = pods.is_ending(pod) and counts_deleted(job)
    if is_tracked(pod) and (pods.is_over(pod) or gone) then
      counted[#counted + 1] = pod
      local good, index = pods.phase(pod) == "Succeeded", index_of(pod)
      if good and not (index and done[index]) then status.succeeded = (status.succeeded or 0) + 1 end
      if good and index then done[index] = true end
      if not good then status.failed = (status.failed or 0) + 1 end
    end
  end
  if job.spec.completionMode == "Indexed" then
    local text = write_indexes(done)
    status.completedIndexes = text ~= "" and text or nil
  end
  return counted, done
end

-- The condition with which the job ends now; nil if it goes on.
local function verdict(job, key, status, active)
  local spec = job.spec
  local deadline = spec.activeDeadlineSeconds and status.startTime
    and times.of(status.startTime) + spec.activeDeadlineSeconds * times.second
  if (status.failed or 0) > (spec.backoffLimit or 6) then
    return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
  end
  if deadline and deadline <= times.now() then
    return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
  end
  if deadline then queue.add_at(deadline, controller, key) end
  local enough = spec.completions and (status.succeeded or 0) >= spec.completions
    or not spec.completions and (status.succeeded or 0) > 0 and #active == 0
  if enough then return "Complete", "CompletionsReached", "Reached expected number of succeeded pods" end
end

-- Indexes that are neither done nor under way, the lowest first.
local function next_index(job, active, done)
  local busy = {}
  for _, pod in ipairs(active) do busy[index_of(pod) or -1] = true end
  return function()
    for i = 0, job.spec.completions - 1 do
      if not done[i] and not busy[i] then
        busy[i] = true
        return i
      end
    end
  end
end

-- When a job whose pods failed may have new ones: later after each failure.
local function may_retry(key, job, all, failed)
  local last
  for _, pod in ipairs(all) do
    local condition = pods.phase(pod) == "Failed" and pods.condition(pod, "Ready")
    local at = condition and times.of(condition.lastTransitionTime)
    if at and (not last or at > last) then last = at end
  end
  if not last or failed == 0 then return true end
  local due = last + math.min(BACKOFF_S * 2 ^ (failed - 1), BACKOFF_MAX_S) * times.second
  if due <= times.now() then return true end
  queue.add_at(due, controller, key)
  return false
end

-- Deletes the first pods of a list, which need not run and count for nothing.
local function stop(job, list, count)
  for i = 1, count do
    untrack(list[i])
    pod_control.delete(tell, job, list[i])
  end
end

-- Has as many pods as are missing, or fewer if there are too many.
local function fill(key, job, all, active, status, done)
  local wanted = job.spec.parallelism or 1
  if job.spec.completions then
    wanted = math.min(wanted, job.spec.completions - (status.succeeded or 0))
  elseif (status.succeeded or 0) > 0 then
    wanted = math.min(wanted, #active)
  end
  stop(job, active, #active - wanted)
  if #active >= wanted or not may_retry(key, job, all, status.failed or 0) then return end
  local next_one = job.spec.completionMode == "Indexed" and next_index(job, active, done)
  for _ = 1, wanted - #active do
    local index = next_one and next_one()
    if next_one and not index then return end
    create_pod(job, index or nil)
  end
end

local function finish(job, status, active, type, reason, message)
  local before = type == "Complete" and "SuccessCriteriaMet" or "FailureTarget"
  for _, name in ipairs { before, type } do
    status.conditions = pods.set_condition(status.conditions, {
      type = name, status = "True", reason = reason, message = message, lastProbeTime = times.text(),
    })
  end
  if type == "Complete" then status.completionTime = times.text() end
  for _, pod in ipairs(active) do pod_control.delete(tell, job, pod) end
  if type == "Complete" then
    tell(job, "Normal", "Completed", "Job completed")
  else
    tell(job, "Warning", reason, message)
  end
  if #active > 0 then status.failed = (status.failed or 0) + #active end
  status.active, status.ready = nil, 0
end

-- A finished job goes some time after its end, if it says so.
local function expire(key, job, condition)
  local ttl = job.spec.ttlSecondsAfterFinished
  if not ttl or job.metadata.deletionTimestamp then return end
  local due = times.of(condition.lastTransitionTime) + ttl * times.second
  if due > times.now() then return queue.add_at(due, controller, key) end
  api.delete(AGENT, ID, job, "Background")
end

-- Says whether the job is suspended, and tells of it when that is new.
local function set_suspended(job, status, is, text)
  local before = pods.condition({ status = status }, "Suspended")
  status.conditions = pods.set_condition(status.conditions, {
    type = "Suspended", status = is and "True" or "False", reason = "Job" .. text, message = "Job " .. text:lower(),
    lastProbeTime = times.text(),
  })
  if not before or (before.status == "True") ~= is then tell(job, "Normal", text, "Job " .. text:lower()) end
end

local function suspend(job, status, active)
  stop(job, active, #active)
  status.startTime = nil
  set_suspended(job, status, true, "Suspended")
end

local function go_on(key, job, all, status)
  local counted, done = count_ends(job, all, status)
  local active = values.filter(all, pods.is_active)
  local type, reason, message = verdict(job, key, status, active)
  status.active = #active > 0 and #active or nil
  status.ready = #values.filter(active, pods.is_ready)
  status.terminating = #values.filter(all, pods.is_ending)
  if type then
    finish(job, status, active, type, reason, message)
  elseif job.spec.suspend then
    suspend(job, status, active)
  else
    status.startTime = status.startTime or times.text()
    if pods.condition({ status = status }, "Suspended") then
      set_suspended(job, status, false, "Resumed")
    end
  end
  api.status(AGENT, ID, job, status)
  for _, pod in ipairs(counted) do untrack(pod) end
  if not type and not job.spec.suspend then fill(key, job, all, active, status, done) end
end

function controller.sync(key)
  local job = cache.get(ID, key)
  if not job then return end
  local all = owned.claim(AGENT, ID, job, "pods")
  local condition = is_finished(job)
  if condition or job.metadata.deletionTimestamp then
    for _, pod in ipairs(all) do
      if is_tracked(pod) and (pods.is_over(pod) or pod.metadata.deletionTimestamp) then untrack(pod) end
    end
    if condition then expire(key, job, condition) end
    return
  end
  go_on(key, job, all, values.merged(job.status, { uncountedTerminatedPods = {} }))
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
owned.watch("pods", ID, function(key) queue.add_soon(controller, key) end)

-- A pod whose job is gone waits for nobody.
local orphans = { name = "job pods" }
function orphans.sync(key)
  local pod = cache.get("pods", key)
  local owner = pod and cache.controller_of(pod)
  if pod and is_tracked(pod) and not (owner and cache.find(owner.uid)) then untrack(pod) end
end
cache.on("pods", function(new, _, key)
  if new and is_tracked(new) then queue.add(orphans, key) end
end)
cache.on(ID, function(new, old)
  if new or not old then return end
  for _, pod in ipairs(cache.owned("pods", old.metadata.uid)) do queue.add(orphans, cache.key_of(pod)) end
end)

return { controller }
