-- k8s.sleep, k8s.every, k8s.after, k8s.cron, k8s.now, k8s.ago.
local raw = ...

local blocking = require("k8s.task").blocking
local options = require "k8s.options"
local plan = require "k8s.plan"

local TIMER_OPTIONS = { leader = "boolean" }

-- How many timers of a kind the script has made while it loaded, by their names in the plan.
local made = {}

-- "every 30s", then "every 30s#2": what a reload knows a timer by. Nil once the script has loaded.
local function name_of(name)
  if not plan.is_open() then
    return nil
  end
  made[name] = (made[name] or 0) + 1
  return made[name] > 1 and name .. "#" .. made[name] or name
end

-- k8s.every(duration, fn, { leader = true })
local function timer(where, verb)
  return function(duration, fn, given)
    local own = options.check(where, given, TIMER_OPTIONS)
    local name = name_of(string.match(where, "%w+$") .. " " .. tostring(duration))
    local one = verb(duration, fn, own.leader, name)
    if name then
      plan.add("timer", name, plan.text { fn, leader = own.leader })
    end
    return one
  end
end

local CRON_OPTIONS = { leader = "boolean", tz = "string", overlap = "string", catch_up = "duration" }

-- k8s.cron("0 3 * * mon-fri", fn, { tz = "Europe/Berlin", catch_up = "1h", overlap = "queue", leader = true })
local function cron(schedule, fn, given)
  local own = options.check("k8s.cron", given, CRON_OPTIONS)
  local name = name_of(tostring(schedule) .. (own.tz and " " .. own.tz or ""))
  local one = raw.time.cron(schedule, fn, own.tz, own.catch_up, own.overlap, own.leader, name)
  if name then
    plan.add("cron", name, plan.text { fn, leader = own.leader, catch_up = own.catch_up, overlap = own.overlap })
  end
  return one
end

return {
  every = timer("k8s.every", raw.time.every),
  after = timer("k8s.after", raw.time.after),
  cron = cron,
  sleep = blocking(raw.time.sleep),
  now = raw.time.now,
  ago = raw.time.ago,
}
