-- Statuses of jobs: a server holds them to more the more of them has changed. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local job_status = {}

local STATUS = "status."
local CONDITIONS = STATUS .. "conditions"

local function has(status, type, value)
  for _, condition in each(at(status, "conditions")) do
    if text(condition, "type") == type and text(condition, "status") == (value or "True") then return true end
  end
  return false
end

local function is_finished(status) return has(status, "Complete") or has(status, "Failed") end

-- The conditions that are true, how the job ended, and the fields that changed.
local function look(job, old)
  local now, before, facts, changed = at(job, "status"), at(old, "status"), {}, {}
  for _, type in ipairs { "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet" } do
    facts[type] = has(now, type)
    changed[type] = has(before, type) ~= facts[type]
  end
  facts.finished = is_finished(now)
  changed.finished = is_finished(before) ~= facts.finished
  for _, name in ipairs { "active", "startTime", "completionTime", "ready", "terminating", "completedIndexes",
    "failedIndexes", "uncountedTerminatedPods" } do
    local value, other = at(now, name), at(before, name)
    changed[name] = (value == nil) ~= (other == nil) or value ~= nil and not json.equal(value, other)
  end
  return now, before, facts, changed
end

-- --- indexes: "1,3-5"

local function index_of(word, completions)
  if not word:find "^[-+]?%d+$" then
    return nil, ('cannot convert string to integer for index: "%s"'):format(word)
  end
  local n = tonumber(word)
  if n >= completions then return nil, ('too large index: "%s"'):format(word) end
  return n
end

local NOT_RISING = "non-increasing order, previous: %d, current: %d"

local function read_interval(part, completions)
  local first, last, more = part:match "^([^-]*)%-?([^-]*)(.*)$"
  if more ~= "" then
    return nil, ('the fragment "%s" violates the requirement that an index interval can have at most two parts '
      .. "separated by '-'"):format(part)
  end
  local x, problem = index_of(first, completions)
  if problem or not part:find("-", 1, true) then return x, problem or x end
  local y
  y, problem = index_of(last, completions)
  if problem then return nil, problem end
  if x >= y then return nil, NOT_RISING:format(x, y) end
  return x, y
end

