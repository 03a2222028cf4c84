-- JSONPath of additionalPrinterColumns: one value of an object. .a.b, ['a'], [0], [-1], [*], .*, ..a, and filters
-- [?(@.type=="Ready")]; dots in keys are escaped by a backslash.
local json = require "sim.json"

local each, members = json.each, json.members

local jsonpath = {}

local KEPT = 1000 -- parsed paths

-- Reads 'text' or "text" from the quote on; returns it and the place behind it, nil if it does not end.
local function read_quoted(path, at)
  local quote, text = path:sub(at, at), {}
  at = at + 1
  while at <= #path and path:sub(at, at) ~= quote do
    if path:sub(at, at) == "\\" and at < #path then at = at + 1 end
    text[#text + 1] = path:sub(at, at)
    at = at + 1
  end
  if at <= #path then return table.concat(text), at + 1 end
end

local function read_key(path, at)
  local text, first = {}, at
  while at <= #path and not path:find("^[.[]", at) do
    if path:sub(at, at) == "\\" and at < #path then at = at + 1 end
    text[#text + 1] = path:sub(at, at)
    at = at + 1
  end
  if at == first then return end
  local key = table.concat(text)
  return key == "*" and { all = true } or { key = key }, at
end

local words = { ["true"] = true, ["false"] = false, null = json.null }

-- The right side of a comparison: a quoted string, a number, true, false or null.
local function read_literal(path, at)
  if path:find("^['\"]", at) then return read_quoted(path, at) end
  local text, behind = path:match("^([^ )]+)()", at)
  if text and words[text] ~= nil then return words[text], behind end
  if text and text:find "^%-?%d+%.?%d*[eE]?[+-]?%d*$" and not text:find "^%-?0%d" then
    return tonumber(text), behind
  end
end

-- Behind the question mark.
local function read_filter(path, at)
  local key, behind = path:match("^ *%( *@([^=!<>) ]*) *()", at)
  if not key then return end
  local step = { filter = jsonpath.parse(key) or { {} }, compare = "" }
  if path:sub(behind, behind) ~= ")" then
    local sign, from = path:match("^([=!<>]+) *()", behind)
    if not sign or #sign > 2 then return end
    local value, to = read_literal(path, from)
    if value == nil or not to then return end
    step.compare, step.value, behind = sign, value, path:match("^ *()", to)
  end
  behind = path:match("^%) *%]()", behind)
  if behind then return step, behind end
end

-- Behind the opening bracket.
local function read_bracket(path, at)
  local step
  at = path:match("^ *()", at)
  local first = path:sub(at, at)
  if first == "?" then return read_filter(path, at + 1) end
  if first == "'" or first == '"' then
    step = {}
    step.key, at = read_quoted(path, at)
    if not at then return end
  elseif first == "*" then
    step, at = { all = true }, at + 1
  else
    local digits, behind = path:match("^([+-]?%d+)()", at)
    if not digits then return end
    step, at = { index = tonumber(digits) }, behind
  end
  at = path:match("^ *%]()", at)
  if at then return step, at end
end

local function read_step(path, at)
  if path:sub(at, at) == "[" then return read_bracket(path, at + 1) end
  if path:sub(at, at + 1) == ".." then return { deep = true }, path:sub(at + 2, at + 2) == "[" and at + 2 or at + 1 end
  if path:sub(at, at + 1) == ".[" then return read_bracket(path, at + 2) end
  return read_key(path, path:sub(at, at) == "." and at + 1 or at)
end

-- Returns the steps of a path; nil if it is none.
function jsonpath.parse(path)
  local steps, at = {}, 1
  while at <= #path do
    steps[#steps + 1], at = read_step(path, at)
    if not at then return end
  end
  return steps
end

-- Returns -1, 0 or 1; nil of what is not ordered and not equal.
local function compare(a, b)
  local x, y = json.number(a), json.number(b)
  if not (x and y) and type(a) == "string" and type(b) == "string" then x, y = a, b end
  if x and y then return x < y and -1 or x > y and 1 or 0 end
  return a == b and 0 or nil
end

local first

local function passes(step, value)
  local left = first(value, step.filter, 1)
  if left == nil or step.compare == "" then return left ~= nil end
  local order, sign = compare(left, step.value), step.compare:sub(1, 1)
  if sign == "=" then return order == 0 end
  if sign == "!" then return order ~= 0 end
  if not order then return false end
  return order == (sign == "<" and -1 or 1) or (#step.compare == 2 and order == 0)
end

-- The first of a map's or list's values from which the steps lead on, of those that pass.
local function below(value, step, steps, at)
  local kind = json.type(value)
  for _, item in (kind == "object" and members or each)(value) do
    if not step or passes(step, item) then
      local found = first(item, steps, at)
      if found ~= nil then return found end
    end
  end
end

function first(value, steps, at)
  local step = steps[at]
  if value == nil or not step then return value end
  if step.key then return first(json.get(value, step.key), steps, at + 1) end
  if step.index then return first(json.element(value, step.index), steps, at + 1) end
  if step.filter then return below(value, step, steps, at + 1) end
  if step.all then return below(value, nil, steps, at + 1) end
  if not step.deep then return end -- the path of a filter, and none
  local found = first(value, steps, at + 1)
  if found ~= nil then return found end
  return below(value, nil, steps, at)
end

local parsed, count = {}, 0

-- Returns the first value that the path leads to, nil for none.
function jsonpath.first(value, path)
  local steps = parsed[path]
  if steps == nil then
    if count == KEPT then parsed, count = {}, 0 end
    steps, count = jsonpath.parse(path) or false, count + 1
    parsed[path] = steps
  end
  if steps then return first(value, steps, 1) end
end

function jsonpath.valid(path) return jsonpath.parse(path) ~= nil end

return jsonpath
