-- Selectors of shards: shardRange(FIELD, 'START', 'END') || ..., as a server words what is wrong with them. See
-- store/shard.h.
local shards = {}

local WHOLE, DIGITS = "0x10000000000000000", 16 -- the end of the last range
local UID, NAMESPACE = "object.metadata.uid", "object.metadata.namespace"

local function fail(...) error({ text = string.format(...) }, 0) end

-- The three arguments of a call, without their quotes, and what is behind it.
local function read_call(rest)
  local list, behind = rest:match "^ *shardRange%(([^)]*)%) *()"
  local words = {}
  for word in ((list or "") .. ","):gmatch "([^,]*)," do words[#words + 1] = word:match "^[ '\"]*([^ '\"]*)" end
  if not list or #words ~= 3 then fail "unexpected expression kind 3; expected shardRange() call or || operator" end
  return words, rest:sub(behind)
end

-- Sixteen digits, or those of the end of all.
local function read_hex(what, text)
  local digits = text:match "^0x(.*)$" or ""
  if what == "hexEnd" and text == WHOLE then return "0" end
  if #digits == 0 or #digits > DIGITS then fail('%s must be a 0x-prefixed 16-digit hex value, got "%s"', what, text) end
  if #digits < DIGITS then
    fail('%s must be a 0x-prefixed 16-digit hex value, got "%s" (did you mean "0x%s%s"?)', what, text,
      string.rep("0", DIGITS - #digits), digits)
  end
  local bad = digits:match "[^0-9a-f]"
  if bad then fail('%s: invalid hex character "%s" in "%s"', what, bad, text) end
  return digits
end

local function read_range(words, field)
  if words[1] ~= UID and words[1] ~= NAMESPACE then
    fail('unsupported field path "%s"; supported: %s, %s', words[1], UID, NAMESPACE)
  end
  local first, last = read_hex("hexStart", words[2]), read_hex("hexEnd", words[3])
  if words[3] ~= WHOLE and first >= last then
    fail("shard range start %s must be less than end %s", words[2], words[3])
  end
  if field and field ~= words[1] then
    fail('all shard ranges must use the same field, got "%s" and "%s"', field, words[1])
  end
  return first, last
end

local function parse(text)
  local field, texts, ranges, rest = nil, {}, {}, text
  repeat
    local words
    words, rest = read_call(rest)
    local first, last = read_range(words, field)
    field = words[1]
    ranges[#ranges + 1], ranges[#ranges + 2] = first, last
    texts[#texts + 1] = string.format("shardRange(%s, '%s', '%s')", field, words[2], words[3])
    local more = rest:sub(1, 2) == "||"
    if more then rest = rest:sub(3) end
  until not more
  if rest ~= "" then fail('unexpected text "%s"', rest) end
  return { field == NAMESPACE, table.concat(texts, " || "), ranges }
end

-- Returns a list: whether it is about namespaces, its text as a server writes it, and the first value and the end of
-- each range, in hexadecimal; or what is wrong with it.
function shards.parse(text)
  local ok, result = pcall(parse, text)
  if not ok and type(result) ~= "table" then error(result, 0) end
  return ok and result or { result.text }
end

return shards
