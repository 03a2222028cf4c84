-- Ages as users read them: "5m10s", "3d4h".
local json = require "sim.json"

local ages = {}

local MINUTE, HOUR, DAY = 60, 3600, 86400
local YEAR = 365 * DAY

-- { below, big, small, units }: "3d4h", or "3d" when nothing of the smaller unit is left or it is not shown.
local forms = {
  { 2 * MINUTE, 1, nil, "s" }, { 10 * MINUTE, MINUTE, 1, "m", "s" }, { 3 * HOUR, MINUTE, nil, "m" },
  { 8 * HOUR, HOUR, MINUTE, "h", "m" }, { 2 * DAY, HOUR, nil, "h" }, { 8 * DAY, DAY, HOUR, "d", "h" },
  { 2 * YEAR, DAY, nil, "d" }, { 8 * YEAR, YEAR, DAY, "y", "d" }, { math.huge, YEAR, nil, "y" },
}

function ages.format(seconds)
  if seconds < -1 then return "<invalid>" end
  if seconds < 0 then seconds = 0 end
  local at = 1
  while seconds >= forms[at][1] do at = at + 1 end
  local _, big, small, big_unit, small_unit = unpack(forms[at], 1, 5)
  local rest = small and math.floor(seconds % big / small) or 0
  return string.format("%d%s", math.floor(seconds / big), big_unit)
    .. (rest > 0 and string.format("%d%s", rest, small_unit) or "")
end

-- The age of a time; "<unknown>" if the text is none.
function ages.of(text, now)
  local seconds = json.seconds(text)
  return seconds and ages.format(now - seconds) or "<unknown>"
end

return ages
