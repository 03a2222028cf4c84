-- Completions of a line at the prompt: names, fields and methods of what is there. Nothing is called to find out.
local raw = ...

local is_view, pairs_of = raw.view.is, raw.view.pairs
local find, match, sub = string.find, string.match, string.sub

local complete = {}

local KEYWORDS = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
  "repeat", "return", "then", "true", "until", "while",
}
local MAX = 500

-- Methods of userdata, by what they are.
local OBJECT_METHODS = {}
for name in pairs(raw.object) do
  OBJECT_METHODS[name] = true
end

local function add_keys(found, value)
  local each = is_view(value) and pairs_of or pairs
  for key in each(value) do
    if type(key) == "string" and find(key, "^[%a_][%w_]*$") then
      found[key] = true
    end
  end
end

-- The value of "x", "x.y", 'x["a/b"].c', "x[1]", without a call: nil when that is not known.
local function value_of(path, scene)
  local name, rest = match(path, "^([%a_][%w_]*)(.*)$")
  if not name then
    return nil
  end
  local value = rawget(scene.globals, name)
  if value == nil then
    value = scene.kinds[name]
  end
  while rest ~= "" do
    local key, after = match(rest, "^%.([%a_][%w_]*)(.*)$")
    if not key then
      key, after = match(rest, "^%[[\"']([^\"']*)[\"']%](.*)$")
    end
    if not key then
      key, after = match(rest, "^%[(%d+)%](.*)$")
      key = tonumber(key)
    end
    if not key then
      return nil
    end
    local entry = scene.shown[value]
    if entry then
      value = entry.synced and type(key) == "string" and find(key, "[/%w]") and value[key] or nil
    elseif is_view(value) then
      value = value[key]
    elseif type(value) == "table" then -- whose __index would be called
      value = rawget(require("k8s.frozen").content(value) or value, key)
    else
      return nil
    end
    rest = after
  end
  return value
end

local function names_of_globals(found, scene)
  add_keys(found, scene.globals)
  for _, word in ipairs(KEYWORDS) do
    found[word] = true
  end
  for _, name in ipairs(scene.names()) do
    found[match(name, "^[%w_]+")] = true -- "deployments" of "deployments.apps"
  end
end

local function names_of_value(found, path, mark, scene)
  local value = value_of(path, scene)
  if value == nil and mark == ":" and raw.repl.resolve(path) then
    add_keys(found, scene.methods) -- a kind that nobody has asked for yet
  elseif scene.shown[value] then
    add_keys(found, scene.methods)
  elseif is_view(value) then
    add_keys(found, mark == ":" and OBJECT_METHODS or value)
  elseif type(value) == "table" then
    local content = require("k8s.frozen").content(value)
    add_keys(found, content or value)
  end
end

-- kind "dep
local function names_of_kinds(found, scene)
  for _, name in ipairs(scene.names()) do
    found[name] = true
  end
end

-- Where the last word begins, counted from 0, and what it may be, sorted.
function complete.find(text, scene)
  local found, word = {}, match(text, "[%a_][%w_]*$") or ""
  local before = sub(text, 1, #text - #word)
  local quoted = match(text, "%f[%w_]kind%s*%(?%s*[\"']([^\"']*)$")
  local path, mark = match(before, "([%a_][%w_%.%[%]\"'/%-]*)([.:])$")
  if quoted then
    word = quoted
    names_of_kinds(found, scene)
  elseif path then
    names_of_value(found, path, mark, scene)
  elseif not find(before, "[%w\"']$") then
    names_of_globals(found, scene)
  end
  local names = {}
  for name in pairs(found) do
    if sub(name, 1, #word) == word and #names < MAX then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return #text - #word, names
end

return complete
