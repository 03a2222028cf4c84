-- Values as a prompt shows them: objects like YAML, lists of objects like kubectl, long lists folded.
local raw = ...

local is_view, pairs_of, ipairs_of = raw.view.is, raw.view.pairs, raw.view.ipairs
local null = raw.null
local find, format, gsub, lower = string.find, string.format, string.gsub, string.lower
local match, sub = string.match, string.sub

local show = {}

local LIST_MAX, ROWS_MAX, DEPTH_MAX, TEXT_MAX = 10, 50, 20, 2000

local KEY, TEXT, NUMBER, FAINT, PLAIN = "\27[36m", "\27[32m", "\27[33m", "\27[2m", "\27[0m"

local function tint(style, colour, text)
  return style.colours and colour .. text .. PLAIN or text
end

local function each(value)
  if is_view(value) then
    return pairs_of(value)
  end
  return pairs(value)
end

local function is_container(value)
  return type(value) == "table" or is_view(value)
end

-- Views know; of tables, those that have a first element and nothing but numbers.
local function is_list(value)
  local n = 0
  for key in each(value) do
    if type(key) ~= "number" then
      return false
    end
    n = n + 1
  end
  return n > 0
end

local function is_empty(value)
  local following, state, first = each(value)
  return following(state, first) == nil
end

local function count_of(list)
  local n = 0
  for _ in each(list) do
    n = n + 1
  end
  return n
end

-- Not texts, to YAML.
local WORDS = { ["true"] = true, ["false"] = true, null = true, yes = true, no = true, on = true, off = true }

-- Texts that YAML would read as something else stand in quotes. No control character reaches the terminal.
local function quoted(text)
  local plain = find(text, "^[%w_./%-][%w_./:@ %-]*$") and not find(text, "^[%d.-]+$") and not find(text, ": ", 1, true)
  if plain and not WORDS[lower(text)] and not find(text, "[ :]$") then
    return text
  end
  return '"' .. gsub(text, '[%c"\\\127]', function(c)
    local known = { ["\n"] = "\\n", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }
    return known[c] or format("\\x%02x", string.byte(c))
  end) .. '"'
end

local function scalar(value, style)
  local kind = type(value)
  if value == null then
    return tint(style, FAINT, "null")
  elseif kind == "string" then
    local text = #value > TEXT_MAX and sub(value, 1, TEXT_MAX) or value
    local more = #text < #value and tint(style, FAINT, format(" # and %d more bytes", #value - #text)) or ""
    return tint(style, TEXT, quoted(text)) .. more
  elseif kind == "number" or kind == "boolean" then
    return tint(style, NUMBER, tostring(value))
  end
  return tint(style, FAINT, (gsub(tostring(value), "%c", "?")))
end

local put

