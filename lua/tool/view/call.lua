-- Result of a command of a script, for people: rows of an array are a line each: of maps with a column for each
-- key, of arrays with one for each element, the first row being headings; of anything else the value. A map is two
-- columns, or a column for each key of the maps in it. Values deeper inside are compact JSON.
local text_table = require "tool.table"

local GAP, COLUMNS_MAX = 2, 64

local length, printable = text_table.length, text_table.printable

-- Result of tool_push_cells: the names of maps, the JSON of rows and cells.
local function facts(value) return type(value) == "table" and getmetatable(value) or {} end

local function is_map(value) return facts(value).names ~= nil end

local function is_array(value)
  return type(value) == "table" and not facts(value).names and not facts(value).is_cell
end

-- The members of an array, or of a map with their keys.
local function members(value)
  local list = {}
  if is_array(value) then
    for i, item in ipairs(value) do list[i] = { value = item } end
  else
    for i, key in ipairs(facts(value).names) do list[i] = { key = key, value = value[key] } end
  end
  return list
end

local function all(list, is)
  for _, member in ipairs(list) do
    if not is(member.value) then return false end
  end
  return true
end

-- A text is itself; null is nothing.
local function cell(member)
  if member == nil or type(member) == "userdata" then return "" end
  return printable(type(member) == "string" and member or facts(member).json)
end

-- Columns that identify a row come first, then the others by name.
local function columns_of(list)
  local columns, seen = {}, {}
  for _, member in ipairs(list) do
    for _, name in ipairs(facts(member.value).names) do
      if not seen[name] and #columns < COLUMNS_MAX then
        seen[name] = true
        columns[#columns + 1] = name
      end
    end
  end
  local rank = { namespace = 0, name = 1 }
  table.sort(columns, function(a, b)
    local x, y = rank[a] or 2, rank[b] or 2
    if x ~= y then return x < y end
    return a < b
  end)
  return columns
end

local function rows_of_maps(list)
  local columns, rows = columns_of(list), {}
  local function row_of(key, texts)
    if key then table.insert(texts, 1, key) end
    if #texts > 0 then rows[#rows + 1] = texts end
  end
  local headings = {}
  for i, name in ipairs(columns) do headings[i] = printable(name):upper() end
  row_of(list[1].key and "KEY", headings)
  for _, member in ipairs(list) do
    local texts = {}
    for i, name in ipairs(columns) do texts[i] = cell(member.value[name]) end
    row_of(member.key and printable(member.key), texts)
  end
  return rows
end

local function rows_of_arrays(list)
  local rows, most = {}, 0
  for _, member in ipairs(list) do most = math.max(most, math.min(#member.value, COLUMNS_MAX)) end
  for _, member in ipairs(most > 0 and list or {}) do
    local texts = {}
    for i = 1, most do texts[i] = cell(member.value[i]) end
    rows[#rows + 1] = texts
  end
  return rows
end

local function rows_of_values(list)
  local rows = {}
  for i, member in ipairs(list) do
    rows[i] = member.key and { printable(member.key), cell(member.value) } or { cell(member.value) }
  end
  return rows
end

local function text_of(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, text in ipairs(row) do widths[i] = math.max(widths[i] or 0, length(text)) end
  end
  for r, row in ipairs(rows) do
    local line = {}
    for i, text in ipairs(row) do line[i] = text .. (" "):rep(widths[i] - length(text) + GAP) end
    lines[r] = table.concat(line):gsub(" +$", "") .. "\n"
  end
  return table.concat(lines)
end

-- Takes what tool_push_cells pushes.
return function(value)
  local list = (is_map(value) or is_array(value)) and members(value) or {}
  if #list > 0 and all(list, is_map) then return text_of(rows_of_maps(list)) end
  if is_array(value) and all(list, is_array) then return text_of(rows_of_arrays(list)) end
  return text_of(rows_of_values(list))
end
