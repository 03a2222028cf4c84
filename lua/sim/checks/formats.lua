-- Formats of texts that a schema may ask for, as a server's kube-openapi checks them (pkg/validation/strfmt).
local addresses = require "sim.checks.addresses"
local emails = require "sim.checks.emails"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local times = require "sim.times"
local urls = require "sim.checks.urls"

local known = {}

local SPACE = "[ \t\n\f\r]"

-- --- names and addresses

-- Letters and symbols that are not ASCII count like those that are.
local function with_ascii(text)
  return (text:gsub("\240\159[\128-\191][\128-\191]", "$"):gsub("\226[\134-\175][\128-\191]", "$")
    :gsub("[\240-\244][\128-\191]+", "a"):gsub("[\194-\239][\128-\191]+", "a"))
end

local WORD = "[%w$+<=>^`|~]"

local function is_host_label(label)
  return #label <= 63 and label:find("^" .. WORD) and label:find(WORD .. "$")
    and not label:find "[^%w$+<=>^`|~-]"
end

function known.hostname(text)
  local name = with_ascii(text)
  if #text > 255 then return false end
  for label in (text .. "."):gmatch "(.-)%." do
    if #label > 63 then return false end
  end
  local rest = name:match("^" .. WORD .. "%-?(.*)$")
  if rest and #rest <= 62 and not rest:find "[^%w$+<=>^`|~]" then return true end
  local labels, top = name:match "^(.*)%.(%a+)$"
  if not labels or #top < 2 or #top > 63 then return false end
  for label in (labels .. "."):gmatch "(.-)%." do
    if not is_host_label(label) then return false end
  end
  return true
end

function known.ipv4(text) return addresses.is_valid(text) and text:find(".", 1, true) end

function known.ipv6(text)
  return addresses.is_valid(text) and text:find(":", 1, true) and forms.address(text) ~= "must not have leading 0s"
end

function known.cidr(text)
  local ip, bits = text:match "^(.*)/(%d+)$"
  return ip and addresses.is_valid(ip) and tonumber(bits) <= (ip:find(":", 1, true) and 128 or 32)
end

-- Groups of digits with the same sign between them.
local function count_groups(text, digits, sign)
  local n = 0
  for group in (text .. sign):gmatch("(.-)%" .. sign) do
    if #group ~= digits or group:find "%X" then return end
    n = n + 1
  end
  return n
end

function known.mac(text)
  local sign = text:match "^%x%x([:-])"
  local n = sign and count_groups(text, 2, sign) or (count_groups(text, 4, ".") or 0) * 2
  if text:find "^%x+$" then n = #text / 2 end
  return n == 6 or n == 8 or n == 20
end

known.email = emails.is_valid
known.uri = urls.is_request
function known.k8sshortname(text) return not forms.label(text) end
function known.k8slongname(text) return not forms.subdomain(text) end

-- --- numbers of things

-- With the first digit of the third and the fourth group.
local function is_uuid(third, fourth)
  local function digits(n) return string.rep("%x", n) end
  local parts = { digits(8), digits(4), third .. digits(3), fourth .. digits(3), digits(12) }
  local pattern = "^" .. table.concat(parts, "%-?") .. "$"
  return function(text) return text:find(pattern) end
end

known.uuid, known.uuid3 = is_uuid("%x", "%x"), is_uuid("3", "%x")
known.uuid4, known.uuid5 = is_uuid("4", "[89abAB]"), is_uuid("5", "[89abAB]")

function known.bsonobjectid(text) return #text == 24 and not text:find "%X" end

function known.isbn10(text)
  local digits, sum = text:gsub("[ \t\n\f\r-]", ""), 0
  if not digits:find "^%d%d%d%d%d%d%d%d%d[%dX]$" then return false end
  for i = 1, 10 do sum = sum + i * (tonumber(digits:sub(i, i)) or 10) end
  return sum % 11 == 0
end