local function put_list(out, list, indent, depth, style)
  local n = 0
  for _, item in (is_view(list) and ipairs_of or ipairs)(list) do
    n = n + 1
    if n > LIST_MAX then
      break
    end
    put(out, indent .. "- ", indent .. "  ", item, depth, style)
  end
  local rest = count_of(list) - LIST_MAX
  if rest > 0 then
    out[#out + 1] = indent .. tint(style, FAINT, format("# and %d more", rest))
  end
end

local function comes_before(a, b)
  if type(a) == "number" and type(b) == "number" then
    return a < b
  end
  return tostring(a) < tostring(b)
end

-- A list that has fields, too: its items follow them.
local function is_mixed(value)
  return type(value) == "table" and value[1] ~= nil
end

local function sorted(value)
  local keys, mixed = {}, is_mixed(value)
  for key in each(value) do
    if not (mixed and type(key) == "number") then
      keys[#keys + 1] = key
    end
  end
  if not is_view(value) then
    table.sort(keys, comes_before)
  end
  return keys
end

local function put_map(out, first, indent, map, depth, style)
  local lead = first
  for _, key in ipairs(sorted(map)) do
    local value = map[key]
    if value == nil then
      value = null
    end
    local name = tint(style, KEY, quoted(tostring(key))) .. ":"
    if not is_container(value) then
      out[#out + 1] = lead .. name .. " " .. scalar(value, style)
    elseif is_empty(value) then
      out[#out + 1] = lead .. name .. " {}"
    else
      out[#out + 1] = lead .. name
      local deeper = is_list(value) and indent or indent .. "  "
      put(out, deeper, deeper, value, depth, style)
    end
    lead = indent
  end
end

-- `first` stands before the first line, `indent` before the others.
function put(out, first, indent, value, depth, style)
  if not is_container(value) then
    out[#out + 1] = first .. scalar(value, style)
  elseif depth > DEPTH_MAX then
    out[#out + 1] = first .. tint(style, FAINT, "...")
  elseif is_empty(value) then
    out[#out + 1] = first .. "{}"
  elseif is_list(value) then
    put_list(out, value, indent, depth + 1, style)
  else
    put_map(out, first, indent, value, depth + 1, style)
    if is_mixed(value) then
      put_list(out, value, indent, depth + 1, style)
    end
  end
end

-- --- tables

local function is_object(value)
  return is_view(value) and value.kind ~= nil and is_view(value.metadata)
end

local function age(timestamp)
  local y, m, d, hour, min, sec = match(tostring(timestamp), "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z$")
  if not y then
    return "-"
  end
  local a = math.floor((14 - m) / 12)
  local year, month = y + 4800 - a, m + 12 * a - 3
  local days = d + math.floor((153 * month + 2) / 5) + 365 * year + math.floor(year / 4) - math.floor(year / 100)
    + math.floor(year / 400) - 2472633
  local seconds = math.max(0, math.floor(raw.time.now() - (days * 86400 + hour * 3600 + min * 60 + sec)))
  for _, unit in ipairs { { 172800, 86400, "d" }, { 7200, 3600, "h" }, { 120, 60, "m" } } do
    if seconds >= unit[1] then
      return math.floor(seconds / unit[2]) .. unit[3]
    end
  end
  return seconds .. "s"
end

-- Fields by which most objects report their state in one word.
local function state_of(object)
  local status = object.status
  if not is_view(status) then
    return "-"
  end
  local replicas = status.replicas and (status.readyReplicas or 0) .. "/" .. status.replicas
  return tostring(status.phase or replicas or "-")
end

local function put_table(out, heading, rows, style)
  local widths = {}
  for _, row in ipairs { heading, unpack(rows) } do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, #cell)
    end
  end
  for r, row in ipairs { heading, unpack(rows) } do
    local line = {}
    for i, cell in ipairs(row) do
      line[i] = i == #row and cell or cell .. string.rep(" ", widths[i] - #cell)
    end
    local text = gsub(table.concat(line, "  "), "%c", "?")
    out[#out + 1] = r == 1 and tint(style, FAINT, text) or text
  end
end

-- `next_object` gives the objects, of which only the first are asked for.
local function put_objects(out, count, next_object, style)
  local rows = {}
  for i = 1, math.min(count, ROWS_MAX) do
    local object = next_object()
    if object == nil then
      break
    end
    local metadata = object.metadata
    rows[i] = {
      tostring(metadata.namespace or "-"), tostring(metadata.name), state_of(object), age(metadata.creationTimestamp),
    }
  end
  put_table(out, { "NAMESPACE", "NAME", "STATUS", "AGE" }, rows, style)
  if count > ROWS_MAX then
    out[#out + 1] = tint(style, FAINT, format("# and %d more", count - ROWS_MAX))
  end
end

local function each_of(list)
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

-- Whether those are that a table would show: a look at each of a hundred thousand would cost as much as the query.
local function is_objects(value)
  if type(value) ~= "table" or not is_object(value[1]) then
    return false
  end
  for i = 2, math.min(#value, ROWS_MAX) do
    if not is_object(value[i]) then
      return false
    end
  end
  return true
end

-- --- results

local function put_value(out, value, style)
  local kind = style.kinds[value]
  if kind then
    local lister = style.lister(value)
    local count = lister:count()
    if count == 0 then
      out[#out + 1] = tint(style, FAINT, "# no " .. (kind.cache or kind.name))
    else
      put_objects(out, count, lister:list(), style)
    end
  elseif is_objects(value) then
    put_objects(out, #value, each_of(value), style)
  elseif type(value) == "table" and getmetatable(value) == "help" then
    out[#out + 1] = tostring(value)
  else
    put(out, "", "", value, 0, style)
  end
end

-- nil, err of the world is told as an error.
local function error_text(count, values)
  local err = values[2]
  if count == 2 and values[1] == nil and type(err) == "table" and type(err.message) == "string" then
    return format("nil, %s: %s", tostring(err.reason or "error"), err.message)
  end
end

-- Something that shows what `make` says.
function show.text(make)
  return setmetatable({}, { __tostring = make, __metatable = "help" })
end

function show.values(count, values, style)
  local out = {}
  local problem = error_text(count, values)
  if problem then
    return (gsub(problem, "%c", " "))
  end
  for i = 1, count do
    put_value(out, values[i], style)
  end
  return table.concat(out, "\n")
end

return show