-- Returns pairs of the first and the last index, and what is wrong.
function job_status.intervals(indexes, completions)
  local list, problem, last = {}, nil, nil
  if indexes == "" then return list end
  for part in (indexes .. ","):gmatch "(.-)," do
    local x, y = read_interval(part, completions)
    if x and last and last >= x then problem = problem or NOT_RISING:format(last, x) end
    if x then
      list[#list + 1] = { x, y }
      last = y
    else
      problem = problem or y
    end
  end
  return list, problem
end

local function overlap(completed, failed)
  local c, f = 1, 1
  while completed[c] and failed[f] do
    local one, other = completed[c], failed[f]
    if one[1] <= other[2] and other[1] <= one[2] then return math.max(one[1], other[1]) end
    if one[1] <= other[1] then c = c + 1 else f = f + 1 end
  end
end

local function check_indexes(problems, job, now, changed)
  local spec = at(job, "spec")
  local completions, limit = int(spec, "completions"), at(spec, "backoffLimitPerIndex")
  local completed, failed = text(now, "completedIndexes"), at(now, "failedIndexes")
  local c, c_problem = job_status.intervals(completed, completions or 0)
  local f, f_problem = job_status.intervals(failed or "", completions or 0)
  if changed.completedIndexes and completions and c_problem then
    problems:invalid(STATUS .. "completedIndexes", completed, "error parsing completedIndexes: " .. c_problem)
  end
  if changed.failedIndexes and completions and limit and f_problem then
    problems:invalid(STATUS .. "failedIndexes", failed, "error parsing failedIndexes: " .. f_problem)
  end
  if changed.completedIndexes and completed ~= "" and text(spec, "completionMode") ~= "Indexed" then
    problems:invalid(STATUS .. "completedIndexes", completed,
      "cannot set non-empty completedIndexes when non-indexed completion mode")
  end
  if changed.failedIndexes and failed and not limit then
    problems:invalid(STATUS .. "failedIndexes", failed,
      "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
  end
  local both = completions and (changed.failedIndexes or changed.completedIndexes) and overlap(c, f)
  if both then
    problems:invalid(STATUS .. "failedIndexes", failed,
      ("failedIndexes and completedIndexes overlap at index: %d"):format(both))
  end
end

-- --- what the status says of itself

local function check_uncounted(problems, now)
  local seen = {}
  for _, list in ipairs { "succeeded", "failed" } do
    for i, uid in each(at(now, "uncountedTerminatedPods." .. list)) do
      local place = ("%suncountedTerminatedPods.%s[%d]"):format(STATUS, list, i - 1)
      if uid == "" then
        problems:invalid(place, uid, "must not be empty")
      elseif seen[uid] then
        problems:duplicate(place, uid)
      end
      seen[uid] = true
    end
  end
end

local function check_times(problems, now, facts, changed)
  local start, completion, place = at(now, "startTime"), at(now, "completionTime"), STATUS .. "completionTime"
  if changed.Complete or changed.completionTime then
    if completion and not facts.Complete then
      problems:invalid(place, completion, "cannot set completionTime when there is no Complete=True condition")
    elseif not completion and facts.Complete then
      problems:required(place, "completionTime is required for Complete jobs")
    end
  end
  if (changed.startTime or changed.completionTime) and start and completion
    and json.seconds(completion) < json.seconds(start) then
    problems:invalid(place, completion, "must be equal to or after `startTime`")
  end
end

local function check_conditions(problems, facts, changed)
  local function wrong(detail) problems:invalid(CONDITIONS, nil, detail) end
  if (changed.Complete or changed.Failed) and facts.Complete and facts.Failed then
    wrong "cannot set Complete=True and Failed=true conditions"
  end
  if (changed.Complete or changed.FailureTarget) and facts.Complete and facts.FailureTarget then
    wrong "cannot set Complete=True and FailureTarget=true conditions"
  end
  return wrong
end

local function check_reasons(wrong, facts, changed)
  if (changed.Failed or changed.failedIndexes) and facts.Failed and not facts.FailureTarget then
    wrong "cannot set Failed=True condition without the FailureTarget=true condition"
  end
  if (changed.Complete or changed.SuccessCriteriaMet) and facts.Complete and not facts.SuccessCriteriaMet then
    wrong "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
  end
end

-- A job that has ended has no pods.
local function check_end(problems, job, now, facts, changed)
  if not facts.finished then return end
  local active, uncounted = int(now, "active", 0), at(now, "uncountedTerminatedPods")
  local idle = at(job, "spec.suspend") == true and int(job, "spec.completions") == 0
  if (changed.finished or changed.active) and active > 0 then
    problems:invalid(STATUS .. "active", active, "active>0 is invalid for finished job")
  end
  if (changed.finished or changed.startTime) and not idle and not at(now, "startTime") then
    problems:required(STATUS .. "startTime", "startTime is required for finished job")
  end
  if (changed.finished or changed.uncountedTerminatedPods)
    and count(at(uncounted, "succeeded")) + count(at(uncounted, "failed")) > 0 then
    local shown = json.object("Succeeded", at(uncounted, "succeeded") or json.null,
      "Failed", at(uncounted, "failed") or json.null)
    problems:invalid(STATUS .. "uncountedTerminatedPods", shown, "must be empty for finished job")
  end
end

local function check_pods(problems, now, facts, changed)
  local ready, terminating = int(now, "ready"), int(now, "terminating", 0)
  if (changed.finished or changed.terminating) and terminating > 0 and facts.finished then
    problems:invalid(STATUS .. "terminating", terminating, "terminating>0 is invalid for finished job")
  end
  if (changed.ready or changed.active) and ready and ready > int(now, "active", 0) then
    problems:invalid(STATUS .. "ready", ready, "cannot set more ready pods than active")
  end
end

local function check_success(wrong, job, facts)
  if facts.SuccessCriteriaMet and facts.Failed then
    wrong "cannot set SuccessCriteriaMet=True and Failed=true conditions"
  end
  if facts.SuccessCriteriaMet and facts.FailureTarget then
    wrong "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"
  end
  if at(job, "spec.successPolicy") and facts.Complete and not facts.SuccessCriteriaMet then
    wrong "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
  end
end

-- --- what it must not take back

local function check_counters(problems, job, now, before)
  local spec = at(job, "spec")
  local scales = text(spec, "completionMode") == "Indexed" and int(spec, "completions") == int(spec, "parallelism")
  for _, name in ipairs { "failed", "succeeded" } do
    local n = int(now, name, 0)
    if n < int(before, name, 0) and not (name == "succeeded" and scales) then
      problems:invalid(STATUS .. name, n, ("cannot decrease the %s counter"):format(name))
    end
  end
end

local function check_kept(problems, wrong, job, now, before, facts, changed)
  for _, type in ipairs { "Failed", "Complete", "FailureTarget" } do
    if has(before, type) and not facts[type] then
      wrong(("cannot disable the terminal %s=True condition"):format(type))
    end
  end
  check_counters(problems, job, now, before)
  if changed.completionTime and at(now, "completionTime") and at(before, "completionTime") then
    problems:invalid(STATUS .. "completionTime", at(now, "completionTime"), "field is immutable")
  end
  local resumes = has(before, "Suspended") and has(now, "Suspended", "False")
  if changed.startTime and not resumes and at(before, "startTime") and at(job, "spec.suspend") ~= true then
    problems:invalid(STATUS .. "startTime", at(now, "startTime") or json.null,
      "field is immutable for unsuspended job once set")
  end
  local met = has(before, "SuccessCriteriaMet")
  if met and not facts.SuccessCriteriaMet then wrong "cannot disable the SuccessCriteriaMet=True condition" end
  if has(before, "Complete") and not met and facts.SuccessCriteriaMet then
    wrong "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
  end
end

-- In the order of a server.
function job_status.check(_, job, _, _, old)
  local problems = found.new()
  local now, before, facts, changed = look(job, old)
  for _, name in ipairs { "active", "succeeded", "failed", "ready", "terminating" } do
    problems:range(STATUS .. name, int(now, name), 0)
  end
  check_uncounted(problems, now)
  local wrong = check_conditions(problems, facts, changed)
  check_times(problems, now, facts, changed)
  check_reasons(wrong, facts, changed)
  check_end(problems, job, now, facts, changed)
  check_indexes(problems, job, now, changed)
  check_pods(problems, now, facts, changed)
  check_success(wrong, job, facts)
  check_kept(problems, wrong, job, now, before, facts, changed)
  return problems
end

return job_status
