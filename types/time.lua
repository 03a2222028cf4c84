---@meta k8s.time
-- luacheck: ignore 241
-- Waiting and timers: more of what `require "k8s"` gives.

---@class k8s
local k8s = {}

---@return number seconds since the epoch, with fractions
function k8s.now() end

---Seconds as a number, or a text such as "500ms", "90s", "5m", "1h30m".
---@alias k8s.Duration number|string

---The time that was so long ago, in seconds since the epoch: k8s.now() less the duration.
---@param duration k8s.Duration
---@return number
function k8s.ago(duration) end

---A line for each function that is being called, the innermost first.
---@return string
function k8s.traceback() end

---What k8s.every, k8s.after and k8s.cron give.
---@class k8s.Timer
local Timer = {}

---No further call comes; one that is under way goes on.
---@return boolean was_to_come
function Timer:cancel() end

---The same.
---@return boolean was_to_come
function Timer:stop() end

---@class k8s.TimerOptions
---@field leader? boolean no call comes while the script does not lead

---Calls the function again and again, at a steady rate; a call that waits is not overtaken.
---@param duration k8s.Duration 10 ms at least
---@param fn fun()
---@param options? k8s.TimerOptions
---@return k8s.Timer
function k8s.every(duration, fn, options) end

---Calls the function once.
---@param duration k8s.Duration
---@param fn fun()
---@param options? k8s.TimerOptions
---@return k8s.Timer
function k8s.after(duration, fn, options) end

---@class k8s.CronOptions
---@field tz? string time zone, "Europe/Berlin" or "UTC"; the process's own without it
---@field catch_up? "one"|"none"|k8s.Duration missed runs: one call for all (default), none, or one not later than that
---@field overlap? "skip"|"queue"|"allow"|"replace" when a run falls due and one still waits; "skip" without it
---@field leader? boolean no call comes while the script does not lead

---Calls the function by the clock on the wall.
---@param schedule string minute, hour, day of month, month and day of week, "0 3 * * mon-fri"; or "@daily" and the like
---@param fn fun()
---@param options? k8s.CronOptions
---@return k8s.Timer
function k8s.cron(schedule, fn, options) end

---Waits. Others go on meanwhile.
---@param duration k8s.Duration
function k8s.sleep(duration) end

return k8s
