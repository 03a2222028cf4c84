-- IP addresses, as Go reads and writes them.
jit.off(true, true) -- short calls, of which traces make nothing but aborts

local addresses = {}

local function is_v4(ip)
  local parts = {}
  for part in ip:gmatch "[^.]+" do parts[#parts + 1] = tonumber(part:match "^%d+$") or 256 end
  local gap = ip:find "^%." or ip:find "%.%." or ip:find "%.$"
  return #parts == 4 and not gap and math.max(unpack(parts)) < 256
end

-- How many groups of 16 bits there are between colons; nil of what is none. The end may be an IPv4 address.
local function count_groups(source, is_end)
  local n, over = 0, false
  for group in (source ~= "" and source .. ":" or ""):gmatch "(.-):" do
    local embedded = is_end and group:find(".", 1, true) and is_v4(group)
    if over or not embedded and not group:find "^%x%x?%x?%x?$" then return end
    n, over = n + (embedded and 2 or 1), embedded
  end
  return n
end

-- A gap stands for at least one group.
local function is_v6(ip)
  local head, tail = ip:match "^(.-)::(.*)$"
  if not head then return count_groups(ip, true) == 8 end
  local before, after = count_groups(head, false), count_groups(tail, true)
  return before ~= nil and after ~= nil and before + after < 8
end

function addresses.is_valid(ip)
  if ip:find(":", 1, true) then return is_v6(ip) end
  return is_v4(ip)
end

-- The eight groups of 16 bits of an IPv6 address.
local function groups_of(ip)
  local function list(source)
    local groups = {}
    for group in source:gmatch "[^:]+" do
      local a, b, c, d = group:match "^(%d+)%.(%d+)%.(%d+)%.(%d+)$"
      groups[#groups + 1] = a and a * 256 + b or tonumber(group, 16)
      if a then groups[#groups + 1] = c * 256 + d end
    end
    return groups
  end
  local head, tail = ip:match "^(.-)::(.*)$"
  local groups, rest = list(head or ip), list(tail or "")
  while #groups + #rest < 8 do groups[#groups + 1] = 0 end
  for _, group in ipairs(rest) do groups[#groups + 1] = group end
  return groups
end

-- Whether bits are set behind the first of them.
function addresses.has_bits_behind(ip, bits)
  local groups = ip:find(":", 1, true) and groups_of(ip)
  if not groups then
    local a, b, c, d = ip:match "^(%d+)%.(%d+)%.(%d+)%.(%d+)$"
    groups = { a * 256 + b, c * 256 + d }
  end
  for i, group in ipairs(groups) do
    local free = math.min(math.max(i * 16 - bits, 0), 16)
    if group % 2 ^ free ~= 0 then return true end
  end
  return false
end

-- Whether it is an IPv4 address in the form of the other kind.
function addresses.is_mapped(ip)
  if not ip:find(":", 1, true) then return false end
  local groups = groups_of(ip)
  for i = 1, 5 do
    if groups[i] ~= 0 then return false end
  end
  return groups[6] == 65535
end

-- Where the longest run of zeros begins, and its length; runs of one do not count.
local function longest_gap(groups)
  local first, length, i = 9, 1, 1
  while i <= 8 do
    local last = i
    while groups[last] == 0 do last = last + 1 end
    if last - i > length then first, length = i, last - i end
    i = math.max(last, i + 1)
  end
  return first, length
end

local function as_v6(groups)
  local first, length = longest_gap(groups)
  local before, after = {}, {}
  for i, group in ipairs(groups) do
    local list = i < first and before or i >= first + length and after
    if list then list[#list + 1] = string.format("%x", group) end
  end
  return table.concat(before, ":") .. (first <= 8 and "::" .. table.concat(after, ":") or "")
end

-- Returns the address as Go writes it; itself if it is none, or an IPv4 address.
function addresses.canonical(ip)
  return ip:find(":", 1, true) and addresses.is_valid(ip) and as_v6(groups_of(ip)) or ip
end

-- Returns what a server warns of; nil of addresses that are well, or none at all.
function addresses.warning(ip)
  local own = addresses.canonical(ip)
  return own ~= ip and string.format('IPv6 address "%s" should be in RFC 5952 canonical format ("%s")', ip, own) or nil
end

return addresses
