-- Details of a plan's entries for people: without the hashes of functions, and what two of them differ in. A detail is
-- a canonical text of lua/k8s/plan.lua, perhaps behind what an entry is of:
-- `pods in shop {OnAdd=function 3f2a..., selector="app=web"}`.
local detail = {}

local FUNCTION = "^function " .. ("%x"):rep(16)

local function is_function(value) return value:find(FUNCTION .. "$") ~= nil end

-- Where the text ends that begins with the quote at `at`.
local function quoted_end(text, at)
  local i = at + 1
  while i <= #text and text:sub(i, i) ~= '"' do i = i + (text:sub(i, i) == "\\" and 2 or 1) end
  return math.min(i, #text)
end

-- --- taken apart

-- The head before the braces, and what is inside of them; without braces all is head.
local function cut(text)
  local open = not text:find '^["?]' and text:find("{", 1, true)
  if not open or text:sub(-1) ~= "}" then return text, "" end
  return (text:sub(1, open - 1):gsub(" $", "")), text:sub(open + 1, -2)
end

-- Where the field that begins at `at` ends: before the next comma that is in no braces.
local function field_end(text, at)
  local depth, i = 0, at
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then
      i = quoted_end(text, i)
    elseif c == "," and depth == 0 then
      return i - 1
    else
      depth = depth + (c == "{" and 1 or c == "}" and -1 or 0)
    end
    i = i + 1
  end
  return #text
end

-- The fields in their order, and by their keys: the names, or the positions of those that have none.
local function fields_of(body)
  local list, by_key, at, position = {}, {}, 1, 0
  while at <= #body do
    local last = field_end(body, at)
    local text = body:sub(at, last)
    local name, value = text:match "^([%w_]+)=(.*)$"
    if not name then position = position + 1 end
    local field = { key = name or position, name = name or "", value = value or text }
    list[#list + 1] = field
    by_key[field.key] = by_key[field.key] or field
    at = last + 3 -- behind the comma and the blank
  end
  return list, by_key
end

-- The value of a field, as it is written: `2`, `"counter"`; nil without.
function detail.field(text, name)
  local _, body = cut(text)
  local _, by_key = fields_of(body)
  return by_key[name] and by_key[name].value
end

-- --- for people

-- Without the hashes.
local function masked(value)
  local out, at = {}, 1
  while at <= #value do
    local _, last = value:find(FUNCTION, at)
    if last then
      out[#out + 1] = "function"
    else
      last = value:sub(at, at) == '"' and quoted_end(value, at) or at
      out[#out + 1] = value:sub(at, last)
    end
    at = last + 1
  end
  return table.concat(out)
end

-- Nothing for "{}".
function detail.print(text)
  text = text:gsub("^%?", "")
  return text ~= "{}" and masked(text) or ""
end

local function or_function(name) return name ~= "" and name or "function" end

-- "OnAdd", "leader=true"; a function without a name is the one that the entry has.
local function label(field)
  if is_function(field.value) then return or_function(field.name) end
  return field.name .. (field.name ~= "" and "=" or "") .. masked(field.value)
end

-- `OnAdd changed (x.lua:3), selector "app=web" -> "app=api", leader=true added`, and whether it has a place.
-- `place_of` returns "x.lua:3" for the hash of a function after the change, if it is known.
function detail.compare(before, after, place_of)
  local parts, placed = {}, false
  local function put(text, value)
    local place = value and is_function(value) and place_of(value:match "%x+$")
    placed = placed or type(place) == "string"
    parts[#parts + 1] = text .. (place and (" (%s)"):format(place) or "")
  end
  local function compare(name, old, new)
    if old == new then return end
    if is_function(old) and is_function(new) then
      put(or_function(name) .. " changed", new)
      return
    end
    local a, b, begin = masked(old), masked(new), name ~= "" and name .. " " or ""
    if a == b then -- in functions inside of it
      put(begin .. "changed")
    else
      put(("%s%s -> %s"):format(begin, a ~= "" and a or "{}", b ~= "" and b or "{}"))
    end
  end

  if after:sub(1, 1) == "?" then return detail.print(after), false end
  if before:sub(1, 1) == "?" then return "changed", false end
  local old_head, old_body = cut(before)
  local new_head, new_body = cut(after)
  local old_fields, old_by_key = fields_of(old_body)
  local new_fields, new_by_key = fields_of(new_body)
  compare("", old_head, new_head)
  for _, field in ipairs(new_fields) do
    local other = old_by_key[field.key]
    if other then
      compare(field.name, other.value, field.value)
    else
      put(label(field) .. " added", field.value)
    end
  end
  for _, field in ipairs(old_fields) do
    if not new_by_key[field.key] then put(label(field) .. " removed") end
  end
  return table.concat(parts, ", "), placed
end

return detail
