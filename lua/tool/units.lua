-- Durations, sizes and times of answers, for people.
local units = {}

local DURATIONS = { { 86400, "d" }, { 3600, "h" }, { 60, "m" }, { 1, "s" } }
local SIZES = { "", "Ki", "Mi", "Gi", "Ti" }

-- "3h12m", "45s", "12d": at most two units.
function units.duration(seconds)
  if seconds <= 0 then return "0s" end
  local text, shown = "", 0
  for _, unit in ipairs(DURATIONS) do
    local n = math.floor(seconds / unit[1])
    if shown < 2 and (n > 0 or shown > 0) then
      if n > 0 then text = ("%s%d%s"):format(text, n, unit[2]) end
      seconds, shown = seconds % unit[1], shown + 1
    end
    if seconds == 0 then break end
  end
  return text
end

-- Ages below the first number of seconds have these units: as HumanDuration of apimachinery's duration package.
local AGES = {
  { 120, 1, "s" }, { 10 * 60, 60, "m", 1, "s" }, { 3 * 3600, 60, "m" }, { 8 * 3600, 3600, "h", 60, "m" },
  { 48 * 3600, 3600, "h" }, { 8 * 86400, 86400, "d", 3600, "h" }, { 730 * 86400, 86400, "d" },
  { 2920 * 86400, 365 * 86400, "y", 86400, "d" }, { math.huge, 365 * 86400, "y" },
}

-- "105s", "3h5m", "20d": the age of an object as kubectl shows it.
function units.age(seconds)
  local at = 1
  while seconds >= AGES[at][1] do at = at + 1 end
  local _, size, unit, less, part = unpack(AGES[at])
  local text = math.max(0, math.floor(seconds / size)) .. unit
  local rest = less and math.floor(seconds % size / less) or 0
  return rest > 0 and text .. rest .. part or text
end

-- "98.4Mi", "512".
function units.bytes(n)
  local unit = 1
  while n >= 1024 and unit < #SIZES do n, unit = n / 1024, unit + 1 end
  return (unit > 1 and n < 100 and "%.1f%s" or "%.0f%s"):format(n, SIZES[unit])
end

-- Days since 1970 of a day of the calendar: years are counted from March on, so that a leap day is their last.
local function days(year, month, day)
  local moved = month <= 2 and 1 or 0
  local y, m = year - moved, month + 12 * moved - 3
  return 365 * y + math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400)
    + math.floor((153 * m + 2) / 5) + day - 1 - 719468
end

-- Seconds since the epoch of a time as answers have it; 0 when it is none.
function units.time(text)
  local pattern = "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)Z"
  local year, month, day, hour, minute, second = (type(text) == "string" and text or ""):match(pattern)
  if not year then return 0 end
  return days(tonumber(year), tonumber(month), tonumber(day)) * 86400 + hour * 3600 + minute * 60 + second
end

return units
