-- Functions of Lua's libraries that call a function of the script, in Lua: below a function of C a long call could not
-- give way to other scripts, and no wait would pass. Results and errors are Lua's own.
local raw = ...

local type, getmetatable, next, rawget, rawset, floor = type, getmetatable, next, rawget, rawset, math.floor
local sub, byte, concat = string.sub, string.byte, table.concat
local find, check_size, check_order, raise = raw.find_pattern, raw.check_size, raw.check_order, raw.raise

local stock = { sort = table.sort, foreach = table.foreach, foreachi = table.foreachi, gsub = string.gsub }
local CARET = byte "^"
local STRIDE = 2 ^ 16 -- bytes between two looks at the limit of a result

local own = {}

-- LuaJIT's quicksort: what is equal ends up in the same order as there.
local function sort_range(t, low, high, less)
  while low < high do
    if less(t[high], t[low]) then
      t[low], t[high] = t[high], t[low]
    end
    if high - low == 1 then
      return
    end
    local middle = floor((low + high) / 2)
    if less(t[middle], t[low]) then
      t[middle], t[low] = t[low], t[middle]
    elseif less(t[high], t[middle]) then
      t[middle], t[high] = t[high], t[middle]
    end
    if high - low == 2 then
      return
    end
    local pivot, i, j = t[middle], low, high - 1
    t[middle], t[j] = t[j], pivot
    while true do
      i = i + 1
      while less(t[i], pivot) do
        if i >= high then
          raise "invalid order function for sorting"
        end
        i = i + 1
      end
      j = j - 1
      while less(pivot, t[j]) do
        if j <= low then
          raise "invalid order function for sorting"
        end
        j = j - 1
      end
      if j < i then
        break
      end
      t[i], t[j] = t[j], t[i]
    end
    t[high - 1], t[i] = t[i], t[high - 1]
    if i - low < high - i then
      sort_range(t, low, i - 1, less)
      low = i + 1
    else
      sort_range(t, i + 1, high, less)
      high = i - 1
    end
  end
end

local function is_less(a, b)
  return a < b
end

-- Raises in the words of Lua for what has no order.
local function is_less_or_raises(a, b)
  check_order(a, b)
  return a < b
end

-- All of the elements are numbers, or all strings.
local function is_of_one_type(t)
  local expected = type(t[1])
  if expected ~= "number" and expected ~= "string" then
    return false
  end
  for i = 2, #t do
    if type(t[i]) ~= expected then
      return false
    end
  end
  return true
end

-- The elements, which the sort may write: Lua's own looks at no metamethod of the list.
local function elements(t)
  if getmetatable(t) == nil then
    return t
  end
  local list = {}
  for i = 1, #t do
    list[i] = rawget(t, i)
  end
  return list
end

function own.sort(t, order)
  if type(t) ~= "table" or order ~= nil and type(order) ~= "function" then
    return stock.sort(t, order) -- raises
  end
  local list = elements(t)
  order = order or is_of_one_type(list) and is_less or is_less_or_raises
  sort_range(list, 1, #list, order)
  if list ~= t then
    for i = 1, #list do
      rawset(t, i, list[i])
    end
  end
end

function own.foreach(t, call)
  if type(t) ~= "table" or type(call) ~= "function" then
    return stock.foreach(t, call) -- raises
  end
  for key, value in next, t do
    local result = call(key, value)
    if result ~= nil then
      return result
    end
  end
end

function own.foreachi(t, call)
  if type(t) ~= "table" or type(call) ~= "function" then
    return stock.foreachi(t, call) -- raises
  end
  for i = 1, #t do
    local result = call(i, rawget(t, i))
    if result ~= nil then
      return result
    end
  end
end

-- The text for a match, of what `call` returned; nil and false keep it.
local function replacement(match, value)
  if not value then
    return match
  end
  if type(value) == "string" then
    return value
  end
  if type(value) ~= "number" then
    raise("invalid replacement value (a " .. type(value) .. ")")
  end
  return value .. ""
end

-- Calls `call` for what `find` found, if anything. Returns where that is, and the text instead of it.
local function replace(s, call, first, last, ...)
  if not first then
    return nil
  end
  local match = sub(s, first, last)
  if ... == nil then
    return first, last, replacement(match, call(match))
  end
  return first, last, replacement(match, call(...))
end

function own.gsub(s, pattern, call, most)
  local valid = type(s) == "string" and type(pattern) == "string" and (most == nil or type(most) == "number")
  if not valid or type(call) ~= "function" then
    return stock.gsub(s, pattern, call, most)
  end
  most = most and floor(most) or #s + 1
  local once = byte(pattern) == CARET
  local pieces, held, size, checked, count = {}, 0, 0, 0, 0
  local kept, at = 1, 1 -- the first byte that is not in `pieces`; where the next match may begin
  while count < most and at <= #s + 1 and not (once and count > 0) do
    local first, last, text = replace(s, call, find(s, pattern, at))
    if not first then
      break
    end
    count = count + 1
    if first > kept then
      held = held + 1
      pieces[held] = sub(s, kept, first - 1)
    end
    held = held + 1
    pieces[held] = text
    size = size + first - kept + #text
    if size > checked + STRIDE then
      check_size("string.gsub", size)
      checked = size
    end
    kept = last + 1
    at = last >= first and kept or kept + 1 -- an empty match would come again
  end
  pieces[held + 1] = sub(s, kept)
  check_size("string.gsub", size + #s - kept + 1)
  return concat(pieces), count
end

return own
