-- k8s.sleep, k8s.every, k8s.after, k8s.now, k8s.ago.
local raw = ...

local blocking = require("k8s.task").blocking
local options = require "k8s.options"

local TIMER_OPTIONS = { leader = "boolean" }

-- k8s.every(duration, fn, { leader = true })
local function timer(where, verb)
  return function(duration, fn, given)
    return verb(duration, fn, options.check(where, given, TIMER_OPTIONS).leader)
  end
end

return {
  every = timer("k8s.every", raw.time.every),
  after = timer("k8s.after", raw.time.after),
  sleep = blocking(raw.time.sleep),
  now = raw.time.now,
  ago = raw.time.ago,
}