function known.isbn13(text)
  local digits, sum = text:gsub("[ \t\n\f\r-]", ""), 0
  if #digits ~= 13 or digits:find "%D" then return false end
  for i = 1, 13 do sum = sum + (i % 2 == 0 and 3 or 1) * tonumber(digits:sub(i, i)) end
  return sum % 10 == 0
end

function known.isbn(text) return known.isbn10(text) or known.isbn13(text) end

-- How the numbers of issuers begin, and how many digits may follow.
local issuers = { { "^4", 12, 15 }, { "^5[1-5]", 14 }, { "^6011", 12 }, { "^65%d%d", 12 }, { "^3[47]", 13 },
  { "^30[0-5]", 11 }, { "^3[68]%d", 11 }, { "^2131", 11 }, { "^1800", 11 }, { "^35%d%d%d", 11 } }

function known.creditcard(text)
  local digits, issued, sum = text:gsub("%D", ""), false, 0
  for _, row in ipairs(issuers) do
    local _, last = digits:find(row[1])
    issued = issued or (last and (#digits - last == row[2] or #digits - last == row[3]))
  end
  for i = 1, #digits do
    local digit = tonumber(digits:sub(-i, -i)) * (i % 2 == 0 and 2 or 1)
    sum = sum + digit % 10 + math.floor(digit / 10)
  end
  return issued and sum % 10 == 0
end

function known.ssn(text) return text:find "^%d%d%d[- ]%d%d[- ]%d%d%d%d$" end

function known.hexcolor(text)
  local digits = text:match "^#?(%x+)$"
  return digits and (#digits == 3 or #digits == 6)
end

function known.rgbcolor(text)
  local list = text:match("^rgb%(" .. SPACE .. "*(.-)" .. SPACE .. "*%)$")
  local n = 0
  for part in ((list or "x") .. ","):gmatch "(.-)," do
    local number = part:match("^" .. SPACE .. "*(%d+)" .. SPACE .. "*$")
    if not number or number:find "^0." or tonumber(number) > 255 then return false end
    n = n + 1
  end
  return n == 3
end

-- --- bytes and times

function known.byte(text) return text ~= "" and #text % 4 == 0 and text:find "^[%w+/]+=?=?$" end

function known.password() return true end

function known.date(text)
  return text:find "^%d%d%d%d%-%d%d%-%d%d$" and json.seconds(text .. "T00:00:00Z")
end

function known.datetime(text)
  local date, time = text:lower():match "^(.-)t([^t]*)"
  if not date or not known.date(date) then return false end
  local hour, minute, second, rest = time:match "^(%d%d):(%d%d):(%d%d)(.*)$"
  local zone = rest and (rest:match "^[^%d]%d+([z+-].*)$" or rest)
  return zone and (zone == "z" or zone:find "^[+-]%d%d:%d%d$") and hour <= "23" and minute <= "59" and second <= "59"
end

-- Words of Scala: some are whole, others are begun with.
local whole = { ns = true, us = true, ["\194\181s"] = true, ms = true, s = true, m = true, h = true, hr = true,
  d = true, w = true, wk = true }
local begun = { "nano", "micro", "milli", "sec", "min", "hour", "day", "week" }

function known.duration(text)
  if type(times.duration(text)) == "string" then return true end
  local good = false
  for number, unit in text:gmatch("(%d+)" .. SPACE .. "*([%a\194\181]+)") do
    if times.exceeds(number, "9223372036854775807") then return false end
    unit = unit:lower()
    good = good or whole[unit]
    for _, word in ipairs(begun) do good = good or unit:sub(1, #word) == word end
  end
  return good
end

local formats = {}

local function check_of(format) return known[(format:gsub("-", ""))] end

function formats.is_known(format) return check_of(format) ~= nil end

-- Of a text at a path, as the server's validator has it.
function formats.problems(path, format, text)
  local check = check_of(format)
  if not check or check(text) then return {} end
  return { { "FieldValueTypeInvalid", (path:gsub("^%.", "")),
    string.format("%s in body must be of type %s: %s", path, format, json.dump(text)), text } }
end

return formats
