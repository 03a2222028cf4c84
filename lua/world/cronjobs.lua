-- CronJobs: a Job at each time of the schedule.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID, JOBS = "kube-controller-manager", "cronjobs.batch", "jobs.batch"

local SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"

local controller = { name = ID }
local tell = events.recorder("cronjob-controller", ID)

local function is(job, type)
  local condition = pods.condition(job, type)
  return condition and condition.status == "True"
end

local function by_age(a, b)
  return (a.metadata.creationTimestamp .. a.metadata.name) < (b.metadata.creationTimestamp .. b.metadata.name)
end

-- The last time of the schedule that has come since the last run, and the next one; in seconds.
local function due_of(cron)
  local now = math.floor(times.now() / times.second)
  local since = (cron.status or {}).lastScheduleTime or cron.metadata.creationTimestamp
  local at, last = math.floor(times.of(since) / times.second), nil
  if now - at > 86400 then at = now - 86400 end -- what was missed before is not made up for
  while true do
    local next_at = raw.cron(cron.spec.schedule, cron.spec.timeZone or "", at)
    if not next_at or next_at > now then return last, next_at end
    last, at = next_at, next_at
  end
end

local function start_job(cron, at)
  local template = cron.spec.jobTemplate
  local metadata = template.metadata or {}
  local name = ("%s-%d"):format(cron.metadata.name, math.floor(at / 60))
  local ok, code, _, message = api.create(AGENT, JOBS, cron.metadata.namespace, {
    metadata = {
      name = name, labels = metadata.labels,
      annotations = values.merged(metadata.annotations,
        { [SCHEDULED] = times.text(at * times.second) }),
      ownerReferences = { owned.reference(ID, cron) },
    },
    spec = values.copy(template.spec),
  })
  if ok then
    tell(cron, "Normal", "SuccessfulCreate", "Created job " .. name)
  elseif code ~= 409 then
    tell(cron, "Warning", "FailedCreate", "Error creating job: " .. message)
  end
  return ok
end

local function delete_job(cron, job)
  if not api.delete(AGENT, JOBS, job, "Background") then return end
  tell(cron, "Normal", "SuccessfulDelete", "Deleted job " .. job.metadata.name)
end

-- Deletes the oldest finished jobs but for `keep`.
local function tidy(cron, jobs, type, keep)
  local list = values.filter(jobs, function(job) return is(job, type) and not job.metadata.deletionTimestamp end)
  for i = 1, #list - keep do delete_job(cron, list[i]) end
end

local function reference(job)
  return {
    apiVersion = "batch/v1", kind = "Job", namespace = job.metadata.namespace, name = job.metadata.name,
    uid = job.metadata.uid, resourceVersion = job.metadata.resourceVersion,
  }
end

-- Whether a run may begin now: jobs under way may forbid it, or go for it.
local function may_start(cron, running, at)
  local limit = cron.spec.startingDeadlineSeconds
  if limit and at + limit < times.now() / times.second then
    tell(cron, "Warning", "MissSchedule",
      os.date("!Missed scheduled time to start a job: %a, %d %b %Y %H:%M:%S +0000", at))
    return false
  end
  if #running == 0 or cron.spec.concurrencyPolicy == "Allow" then return true end
  if cron.spec.concurrencyPolicy ~= "Replace" then
    tell(cron, "Normal", "JobAlreadyActive",
      "Not starting job because prior execution is running and concurrency policy is Forbid")
    return false
  end
  for _, job in ipairs(running) do delete_job(cron, job) end
  return true
end

-- Whether the job was started here, for a time of the schedule.
local function is_own(job) return (job.metadata.annotations or {})[SCHEDULED] ~= nil end

-- Says what became of jobs that were under way, and of jobs that somebody else made.
local function tell_of_jobs(cron, jobs)
  local by_uid = {}
  for _, job in ipairs(jobs) do
    by_uid[job.metadata.uid] = job
    if not is_own(job) and not is(job, "Complete") and not is(job, "Failed") then
      tell(cron, "Warning", "UnexpectedJob",
        "Saw a job that the controller did not create or forgot: " .. job.metadata.name)
    end
  end
  for _, ref in ipairs((cron.status or {}).active or {}) do
    local job = by_uid[ref.uid]
    local ending = job and (is(job, "Complete") and "Complete" or is(job, "Failed") and "Failed")
    if not job then
      tell(cron, "Normal", "MissingJob", "Active job went missing: " .. ref.name)
    elseif ending then
      tell(cron, "Normal", "SawCompletedJob", ("Saw completed job: %s, condition: %s"):format(ref.name, ending))
    end
  end
end

function controller.sync(key)
  local cron = cache.get(ID, key)
  if not cron or cron.metadata.deletionTimestamp then return end
  local jobs = cache.owned(JOBS, cron.metadata.uid)
  table.sort(jobs, by_age)
  tell_of_jobs(cron, jobs)
  local running = values.filter(jobs, function(job)
    return is_own(job) and not is(job, "Complete") and not is(job, "Failed")
  end)
  local status = values.merged(cron.status, { active = nil })
  for _, job in ipairs(jobs) do
    if is(job, "Complete") then status.lastSuccessfulTime = job.status.completionTime end
  end
  tidy(cron, jobs, "Complete", cron.spec.successfulJobsHistoryLimit or 3)
  tidy(cron, jobs, "Failed", cron.spec.failedJobsHistoryLimit or 1)
  local last, next_at = due_of(cron)
  if next_at then queue.add_at(next_at * times.second, controller, key) end
  if last and not cron.spec.suspend and may_start(cron, running, last) and start_job(cron, last) then
    status.lastScheduleTime = times.text(last * times.second)
  end
  status.active = nil
  for _, job in ipairs(running) do
    status.active = status.active or {}
    table.insert(status.active, reference(job))
  end
  api.status(AGENT, ID, cron, status)
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
cache.on(JOBS, function(new, old)
  local ref = cache.controller_of(new or old)
  if ref and ref.kind == "CronJob" then add((new or old).metadata.namespace .. "/" .. ref.name) end
end)

return { controller }
