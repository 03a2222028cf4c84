-- k8s.schedule("0 3 * * mon-fri", { tz = "Europe/Berlin" }): the times of a schedule, without a timer.
local raw = ...

local options = require "k8s.options"

local OPTIONS = { tz = "string" }

return function(schedule, given)
  local own = options.check("k8s.schedule", given, OPTIONS)
  return raw.schedule.new(schedule, own.tz)
end
