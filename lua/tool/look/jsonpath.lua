-- Templates of kubectl's JSONPath, as client-go's util/jsonpath reads them: text, and actions in braces, each a list of
-- steps. {range} and {end} stand around a body. Gives trees for jsonpath_eval.lua.
local jsonpath = {}

local function fail(...) error({ jsonpath = (...):format(select(2, ...)) }, 0) end

local function is_terminator(c) return c == "" or c:find "^[%s.,%[%]$@{}]" ~= nil end

local ESCAPES = { n = "\n", t = "\t", r = "\r", a = "\a", b = "\b", f = "\f", v = "\v", ["\\"] = "\\", ["'"] = "'",
  ['"'] = '"' }

local function utf8(code)
  if code < 0x80 then return string.char(code) end
  if code < 0x800 then return string.char(0xC0 + math.floor(code / 64), 0x80 + code % 64) end
  return string.char(0xE0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

local function unquote(text)
  text = text:gsub("\\u(%x%x%x%x)", function(hex) return utf8(tonumber(hex, 16)) end)
  return (text:gsub("\\(.)", function(c) return ESCAPES[c] or fail('unknown escape "\\%s"', c) end))
end

local parse_action

-- --- steps; each parser takes the text and where it stands, adds to the list, and returns where it ends

local function parse_field(text, at, list)
  local stop = at
  while not is_terminator(text:sub(stop, stop)) do stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1) end
  local name = text:sub(at, stop - 1)
  list[#list + 1] = name == "*" and { "wildcard" } or { "field", (name:gsub("\\", "")) }
  return stop
end

-- [from:to:step]; without a colon one element.
local function slice_of(text)
  local from, rest = text:match "^(%-?%d*)(.*)$"
  local to, behind = rest:match "^:(%-?%d*)(.*)$"
  local step = behind and behind:match "^:(%-?%d*)$"
  if rest ~= "" and not to or behind and behind ~= "" and not step then fail('invalid array index "%s"', text) end
  if not to and from == "" then fail('invalid array index "%s"', text) end
  return { "array", tonumber(from), tonumber(to), tonumber(step), single = to == nil }
end

-- The end of a bracket that is open; quotes keep it open, as commas and brackets in them are names.
local function close_of(text, at)
  local quote
  for i = at, #text do
    local c = text:sub(i, i)
    if quote then
      quote = c ~= quote and quote or nil
    elseif c == "'" then
      quote = c
    elseif c == "]" then
      return i
    end
  end
  fail "unterminated array"
end

local function parts_of(text)
  local parts, quoted, first = {}, false, 1
  for i = 1, #text do
    local c = text:sub(i, i)
    if c == "'" then quoted = not quoted end
    if c == "," and not quoted then
      parts[#parts + 1] = text:sub(first, i - 1)
      first = i + 1
    end
  end
  parts[#parts + 1] = text:sub(first)
  return parts
end

local function parse_array(text, at, list)
  local close = close_of(text, at)
  local inside = text:sub(at, close - 1)
  local parts = parts_of(inside)
  if #parts > 1 then
    local union = { "union" }
    for i, part in ipairs(parts) do union[i + 1] = parse_action("[" .. part:match "^ *(.-) *$" .. "]") end
    list[#list + 1] = union
    return close + 1
  end
  local key = inside:match "^'([^']*)'$"
  if key then
    list[#list + 1] = key == "*" and { "wildcard" } or { "field", (key:gsub("\\", "")) }
  else
    list[#list + 1] = slice_of(inside == "*" and ":" or inside)
  end
  return close + 1
end

local function end_of_filter(text, at)
  local quote
  for i = at, #text do
    local c = text:sub(i, i)
    if quote then
      if c == quote and text:sub(i - 1, i - 1) ~= "\\" then quote = nil end
    elseif c == "'" or c == '"' then
      quote = c
    elseif c == ")" then
      return i
    end
  end
  fail "unterminated filter"
end

local function parse_filter(text, at, list)
  local close = end_of_filter(text, at)
  if text:sub(close + 1, close + 1) ~= "]" then fail "a filter must end with )]" end
  local inside = text:sub(at, close - 1)
  local left, operator, right = inside:match "^([^!<>=]+)([!<>=]+)(.+)$"
  if left then
    list[#list + 1] = { "filter", parse_action(left), parse_action(right), operator }
  else
    list[#list + 1] = { "filter", parse_action(inside), {}, "exists" }
  end
  return close + 2
end

local function parse_recursive(text, at, list)
  if list[#list] and list[#list][1] == "recursive" then fail "invalid multiple recursive descent" end
  list[#list + 1] = { "recursive" }
  return text:find("^[%w_\128-\255]", at) and parse_field(text, at, list) or at
end

local function parse_quote(text, at, list)
  local quote = text:sub(at, at)
  local stop = at + 1
  while text:sub(stop, stop) ~= quote do
    if stop > #text then fail "unterminated quoted string" end
    stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
  end
  list[#list + 1] = { "value", unquote(text:sub(at + 1, stop - 1)) }
  return stop + 1
end

local function parse_number(text, at, list)
  local word = text:match("^[+-]?[%d.]*", at)
  local number = tonumber((word:gsub("^%+", "")))
  if not number then fail('cannot parse number "%s"', word) end
  list[#list + 1] = { "value", number }
  return at + #word
end

local function parse_word(text, at, list)
  local stop = at
  while not is_terminator(text:sub(stop, stop)) do stop = stop + 1 end
  local word = text:sub(at, stop - 1)
  if word == "true" or word == "false" then
    list[#list + 1] = { "value", word == "true" }
  elseif word == "range" or word == "end" then
    list.word = word
  else
    fail('unrecognized identifier "%s"', word)
  end
  return stop
end

local function parse_step(text, at, list)
  if text:sub(at, at + 2) == "[?(" then return parse_filter(text, at + 3, list) end
  if text:sub(at, at + 1) == ".." then return parse_recursive(text, at + 2, list) end
  local c = text:sub(at, at)
  if c == " " or c == "@" or c == "$" then return at + 1 end
  if c == "[" then return parse_array(text, at + 1, list) end
  if c == '"' or c == "'" then return parse_quote(text, at, list) end
  if c == "." then return parse_field(text, at + 1, list) end
  if c:find "[%d+-]" then return parse_number(text, at, list) end
  if c:find "[%a_\128-\255]" then return parse_word(text, at, list) end
  fail('unrecognized character "%s" in an action', c)
end

-- The steps of what stands within braces, the whole text; `word`: range or end.
function parse_action(text)
  local list, at = {}, 1
  while at <= #text do at = parse_step(text, at, list) end
  return list
end

-- The steps of an action in a template, and where it ends.
local function parse_braces(text, at)
  local list = {}
  while text:sub(at, at) ~= "}" do
    if text:find("^[\r\n]", at) or at > #text then fail "unclosed action" end
    at = parse_step(text, at, list)
  end
  return list, at + 1
end

-- --- templates

-- A list of nodes: "text", { steps = } or { range = steps, body = nodes }; nil and what is wrong with it.
function jsonpath.parse(text)
  local root, open, at = {}, {}, 1
  local nodes = root
  local function take()
    local brace = text:find("{", at, true) or #text + 1
    if brace > at then nodes[#nodes + 1] = text:sub(at, brace - 1) end
    if brace > #text then return #text + 1 end
    local steps, stop = parse_braces(text, brace + 1)
    if steps.word == "range" then
      local range = { range = steps, body = {} }
      nodes[#nodes + 1] = range
      open[#open + 1] = nodes
      nodes = range.body
    elseif steps.word == "end" then
      nodes = table.remove(open) or fail "not in range, nothing to end"
    else
      nodes[#nodes + 1] = { steps = steps }
    end
    return stop
  end
  local ok, why = pcall(function()
    while at <= #text do at = take() end
    if #open > 0 then fail "{range} without {end}" end
  end)
  if ok then return root end
  if type(why) ~= "table" or not why.jsonpath then error(why, 0) end
  return nil, ('jsonpath "%s": %s'):format(text, why.jsonpath)
end

return jsonpath
