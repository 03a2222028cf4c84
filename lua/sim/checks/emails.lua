-- Addresses of mail, as Go's net/mail reads them: "a@b.c", "Name <a@b.c>", with quotes and comments. Functions take a
-- text and a place, and return the place behind what they have read; nil if it is not there.
local addresses = require "sim.checks.addresses"

local emails = {}

local ATOM = "[%w!#$%%&'*+/=?^_`{|}~.\128-\255-]"

local function skip_space(text, at) return text:match("^[ \t]*()", at) end

-- Comments may be within comments.
local function skip_comments(text, at)
  at = skip_space(text, at)
  while text:sub(at, at) == "(" do
    local depth = 1
    while depth > 0 do
      at = at + 1
      local sign = text:sub(at, at)
      if sign == "" then return end
      if sign == "\\" and at < #text then at = at + 1 end
      depth = depth + (sign == "(" and 1 or sign == ")" and -1 or 0)
    end
    at = skip_space(text, at + 1)
  end
  return at
end

local function read_quoted(text, at)
  local first = at + 1
  at = first
  while true do
    local sign = text:sub(at, at)
    if sign == '"' then return at + 1, at > first end
    if sign == "\\" then
      at = at + 1
      sign = text:sub(at, at)
    end
    if sign == "" or sign:find "[%z\1-\8\10-\31\127]" then return end
    at = at + 1
  end
end

-- Words with dots between them.
local function read_atom(text, at, permissive)
  local atom, behind = text:match("^(" .. ATOM .. "+)()", at)
  if not atom then return end
  local gap = atom:find "^%." or atom:find "%.%." or atom:find "%.$"
  return (permissive or not gap) and behind or nil
end

local function read_domain(text, at)
  local literal, behind = text:match("^%[([^%]]*)%]()", at)
  if not literal then return read_atom(text, at) end
  return addresses.is_valid(literal) and behind or nil
end

-- "a@b.c"
local function read_spec(text, at)
  local behind, filled
  at = skip_space(text, at)
  if text:sub(at, at) == '"' then
    behind, filled = read_quoted(text, at)
    behind = filled and behind
  else
    behind = read_atom(text, at)
  end
  if not behind or text:sub(behind, behind) ~= "@" then return end
  return read_domain(text, skip_space(text, behind + 1))
end

-- The words of a name.
local function read_phrase(text, at)
  local some = false
  while true do
    if some then at = skip_comments(text, at) end
    if not at then return end
    at = skip_space(text, at)
    local behind
    if text:sub(at, at) == '"' then behind = read_quoted(text, at) else behind = read_atom(text, at, true) end
    if not behind then return (some or at > #text) and at or nil end
    at, some = behind, true
  end
end

local function read_address(text, at)
  at = skip_space(text, at)
  if at > #text then return end
  local behind = read_spec(text, at)
  if behind then
    behind = skip_space(text, behind)
    return text:sub(behind, behind) == "(" and skip_comments(text, behind) or behind
  end
  if text:sub(at, at) ~= "<" then at = read_phrase(text, at) end
  at = at and skip_space(text, at)
  if not at or text:sub(at, at) ~= "<" then return end
  behind = read_spec(text, at + 1)
  return behind and text:sub(behind, behind) == ">" and behind + 1 or nil
end

-- A group must have one address: "name: a@b.c;".
local function read_group(text)
  local first = text:sub(1, 1)
  local at = first ~= "<" and read_phrase(text, skip_space(text, 1))
  at = at and skip_space(text, at)
  if not at or text:sub(at, at) ~= ":" then return end
  at = read_address(text, at + 1)
  at = at and skip_comments(text, at)
  return at and text:sub(at, at) == ";" and at + 1 or nil
end

function emails.is_valid(text)
  local at = read_address(text, 1) or read_group(text)
  at = at and skip_comments(text, at)
  return at == #text + 1
end

return emails
