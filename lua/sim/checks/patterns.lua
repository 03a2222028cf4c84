-- Errors of regular expressions, as Go's regexp words them: patterns.problem(text), nil if nothing is.
local patterns = {}

local function err(what, text) error { string.format("error parsing regexp: %s: `%s`", what, text) } end

local posix = {}
for name in ("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit"):gmatch "%a+" do
  posix[name] = true
end
local categories = {}
for name in ("C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs")
  :gmatch "%a+" do
  categories[name] = true
end

-- Functions read at a position, and return the one behind what they have read.

local function escape(text, at)
  local byte = text:sub(at + 1, at + 1)
  if byte == "" then err("trailing backslash at end of expression", "") end
  if byte:find "[afnrtv]" or (byte:find "^[%p%s%c]" and byte:byte() < 128) then return at + 2 end
  local last = byte == "0" and select(2, text:find("^[0-7]?[0-7]?", at + 2)) or at + 1
  if byte == "0" then return last + 1 end
  if byte:find "[1-7]" and text:find("^[0-7]", at + 2) then return select(2, text:find("^[0-7][0-7]?", at + 2)) + 1 end
  if byte == "x" then
    local _, stop = text:find("^%x%x", at + 2)
    if not stop then _, stop = text:find("^{%x+}", at + 2) end
    if stop then return stop + 1 end
    last = math.min(#text, at + 3)
  end
  local rune = text:match("^[\194-\244][\128-\191]*", at + 1)
  err("invalid escape sequence", text:sub(at, rune and at + #rune or last))
end

-- \pL or \p{Greek}; names of scripts are not known one by one.
local function unicode_class(text, at)
  local stop = text:sub(at + 2, at + 2) == "{" and text:find("}", at, true) or at + 2
  local name = text:sub(at + 2, stop):gsub("^{", ""):gsub("}$", ""):gsub("^%^", "")
  if text:sub(at + 2, at + 2) == "{" and not text:find("}", at, true) then
    err("invalid character class range", text:sub(at))
  end
  if not categories[name] and not name:find "^%u%a%a[%a_]*$" then
    err("invalid character class range", text:sub(at, stop))
  end
  return stop + 1
end

local function class_character(text, at, start)
  if at > #text then err("missing closing ]", text:sub(start)) end
  if text:sub(at, at) == "\\" then return escape(text, at) end
  return at + #(text:match("^[\194-\244][\128-\191]*", at) or " ")
end

local function class(text, start)
  local at = text:find("^%^", start + 1) and start + 2 or start + 1
  local first = true
  while first or at > #text or text:sub(at, at) ~= "]" do
    first = false
    local named, stop = text:match("^%[:(.-):%]()", at)
    if named then
      if not posix[named:gsub("^%^", "")] then err("invalid character class range", text:sub(at, stop - 1)) end
      at = stop
    elseif text:find("^\\[pP]", at) then
      at = unicode_class(text, at)
    elseif text:find("^\\[dDsSwW]", at) then
      at = at + 2
    else
      local low = at
      at = class_character(text, at, start)
      if text:find("^%-[^%]]", at) then
        local high = at + 1
        at = class_character(text, high, start)
        local from, to = text:sub(low, high - 2), text:sub(high, at - 1)
        if #from <= #to and from > to and from:sub(1, 1) ~= "\\" and to:sub(1, 1) ~= "\\" then
          err("invalid character class range", text:sub(low, at - 1))
        end
      end
    end
  end
  return at + 1
end

-- "(?...": returns whether a group begins, too.
local function flags(text, at)
  local start = text:match("^%(%?P<()", at) or text:match("^%(%?<()", at)
  if start then
    local stop = text:find(">", start, true)
    if not stop then err("invalid named capture", text:sub(at)) end
    if not text:sub(start, stop - 1):find "^[%w_]+$" then err("invalid named capture", text:sub(at, stop)) end
    return stop + 1, true
  end
  local close, stop = text:match("^%(%?[imsU]*([:)])()", at)
  if not close then close, stop = text:match("^%(%?[imsU]*%-[imsU]+([:)])()", at) end
  if close then return stop, close == ":" end
  stop = select(2, text:find("^%(%?[imsU]*%-?[imsU]*", at))
  err("invalid or unsupported Perl syntax", text:sub(at, stop + 1))
end

-- The position behind a repetition that begins here; nil if none does.
local function repetition(text, at)
  local stop = text:match("^[*+?]()", at)
  if stop then return stop end
  local least, comma, most, after = text:match("^{(%d+)(,?)(%d*)}()", at)
  if not least or least:find "^0%d" or most:find "^0%d" or (comma == "" and most ~= "") then return end
  local low, high = tonumber(least), tonumber(most)
  if low > 1000 or (high and (high > 1000 or high < low)) then
    err("invalid repeat count", text:sub(at, after - 1))
  end
  return after
end

local function atom(text, at)
  if text:sub(at, at) == "[" then return class(text, at) end
  if text:find("^\\[AbBz]", at) or text:find("^\\[dDsSwW]", at) then return at + 2 end
  if text:find("^\\Q", at) then return select(2, text:find("\\E", at, true)) or #text + 1 end
  if text:find("^\\[pP]", at) then return unicode_class(text, at) end
  if text:sub(at, at) == "\\" then return escape(text, at) end
  return at + 1
end

local function parse(text)
  local at, depth, is_there, first = 1, 0, { [0] = false }, nil -- where a repetition began that just ended
  while at <= #text do
    local byte, after = text:sub(at, at), repetition(text, at)
    local began
    if after then
      if text:sub(after, after) == "?" then after = after + 1 end
      if first then err("invalid nested repetition operator", text:sub(first, after - 1)) end
      if not is_there[depth] then err("missing argument to repetition operator", text:sub(at, after - 1)) end
      began, at = at, after
    elseif byte == "(" then
      local opens = true
      at = at + 1
      if text:sub(at, at) == "?" then at, opens = flags(text, at - 1) end
      if opens then depth = depth + 1 end
      if opens then is_there[depth] = false end
    elseif byte == "|" then
      is_there[depth], at = false, at + 1
    elseif byte == ")" then
      if depth == 0 then err("unexpected )", text) end
      depth, at = depth - 1, at + 1
      is_there[depth] = true
    else
      at = atom(text, at)
      is_there[depth] = true
    end
    first = began
  end
  if depth > 0 then err("missing closing )", text) end
end

function patterns.problem(text)
  local good, why = pcall(parse, text)
  return not good and (type(why) == "table" and why[1] or error(why)) or nil
end

return patterns
