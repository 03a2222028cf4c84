-- Calls of functions of k8s in the source of a script, found by Lua's tokens.

-- Where the long bracket that begins at `at` ends; nil when none begins there.
local function long_end(source, at)
  local level = source:match("^%[(=*)%[", at)
  if not level then return end
  local _, last = source:find("]" .. level .. "]", at + #level + 2, true)
  return (last or #source) + 1
end

local function skip_blanks(source, at)
  while true do
    at = source:find("%S", at) or #source + 1
    if source:sub(at, at + 1) ~= "--" then return at end
    at = long_end(source, at + 2) or source:find("\n", at, true) or #source + 1
  end
end

-- Behind the text that begins with a quote.
local function text_end(source, at)
  local stops = "[\\" .. source:sub(at, at) .. "]"
  at = source:find(stops, at + 1)
  while at and source:sub(at, at) == "\\" do at = source:find(stops, at + 2) end
  return (at or #source) + 1
end

-- The sort of the token at `at`, and where it ends: "name" of names and numbers, "text" of strings, what it is else.
local function token(source, at)
  local stop = long_end(source, at) or source:find("^['\"]", at) and text_end(source, at)
  if stop then return "text", stop end
  stop = source:match("^[%w_]+()", at)
  if stop then return "name", stop end
  local dots = source:match("^%.%.+", at)
  return dots or source:sub(at, at), at + #(dots or ".")
end

local function tokens(source)
  local at = source:match "^#[^\n]*()" or 1 -- #!/usr/bin/env kubelua
  return function()
    local from = skip_blanks(source, at)
    if from > #source then return end
    local sort
    sort, at = token(source, from)
    return sort, source:sub(from, at - 1), from
  end
end

local ARGUMENTS = { ["("] = true, ["{"] = true, text = true }

local OPENS, CLOSES = { ["("] = true, ["{"] = true }, { [")"] = true, ["}"] = true }

-- Notes that `k8s.NAME` is at a position; the first call counts, else the first place that only names it.
local function note(found, name, at, is_call)
  if not found[name] or (is_call and not found[name].is_call) then found[name] = { at = at, is_call = is_call } end
end

-- Where `k8s.NAME` is in code, by NAME: { at, is_call } of the first call, else of the first place that only names it,
-- as pcall(k8s.get, ...) does. `at` is its position. The second table has
-- the same of what is written in k8s.rule {...}.
return function(source)
  local outside, rules, state, before = {}, {}, nil, nil
  local defines = false -- "function k8s.get()"
  local name, start
  local depth, rule = 0, nil -- brackets, and how many there are around the rule
  for sort, text, at in tokens(source) do
    local is_call = state == "function" and not defines and ARGUMENTS[sort]
    if is_call then note(rule and rules or outside, name, start, true) end
    if is_call and name == "rule" and not rule and OPENS[sort] then rule = depth end
    depth = depth + (OPENS[sort] and 1 or CLOSES[sort] and -1 or 0)
    if rule and depth <= rule then rule = nil end
    if sort == "name" and text == "k8s" and before ~= "." and before ~= ":" then
      state = "module"
    elseif state == "module" and sort == "." then
      state = "dot"
    elseif state == "dot" and sort == "name" then
      state, name, start = "function", text, at
      if not defines then note(rule and rules or outside, name, at, false) end
    else
      state, defines = nil, text == "function"
    end
    before = sort
  end
  return outside, rules
end
