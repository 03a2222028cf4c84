---@meta k8s.time
-- luacheck: ignore 241
-- Waiting and timers of `require "k8s"`.

---@class k8s
local k8s = {}

---@return number seconds since the epoch, with fractions
function k8s.now() end

---Seconds as a number, or a string such as "500ms", "90s", "5m", "1h30m".
---@alias k8s.Duration number|string

---Returns k8s.now() minus the duration, in seconds since the epoch.
---@param duration k8s.Duration
---@return number
function k8s.ago(duration) end

---Returns a string with a line for each active function, the innermost first.
---@return string
function k8s.traceback() end

---The result of k8s.every, k8s.after and k8s.cron.
---@class k8s.Timer
local Timer = {}

---Prevents further calls; a call in progress finishes.
---@return boolean was_to_come
function Timer:cancel() end

---The same as cancel.
---@return boolean was_to_come
function Timer:stop() end

---@class k8s.TimerOptions
---@field leader? boolean call only while the script leads

---Calls the function periodically, at a steady rate; calls do not overlap.
---@param duration k8s.Duration at least 10 ms
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
---@field name? string name of a command that runs it by hand: `kubelua call NAME`; only while the script loads
---@field tz? string time zone, "Europe/Berlin" or "UTC"; default: that of the process
---@field catch_up? "one"|"none"|k8s.Duration missed runs: one call for all (default), none, or one if not later
---@field overlap? "skip"|"queue"|"allow"|"replace" when a run is due while one still waits; "skip" by default
---@field leader? boolean call only while the script leads

---Calls the function at times of the wall clock.
---@param schedule string minute, hour, day of month, month and day of week, "0 3 * * mon-fri"; or "@daily" and similar
---@param fn fun()
---@param options? k8s.CronOptions
---@return k8s.Timer
function k8s.cron(schedule, fn, options) end

---Waits, while other calls continue.
---@param duration k8s.Duration
function k8s.sleep(duration) end

return k8s
