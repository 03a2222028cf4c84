-- k8s.sleep, k8s.every, k8s.after, k8s.cron, k8s.now, k8s.ago.
local raw = ...

local task = require "k8s.task"
local blocking = task.blocking
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
local function timer(where, verb, is_kept)
  return function(duration, fn, given)
    local own = options.check(where, given, TIMER_OPTIONS)
    local name = name_of(string.match(where, "%w+$") .. " " .. tostring(duration))
    local one = verb(duration, fn, own.leader, name)
    if name then
      plan.add("timer", name, plan.text { fn, leader = own.leader })
    end
    if is_kept and task.made then
      task.made(one, "cancel")
    end
    return one
  end
end

local CRON_OPTIONS = {
  name = "string",
  leader = "boolean",
  tz = "string",
  overlap = "string",
  catch_up = "duration",
}

-- A command that is a run of the timer now, within the task of `kubelua call`.
local function add_command(timer_of_cron, name, schedule, fn)
  require "k8s.command"(name, function(word)
    if word ~= nil then
      return nil, { reason = "Invalid", message = "a run takes no arguments" }
    end
    local begun, err = raw.time.by_hand(timer_of_cron)
    if not begun then
      return nil, err
    end
    return fn()
  end, { help = string.format("Runs the function of k8s.cron %q now.", schedule) }, "k8s.cron")
end

-- k8s.cron("0 3 * * mon-fri", fn, { name = "clean-up", tz = "Europe/Berlin", catch_up = "1h", overlap = "queue",
-- leader = true }). One with a name is a command, too.
local function cron(schedule, fn, given)
  local own = options.check("k8s.cron", given, CRON_OPTIONS)
  if own.name and not plan.is_open() then
    raw.raise "k8s.cron: name may only be given while the script is loading"
  end
  local name = name_of(tostring(schedule) .. (own.tz and " " .. own.tz or ""))
  local one = raw.time.cron(schedule, fn, own.tz, own.catch_up, own.overlap, own.leader, name)
  if name then
    plan.add("cron", name, plan.text { fn, leader = own.leader, catch_up = own.catch_up, overlap = own.overlap })
  end
  if own.name then
    add_command(one, own.name, schedule, fn)
  end
  if task.made then
    task.made(one, "cancel")
  end
  return one
end

return {
  every = timer("k8s.every", raw.time.every, true),
  after = timer("k8s.after", raw.time.after),
  cron = cron,
  sleep = blocking(raw.time.sleep),
  now = raw.time.now,
  ago = raw.time.ago,
}
