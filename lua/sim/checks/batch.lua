-- Jobs and CronJobs. Arguments as in volumes.lua.
local classes = require "sim.checks.classes"
local forms = require "sim.checks.forms"
local found = require "sim.checks.found"
local job_status = require "sim.checks.job_status"
local json = require "sim.json"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local batch = {}

-- --- schedules, in the words of the library that reads them

local months = { jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9, oct = 10, nov = 11,
  dec = 12 }
local days = { sun = 0, mon = 1, tue = 2, wed = 3, thu = 4, fri = 5, sat = 6 }
local fields = { { 0, 59 }, { 0, 23 }, { 1, 31 }, { 1, 12, months }, { 0, 6, days } }
local descriptors = {}
for word in ("yearly annually monthly weekly daily midnight hourly"):gmatch "%a+" do descriptors["@" .. word] = true end

local function fail(...) error({ text = string.format(...) }, 0) end

local function split(source, sign)
  local parts = {}
  for part in (source .. sign):gmatch("(.-)%" .. sign) do parts[#parts + 1] = part end
  return parts
end

local function number(source)
  if not source:find "^[-+]?%d+$" then
    fail('failed to parse int from %s: strconv.Atoi: parsing "%s": invalid syntax', source, source)
  end
  local n = tonumber(source)
  if n < 0 then fail("negative number (%d) not allowed: %s", n, source) end
  return n
end

local function named(source, names) return names and names[source:lower()] or number(source) end

local function read_range(source, field)
  local least, most, names = unpack(field)
  local steps = split(source, "/")
  local bounds, first, last, step = split(steps[1], "-"), least, most, 1
  if bounds[1] ~= "*" and bounds[1] ~= "?" then
    first = named(bounds[1], names)
    if #bounds > 2 then fail("too many hyphens: %s", source) end
    last = bounds[2] and named(bounds[2], names) or first
  end
  if #steps > 2 then fail("too many slashes: %s", source) end
  if steps[2] then
    step = number(steps[2])
    if #bounds == 1 then last = most end
  end
  if first < least then fail("beginning of range (%d) below minimum (%d): %s", first, least, source) end
  if last > most then fail("end of range (%d) above maximum (%d): %s", last, most, source) end
  if first > last then fail("beginning of range (%d) beyond end of range (%d): %s", first, last, source) end
  if step == 0 then fail("step of range should be a positive number: %s", source) end
end

local function read_schedule(source)
  if source:sub(1, 1) == "@" then
    local every = source:match "^@every (.*)"
    if not descriptors[source] and not every then fail("unrecognized descriptor: %s", source) end
    if every and not every:find "^%d[%dhmsun.]*$" then
      fail('failed to parse duration %s: time: invalid duration "%s"', source, every)
    end
    return
  end
  local words = {}
  for word in source:gmatch "%S+" do words[#words + 1] = word end
  if #words ~= 5 then
    fail("expected exactly 5 fields, found %d: [%s]", #words, table.concat(words, " "))
  end
  for i, word in ipairs(words) do
    for _, range in ipairs(split(word, ",")) do
      if range ~= "" then read_range(range, fields[i]) end
    end
  end
end

local function exists(file)
  local handle = io.open(file)
  return handle and (handle:close() or true)
end

local FOLDER = "/usr/share/zoneinfo/"

-- Where the system knows no zones, each that looks like one is.
local function is_zone(zone)
  for _, part in ipairs(split(zone, "/")) do
    local odd = part == "." or part == ".." or part:sub(1, 1) == "-" or #part > 14
    if odd or not part:find "^[-A-Za-z._0-9+]+$" then return false end
  end
  return zone == "UTC" or zone:lower() == "local" or not exists(FOLDER .. "UTC") or exists(FOLDER .. zone)
end

local function read_zoned(schedule)
  local zone = schedule:match "^TZ=(%S*)" or schedule:match "^CRON_TZ=(%S*)"
  local bad = zone and zone ~= "" and zone ~= "Local" and (not is_zone(zone) or zone:lower() == "local")
  if bad then fail("provided bad location %s: unknown time zone %s", zone, zone) end
  read_schedule((schedule:gsub("^C?R?O?N?_?TZ=%S* +", "")))
end

-- A zone stays allowed where the schedule had one.
function batch.schedule(path, schedule, _, _, old, object)
  local problems, zoned = found.new(), schedule:find("TZ", 1, true)
  local ok, result = pcall(read_zoned, schedule)
  if not ok then problems:invalid(path, schedule, result.text or tostring(result)) end
  if zoned and text(old):find("TZ", 1, true) then
    if at(object, "spec.timeZone") then
      problems:invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
    end
  elseif zoned then
    problems:invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
  end
  return problems
end

function batch.zone(path, zone)
  local problems = found.new()
  if zone == "" then
    problems:invalid(path, zone, "timeZone must be nil or non-empty string")
  elseif not is_zone(zone) then
    problems:invalid(path, zone, "unknown time zone " .. zone)
  elseif zone:lower() == "local" then
    problems:invalid(path, zone,
      "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
  end
  return problems
end

-- --- policies of jobs

local function valid_values(words) return 'valid values: ["' .. table.concat(words, '" "') .. '"]' end

local function choose(problems, path, value, words)
  if value == "" then return problems:required(path, valid_values(words)) end
  problems:enum(path, value, words)
end

local function check_exit_codes(problems, path, codes, names)
  local operator, values, seen, ordered = text(codes, "operator"), at(codes, "values"), {}, true
  choose(problems, path .. ".operator", operator, { "In", "NotIn" })
  local container = at(codes, "containerName")
  if container and not names[container] then
    problems:invalid(path .. ".containerName", container,
      "must be one of the container or initContainer names in the pod template")
  end
  if count(values) == 0 then
    problems:invalid(path .. ".values", values or json.null, "at least one value is required")
  elseif count(values) > 255 then
    problems:too_many(path .. ".values", count(values), 255)
  end
  local before
  for i, code in each(values) do
    local place = string.format("%s.values[%d]", path, i - 1)
    if operator == "In" and code == 0 then problems:invalid(place, code, "must not be 0 for the In operator") end
    if seen[code] then problems:duplicate(place, code) end
    seen[code], ordered, before = true, ordered and not (before and before > code), code
  end
  if not ordered then problems:invalid(path .. ".values", values, "must be ordered") end
end

local function check_conditions(problems, path, conditions)
  if count(conditions) > 20 then problems:too_many(path, count(conditions), 20) end
  for i, condition in each(conditions) do
    local place = string.format("%s[%d]", path, i - 1)
    problems:form(place .. ".type", text(condition, "type"), "key")
    choose(problems, place .. ".status", text(condition, "status"), { "False", "True", "Unknown" })
  end
end

local function check_failure_rule(problems, path, rule, job, names)
  local action, codes, conditions = text(rule, "action"), at(rule, "onExitCodes"), at(rule, "onPodConditions")
  if action ~= "FailIndex" then
    choose(problems, path .. ".action", action, { "Count", "FailIndex", "FailJob", "Ignore" })
  elseif not at(job, "backoffLimitPerIndex") then
    problems:invalid(path .. ".action", action, "requires the backoffLimitPerIndex to be set")
  end
  if codes then check_exit_codes(problems, path .. ".onExitCodes", codes, names) end
  check_conditions(problems, path .. ".onPodConditions", conditions)
  if codes and count(conditions) > 0 then
    problems:invalid(path, nil, "specifying both OnExitCodes and OnPodConditions is not supported")
  elseif not codes and count(conditions) == 0 then
    problems:invalid(path, nil, "specifying one of OnExitCodes and OnPodConditions is required")
  end
end

function batch.failures(path, policy, job)
  local problems, names, rules = found.new(), {}, at(policy, "rules")
  for _, list in ipairs { "containers", "initContainers" } do
    for _, container in each(at(job, "template.spec." .. list)) do names[text(container, "name")] = true end
  end
  if count(rules) > 20 then problems:too_many(path .. ".rules", count(rules), 20) end
  for i, rule in each(rules) do
    check_failure_rule(problems, string.format("%s.rules[%d]", path, i - 1), rule, job, names)
  end
  return problems
end

local function total_of(intervals)
  local total = 0
  for _, interval in ipairs(intervals) do total = total + interval[2] - interval[1] + 1 end
  return total
end

local function check_success_rule(problems, path, rule, completions)
  local n, indexes, total = int(rule, "succeededCount"), at(rule, "succeededIndexes"), 0
  if not n and not indexes then
    problems:required(path, "at least one of succeededCount or succeededIndexes must be specified")
  end
  if indexes then
    local place = path .. ".succeededIndexes"
    if #indexes > 65536 then problems:too_long(place, 65536) end
    local intervals, problem = job_status.intervals(indexes, completions)
    if problem then problems:invalid(place, indexes, "error parsing succeededIndexes: " .. problem) end
    total = problem and 0 or total_of(intervals)
  end
  problems:range(path .. ".succeededCount", n, 0)
  local function at_most(most, what)
    if n <= most then return end
    problems:invalid(path .. ".succeededCount", n, string.format("must be less than or equal to %d (the number of %s)",
      most, what))
  end
  if n then at_most(completions, "specified completions") end
  if n and indexes then at_most(total, "indexes in the specified succeededIndexes field") end
end

local function shown_policy(rules)
  local shown = {}
  for i, rule in each(rules) do
    shown[i] = json.object("SucceededIndexes", at(rule, "succeededIndexes") or json.null, "SucceededCount",
      int(rule, "succeededCount") or json.null)
  end
  return json.object("Rules", shown)
end

function batch.success(path, policy, job)
  local problems, rules, completions = found.new(), at(policy, "rules"), int(job, "completions", 0)
  if text(job, "completionMode") ~= "Indexed" then
    problems:invalid(path, shown_policy(rules), "requires indexed completion mode")
    return problems
  end
  if count(rules) == 0 then
    problems:required(path .. ".rules", "at least one rules must be specified when the successPolicy is specified")
  end
  if count(rules) > 20 then problems:too_many(path .. ".rules", count(rules), 20) end
  for i, rule in each(rules) do
    check_success_rule(problems, string.format("%s.rules[%d]", path, i - 1), rule, completions)
  end
  return problems
end

-- --- indexed jobs

local MANY, MOST, MOST_OF_MANY = 100000, 100000, 10000
local AT_MOST = "must be less than or equal to %d"
local PER_INDEX = AT_MOST .. " when completions are above %d and used with backoff limit per index"

function batch.indexed(path, job)
  local problems, pods, completions = found.new(), int(job, "parallelism", 0), int(job, "completions")
  local failed, per_index = int(job, "maxFailedIndexes"), at(job, "backoffLimitPerIndex")
  local function check(name, n, most, form, ...)
    if n and n > most then problems:invalid(path .. "." .. name, n, string.format(form, ...)) end
  end
  check("parallelism", pods, MOST, AT_MOST .. " when completion mode is Indexed", MOST)
  if completions then check("maxFailedIndexes", failed, completions, "must be less than or equal to completions") end
  check("maxFailedIndexes", failed, MOST, AT_MOST, MOST)
  if not per_index or (completions or 0) <= MANY then return problems end
  if not failed then
    problems:required(path .. ".maxFailedIndexes",
      string.format("must be specified when completions is above %d", MANY))
  end
  check("parallelism", pods, MOST_OF_MANY, PER_INDEX, MOST_OF_MANY, MANY)
  check("maxFailedIndexes", failed, MOST_OF_MANY, PER_INDEX, MOST_OF_MANY, MANY)
  return problems
end

function batch.completions(path, completions, job, _, old)
  local problems = found.new()
  if completions and completions ~= old and completions ~= int(job, "spec.parallelism") then
    problems:invalid(path, completions, "can only be modified in tandem with spec.parallelism")
  end
  return problems
end

function batch.manager(path, manager)
  local problems = found.new()
  classes.domain_path(problems, path, manager)
  if #manager > 63 then problems:too_long(path, 63) end
  return problems
end

-- Pods of an indexed job have its name and their index.
function batch.last_hostname(path, name, _, _, _, job)
  local problems = found.new()
  local hostname = string.format("%s-%d", name, json.int(job, "spec.completions", 0) - 1)
  if forms.label(hostname) then
    problems:invalid(path, name, "will not able to create pod with invalid DNS label: " .. hostname)
  end
  return problems
end

return batch
