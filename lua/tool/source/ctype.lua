-- Types as LuaCATS writes them ("k8s.Object?", "string[]", "fun(obj: k8s.Object): boolean"), as tables with a `tag`.
local ctype = {}

local parse -- of a union

local function skip(text, at) return text:match("^%s*()", at) end

-- The fields of { name?: type, ... } or, with `closing`, the parameters of fun(...).
local function parse_names(text, at, closing)
  local names = {}
  at = skip(text, at)
  while text:sub(at, at) ~= closing do
    local name, mark, after = text:match("^([%w_.]+)(%??)()", at)
    if not name then return names, #text + 1 end
    local one = { name = name, optional = mark == "?" }
    at = skip(text, after)
    if text:sub(at, at) == ":" then
      one.type, at = parse(text, at + 1)
    else
      one.type = { tag = "any" }
    end
    names[#names + 1] = one
    at = skip(text, at)
    if text:sub(at, at) == "," then at = skip(text, at + 1) end
  end
  return names, at + 1
end

local function parse_function(text, at)
  local params, returns
  params, at = parse_names(text, at, ")")
  returns = {}
  local after = text:match("^%s*:()", at)
  while after do
    returns[#returns + 1], at = parse(text, after)
    after = text:match("^,()", at)
  end
  return { tag = "fun", params = params, returns = returns }, at
end

local function parse_generic(text, at)
  local key, value
  key, at = parse(text, at)
  value, at = parse(text, text:match("^%s*,()", at) or at)
  return { tag = "map", key = key, of = value }, text:match("^%s*>()", at) or at
end

local BASIC = { any = true, string = true, number = true, boolean = true, table = true, ["nil"] = true }

local function named(name)
  if name == "integer" then return { tag = "number", integer = true } end
  if name == "true" or name == "false" then return { tag = "boolean" } end
  return BASIC[name] and { tag = name } or { tag = "name", name = name }
end

local function parse_one(text, at)
  at = skip(text, at)
  local literal, after = text:match('^"([^"]*)"()', at)
  if literal then return { tag = "literal", value = literal }, after end
  after = text:match("^fun%(()", at)
  if after then return parse_function(text, after) end
  after = text:match("^table<()", at)
  if after then return parse_generic(text, after) end
  local first = text:sub(at, at)
  if first == "(" then
    local inner
    inner, at = parse(text, at + 1)
    return inner, text:match("^%s*%)()", at) or at
  end
  if first == "{" then
    local fields
    fields, at = parse_names(text, at + 1, "}")
    return { tag = "record", list = fields }, at
  end
  local name
  name, after = text:match("^([%w_.]+)()", at)
  if not name then return { tag = "any" }, at + 1 end
  return named(name), after
end

local function parse_suffixes(text, at)
  local one
  one, at = parse_one(text, at)
  while true do
    if text:sub(at, at + 1) == "[]" then
      one, at = { tag = "array", of = one }, at + 2
    elseif text:sub(at, at) == "?" then
      one, at = { tag = "union", one, { tag = "nil" } }, at + 1
    else
      return one, at
    end
  end
end

function parse(text, at)
  local one
  one, at = parse_suffixes(text, at)
  if text:sub(at, at) ~= "|" then return one, at end
  local union = { tag = "union", one }
  while text:sub(at, at) == "|" do
    union[#union + 1], at = parse_suffixes(text, at + 1)
  end
  return union, at
end

-- A type that nobody has looked at yet. A script uses few of those that the stubs have.
local unread = {}

function unread.__index(self, name)
  setmetatable(self, nil)
  for key, value in pairs((parse(rawget(self, "text"), 1))) do self[key] = value end
  return self[name]
end

-- Returns the type that the text begins with: it is parsed when its tag is asked for.
function ctype.parse(text) return setmetatable({ text = text }, unread) end

-- The members of a union, those of its unions too; of another type itself.
function ctype.members(type, found)
  found = found or {}
  if type.tag ~= "union" then
    found[#found + 1] = type
  else
    for _, one in ipairs(type) do ctype.members(one, found) end
  end
  return found
end

return ctype
