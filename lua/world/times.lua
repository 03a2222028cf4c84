-- Times of the world: microseconds since the epoch inside, RFC 3339 in objects.
local raw = require "world.raw"

local times = { second = 1e6, ms = 1e3 }

times.now = raw.now

-- The time in seconds, as objects have it; now without an argument.
function times.text(us)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor((us or raw.now()) / times.second))
end

-- The time as Events of the newer kind have it.
function times.micro(us)
  us = us or raw.now()
  return ("%s.%06dZ"):format(times.text(us):sub(1, -2), us % times.second)
end

-- nil for what is no time.
function times.of(text)
  local seconds = text and raw.seconds(text)
  return seconds and seconds * times.second
end

return times
