-- Times of RFC 3339 and durations as Go's package time reads them, and words what is wrong with them. Results are the
-- text that is stored, or a list of the problem.
local json = require "sim.json"
local u64 = require("ffi").typeof "uint64_t"

local times = {}

local function fail(...) error({ string.format(...) }, 0) end

-- Go's quotes: bytes that are not ASCII, or signs of control, in hexadecimal.
local function quote(text)
  return '"' .. text:gsub('["\\]', "\\%0"):gsub("[%z\1-\31\128-\255]", function(c)
    return string.format("\\x%02x", c:byte())
  end) .. '"'
end

-- Calls `read`, which raises by fail.
local function result_of(read, ...)
  local ok, result = pcall(read, ...)
  if not ok and type(result) ~= "table" then error(result, 0) end
  return result
end

-- --- times

-- Parts of Go's layout: how they are matched, the least and the most of a number, and its name.
local parts = {
  { "2006", "^%d%d%d%d" }, { "-", "^%-" }, { "01", "^%d%d", 1, 12, "month" }, { "-", "^%-" }, { "02", "^%d%d" },
  { "T", "^T" }, { "15", "^%d%d?", 0, 23, "hour" }, { ":", "^:" }, { "04", "^%d%d", 0, 59, "minute" }, { ":", "^:" },
  { "05", "^%d%d", 0, 59, "second" },
}

local function fail_at(text, micro, at, layout)
  fail('parsing time %s as "2006-01-02T15:04:05%sZ07:00": cannot parse %s as "%s"', quote(text),
    micro and ".000000" or "", quote(text:sub(at)), layout)
end

local function fail_range(text, what) fail("parsing time %s: %s out of range", quote(text), what) end

-- Returns the seconds that the zone is ahead, and the place behind it.
local function read_zone(text, micro, at)
  if text:sub(at, at) == "Z" then return 0, at + 1 end
  local sign, hours, minutes = text:match("^(.)(..):(..)", at)
  if not sign then fail_at(text, micro, at, "Z07:00") end
  local number = hours:find "^%d%d$" and minutes:find "^%d%d$"
  if hours:find "^%d%d$" and tonumber(hours) > 24 then fail_range(text, "time zone offset hour") end
  if number and tonumber(minutes) > 60 then fail_range(text, "time zone offset minute") end
  if not number or not sign:find "[+-]" then fail_at(text, micro, at, "Z07:00") end
  return (tonumber(hours) * 60 + tonumber(minutes)) * (sign == "-" and -60 or 60), at + 6
end

local function read_time(text, micro)
  local at, words = 1, {}
  for i, part in ipairs(parts) do
    local layout, pattern, least, most, name = unpack(part)
    local word = text:match(pattern, at)
    if not word then fail_at(text, micro, at, layout) end
    if least and (tonumber(word) < least or tonumber(word) > most) then fail_range(text, name) end
    words[i], at = #word == 1 and least and "0" .. word or word, at + #word
  end
  local fraction = text:match(micro and "^[.,](%d%d%d%d%d%d)" or "^[.,](%d+)", at)
  if micro and not fraction then fail_at(text, micro, at, ".000000") end
  local offset, behind = read_zone(text, micro, at + (fraction and #fraction + 1 or 0))
  if behind <= #text then fail("parsing time %s: extra text: %s", quote(text), quote(text:sub(behind))) end
  local seconds = json.seconds(table.concat(words) .. "Z")
  if not seconds then fail_range(text, "day") end
  local date = os.date("!*t", seconds - offset)
  return string.format("%04d-%02d-%02dT%02d:%02d:%02d%sZ", date.year, date.month, date.day, date.hour, date.min,
    date.sec, micro and "." .. fraction or "")
end

-- In UTC, and in whole seconds; `micro`: with six digits behind the point.
function times.time(text, micro) return result_of(read_time, text, micro) end

-- --- durations

local units = { ns = 1, us = 1e3, ["\194\181s"] = 1e3, ["\206\188s"] = 1e3, ms = 1e6, s = 1e9, m = 60e9, h = 3600e9 }

local MOST = u64(2 ^ 63) -- nanoseconds, of negative ones

-- Returns whether a number of any length is above 2^63, or the other one that is given.
function times.exceeds(digits, most)
  most, digits = most or "9223372036854775808", digits:gsub("^0+", "")
  return #digits > #most or #digits == #most and digits > most
end

-- The digits behind the point in nanoseconds: Go drops digits that 63 bits do not hold.
local function read_fraction(part, unit)
  local zeros, digits = part:match "^(0*)(%d*)"
  digits = digits:sub(1, times.exceeds(digits:sub(1, 19)) and 18 or 19)
  return math.floor(tonumber("0" .. digits) * (unit / 10 ^ (#zeros + #digits)))
end

-- Sums wrap around, as Go's do.
local function read_duration(text)
  local rest, sum = text:gsub("^[+-]", ""), u64(0)
  local function check(good, ...) return good or fail(...) end
  if rest == "0" then return text end
  repeat
    local whole, part, unit, behind = rest:match "^(%d*)%.?(%d*)([^%d.]*)()"
    check((whole ~= "" or part ~= "") and not times.exceeds(whole), "time: invalid duration %s", quote(text))
    check(unit ~= "", "time: missing unit in duration %s", quote(text))
    check(units[unit], "time: unknown unit %s in duration %s", quote(unit), quote(text))
    local n = u64(0)
    for digit in whole:gmatch "%d" do n = n * 10 + tonumber(digit) end
    local fits = n <= MOST / units[unit]
    n = n * units[unit] + read_fraction(part, units[unit])
    sum, rest = sum + n, rest:sub(behind)
    check(fits and n <= MOST and sum <= MOST, "time: invalid duration %s", quote(text))
  until rest == ""
  check(sum < MOST or text:sub(1, 1) == "-", "time: invalid duration %s", quote(text))
  return text
end

function times.duration(text) return result_of(read_duration, text) end

return times
