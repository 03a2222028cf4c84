-- `kubelua get --sort-by`: objects in the order of their values at a path, which are compared as kubectl compares them
-- (sorter.go): the first value that is found, numbers as numbers, texts as quantities if both are. Objects without a
-- value come first; those with equal ones are in the order of their namespaces and names.
local eval = require "tool.look.jsonpath_eval"
local jsonpath = require "tool.look.jsonpath"

local sort = {}

local FORMS = "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' "
  .. "or '{.name1.name2}'"

-- --- the path

-- The part of a path that leads to a field; nil: the engine cannot follow the name.
local function part_of(name)
  if name:find "^[%w_]+$" then return "." .. name end
  return not name:find "['\\]" and name ~= "*" and name ~= "" and ("['%s']"):format(name) or nil
end

-- Path for the engine, and the steps from there: fields at the beginning need not be looked for here.
local function split(steps)
  local path, rest = "", {}
  for _, step in ipairs(steps) do
    local part = #rest == 0 and step[1] == "field" and part_of(step[2])
    if part then path = path .. part else rest[#rest + 1] = step end
  end
  return (path:gsub("^%.", "")), rest
end

-- `text` as the flag has it: text of the path, its steps, path for the engine ("": the object) and the rest of the
-- steps; nil and why.
function sort.parse(text)
  local field = text:match "^{%.?([^{}]+)}$" or text:match "^%.?([^{}]+)$"
  if not field then return nil, "--sort-by: " .. FORMS end
  local whole = "{." .. field .. "}"
  local nodes, why = jsonpath.parse(whole)
  if not nodes or not nodes[1].steps then return nil, "--sort-by: " .. (why or FORMS) end
  local path, rest = split(nodes[1].steps)
  return { text = whole, steps = nodes[1].steps, path = path, rest = rest }
end

-- Paths that the engine has to send of each object beside the other paths, behind them.
function sort.paths(by) return { "metadata.namespace", "metadata.name", by.path } end

-- --- values

local SUFFIXES = { n = 1e-9, u = 1e-6, m = 1e-3, [""] = 1, k = 1e3, M = 1e6, G = 1e9, T = 1e12, P = 1e15, E = 1e18 }
for i, letter in ipairs { "K", "M", "G", "T", "P", "E" } do SUFFIXES[letter .. "i"] = 1024 ^ i end

-- As a double: quantities that differ behind 53 bits are taken for equal.
local function quantity(text)
  local digits, suffix = text:match "^([+-]?%d*%.?%d*)(.*)$"
  local number = tonumber(digits)
  if not number then return nil end
  if suffix:find "^[eE][+-]?%d+$" then return tonumber(digits .. suffix) end
  return SUFFIXES[suffix] and number * SUFFIXES[suffix]
end

-- A number beyond a double's is a table with its text.
local function plain(value)
  local json = type(value) == "table" and (getmetatable(value) or {}).json
  return json and tonumber(json) or value
end

local function name_of(value)
  if type(value) == "table" then return getmetatable(value) and "an object" or "an array" end
  return "a " .. type(value)
end

local function is_less(by, one, other)
  local a, b = one.value, other.value
  if type(a) ~= type(b) then
    error { sort = ('"%s" is %s in one object and %s in another'):format(by.text, name_of(a), name_of(b)) }
  end
  if type(a) == "number" then return a < b end
  if type(a) ~= "string" then
    error { sort = ('"%s" is %s, which has no order'):format(by.text, name_of(a)) }
  end
  if one.quantity and other.quantity then return one.quantity < other.quantity end
  return a < b
end

local function comes_before(by, a, b)
  if a.value == nil or b.value == nil then
    if a.value ~= nil or b.value ~= nil then return a.value == nil end
  elseif is_less(by, a, b) then
    return true
  elseif is_less(by, b, a) then
    return false
  end
  if a.namespace ~= b.namespace then return a.namespace < b.namespace end
  return a.name < b.name
end

-- Of two texts that are quantities and one that is none each may come before another: table.sort would raise an error.
local function merge_sort(by, list)
  if #list < 2 then return list end
  local half, halves = math.floor(#list / 2), { {}, {} }
  for i, item in ipairs(list) do table.insert(halves[i <= half and 1 or 2], item) end
  local left, right, out = merge_sort(by, halves[1]), merge_sort(by, halves[2]), {}
  local i, j = 1, 1
  while left[i] or right[j] do
    if not left[i] or right[j] and comes_before(by, right[j], left[i]) then
      out[#out + 1], j = right[j], j + 1
    else
      out[#out + 1], i = left[i], i + 1
    end
  end
  return out
end

-- --- lines

local function text_of(value) return type(value) == "string" and value or "" end

-- The line with what its place depends on: `is_whole`: it is an object, else a row that ends with sort.paths.
local function item_of(command, by, line, is_whole)
  local parsed = command.parse(line, true)
  local from, steps, namespace, name
  if is_whole then
    from, steps, namespace, name = parsed, by.steps, parsed.metadata.namespace, parsed.metadata.name
  else
    from, steps, namespace, name = parsed[#parsed], by.rest, parsed[#parsed - 2], parsed[#parsed - 1]
  end
  local values, why = eval.find(steps, from)
  if not values then error { sort = ('"%s": %s'):format(by.text, why) } end
  local value = plain(values[1])
  if type(value) == "userdata" then value = nil end -- null
  return { line = line, value = value, quantity = type(value) == "string" and quantity(value) or nil,
    namespace = text_of(namespace), name = text_of(name) }
end

local function sorted(command, by, lines, is_whole)
  local items, found = {}, false
  for line in lines do
    items[#items + 1] = item_of(command, by, line, is_whole)
    found = found or items[#items].value ~= nil
  end
  if #items > 0 and not found then
    local why = ('couldn\'t find any field with path "%s" in the list of objects'):format(by.text)
    error { sort = why, is_absent = true }
  end
  return merge_sort(by, items)
end

-- Iterates over the lines in their order. Nil, why, and whether no object has the field.
function sort.lines(command, by, lines, is_whole)
  local ok, items = pcall(sorted, command, by, lines, is_whole)
  if not ok then
    if type(items) ~= "table" or not items.sort then error(items, 0) end
    return nil, "--sort-by: " .. items.sort, items.is_absent == true
  end
  local i = 0
  return function()
    i = i + 1
    return items[i] and items[i].line
  end
end

return sort
