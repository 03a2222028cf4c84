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

---What k8s.every and k8s.after give.
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

---Waits. Others go on meanwhile.
---@param duration k8s.Duration
function k8s.sleep(duration) end

return k8s
