-- k8s.regex(pattern): a regular expression of PCRE2, with the methods of strings: find, match, gmatch, gsub.
local raw = ...

local methods = raw.regex.methods
local find, is_utf8, check = methods.find, raw.regex.is_utf8, raw.regex.check

local function check_text(where, text)
  if type(text) ~= "string" then
    raw.raise(string.format("regex:%s: text must be a string, not %s", where, type(text)))
  end
end

-- Where the next search begins: an empty match is not found again.
local function behind(first, last)
  return last < first and first + 1 or last + 1
end

local function found(first, last, ...)
  return first, last, { n = select("#", ...), ... }
end

-- gmatch(text), for loops: the captures of each match, or the match.
function methods.gmatch(self, text)
  check(self, "gmatch")
  check_text("gmatch", text)
  local utf8, at = is_utf8(text), 1
  return function()
    if at > #text + 1 then
      return nil
    end
    local first, last, captures = found(find(self, text, at, utf8))
    if not first then
      at = #text + 2
      return nil
    end
    at = behind(first, last)
    if captures.n == 0 then
      return string.sub(text, first, last)
    end
    return unpack(captures, 1, captures.n)
  end
end

-- "%1 of %0": what a text stands for; captures that took no part are empty.
local function expand(repl, whole, captures)
  return (string.gsub(repl, "%%(.?)", function(c)
    local n = tonumber(c)
    if c == "%" then
      return "%"
    elseif not n or n > math.max(captures.n, 1) then
      raw.raise(string.format('regex:gsub: "%%%s" in the replacement is no capture', c))
    end
    return n == 0 and whole or captures[n] or n == 1 and captures.n == 0 and whole or ""
  end))
end

local function replacement(repl, whole, captures)
  if type(repl) == "string" then
    return expand(repl, whole, captures)
  end
  local value
  if type(repl) == "table" then
    value = repl[captures.n > 0 and captures[1] or whole]
  elseif captures.n > 0 then
    value = repl(unpack(captures, 1, captures.n))
  else
    value = repl(whole)
  end
  if not value then
    return whole
  elseif type(value) ~= "string" and type(value) ~= "number" then
    raw.raise("regex:gsub: the replacement must be a string, not " .. type(value))
  end
  return tostring(value)
end

local KINDS = { string = true, table = true, ["function"] = true }

-- gsub(text, repl, n): the text with its matches replaced, n at most, and how many there were. `repl` is a text
-- with %0 to %9, a table or a function, as for string.gsub.
function methods.gsub(self, text, repl, most)
  check(self, "gsub")
  check_text("gsub", text)
  if not KINDS[type(repl)] then
    raw.raise("regex:gsub: the replacement must be a string, a table or a function, not " .. type(repl))
  elseif most ~= nil and type(most) ~= "number" then
    raw.raise("regex:gsub: n must be a number, not " .. type(most))
  end
  local utf8, at, kept, count, parts = is_utf8(text), 1, 1, 0, {}
  while at <= #text + 1 and count < (most or math.huge) do
    local first, last, captures = found(find(self, text, at, utf8))
    if not first then
      break
    end
    count = count + 1
    parts[#parts + 1] = string.sub(text, kept, first - 1)
    parts[#parts + 1] = replacement(repl, string.sub(text, first, last), captures)
    kept, at = last + 1, behind(first, last)
  end
  parts[#parts + 1] = string.sub(text, kept)
  return table.concat(parts), count
end

return raw.regex.new
