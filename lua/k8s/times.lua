-- k8s.time: times and durations as objects and users write them.
local raw = ...

return { parse = raw.schedule.parse, format = raw.schedule.format, duration = raw.schedule.duration }
