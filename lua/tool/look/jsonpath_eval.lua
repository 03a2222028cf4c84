-- Templates of kubectl's JSONPath (jsonpath.lua) on values of JSON. A path that leads nowhere gives nothing, as kubectl
-- has it by default.
local eval = {}

local function fail(...) error({ jsonpath = (...):format(select(2, ...)) }, 0) end

-- --- values: maps have the names of their keys; a number beyond a double's has its text

local function facts(value) return type(value) == "table" and getmetatable(value) or nil end
local function is_map(value) return facts(value) ~= nil and facts(value).names ~= nil end
local function is_array(value) return type(value) == "table" and not facts(value) end

local function what_is(value)
  if is_map(value) then return "an object" end
  if is_array(value) then return "an array" end
  return type(value) == "userdata" and "null" or "a " .. (type(value) == "table" and "number" or type(value))
end

-- The members of a map or array.
local function members(value)
  local list = {}
  if is_map(value) then
    for i, name in ipairs(facts(value).names) do list[i] = value[name] end
  elseif is_array(value) then
    for i, item in ipairs(value) do list[i] = item end
  end
  return list
end

-- --- as text

local function number_text(number)
  if number % 1 == 0 and math.abs(number) < 2 ^ 53 then return ("%d"):format(number) end
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(number)
    if tonumber(text) == number then return text end
  end
end

-- Keys are sorted, as kubectl prints them.
local function json_of(value, quote)
  if is_map(value) then
    local names, fields = { unpack(facts(value).names) }, {}
    table.sort(names)
    for i, name in ipairs(names) do fields[i] = quote(name) .. ":" .. json_of(value[name], quote) end
    return "{" .. table.concat(fields, ",") .. "}"
  end
  if is_array(value) then
    local items = {}
    for i, item in ipairs(value) do items[i] = json_of(item, quote) end
    return "[" .. table.concat(items, ",") .. "]"
  end
  if type(value) == "string" then return quote(value) end
  return eval.text(value, quote)
end

function eval.text(value, quote)
  if type(value) == "string" then return value end
  if type(value) == "number" then return number_text(value) end
  if type(value) == "boolean" then return tostring(value) end
  if type(value) == "userdata" then return "null" end
  return facts(value) and facts(value).json or json_of(value, quote)
end

-- --- steps: each takes a list of values and gives one

local walk
local steps = {}

function steps.value(input, step)
  if type(step[2]) == "string" then return { step[2] } end
  local out = {}
  for i = 1, #input do out[i] = step[2] end
  return out
end

function steps.field(input, step)
  local out = {}
  for _, value in ipairs(input) do
    if is_map(value) and value[step[2]] ~= nil then out[#out + 1] = value[step[2]] end
  end
  return out
end

local function bounds_of(step, length)
  local from, to = step[2] or 0, step[3]
  if from < 0 then from = from + length end
  if step.single then to = from + 1 end
  to = to or length
  if to < 0 then to = to + length end
  return from, to
end

function steps.array(input, step)
  local out = {}
  for _, value in ipairs(input) do
    if type(value) ~= "userdata" then
      if not is_array(value) then fail("%s is not an array", what_is(value)) end
      local from, to = bounds_of(step, #value)
      if from ~= to then
        if from < 0 or from >= #value then fail("array index out of bounds: index %d, length %d", from, #value) end
        if to < 0 or to > #value then fail("array index out of bounds: index %d, length %d", to - 1, #value) end
        if from > to then fail("starting index %d is greater than ending index %d", from, to) end
        if step[4] and step[4] <= 0 then fail "the step must be > 0" end
      end
      for i = from + 1, to, step[4] or 1 do out[#out + 1] = value[i] end
    end
  end
  return out
end

function steps.wildcard(input)
  local out = {}
  for _, value in ipairs(input) do
    for _, member in ipairs(members(value)) do out[#out + 1] = member end
  end
  return out
end

function steps.recursive(input)
  local out = {}
  local function visit(value)
    local list = members(value)
    if #list == 0 then return end
    out[#out + 1] = value
    for _, member in ipairs(list) do visit(member) end
  end
  for _, value in ipairs(input) do visit(value) end
  return out
end

function steps.union(input, step)
  local out = {}
  for i = 2, #step do
    for _, value in ipairs(walk(input, step[i])) do out[#out + 1] = value end
  end
  return out
end

-- --- filters

local function equal(a, b)
  if type(a) ~= type(b) then fail("%s cannot be compared with %s", what_is(a), what_is(b)) end
  return a == b
end

local function less(a, b)
  if type(a) ~= type(b) then fail("%s cannot be compared with %s", what_is(a), what_is(b)) end
  if type(a) ~= "number" and type(a) ~= "string" then fail("%s has no order", what_is(a)) end
  return a < b
end

local COMPARE = {
  ["=="] = equal, ["!="] = function(a, b) return not equal(a, b) end,
  ["<"] = less, [">"] = function(a, b) return less(b, a) end,
  ["<="] = function(a, b) return not less(b, a) end, [">="] = function(a, b) return not less(a, b) end,
}

-- The one value that is compared; nil: none.
local function side(item, list)
  local values = walk({ item }, list)
  if #values > 1 then fail "can only compare one element at a time" end
  if type(values[1]) == "table" then
    if not (facts(values[1]) or {}).json then fail("%s cannot be compared", what_is(values[1])) end
    return tonumber(facts(values[1]).json)
  end
  return values[1]
end

local function passes(item, step)
  if step[4] == "exists" then return #walk({ item }, step[2]) > 0 end
  local compare = COMPARE[step[4]] or fail('unrecognized filter operator "%s"', step[4])
  local left = side(item, step[2])
  if left == nil then return false end
  local right = side(item, step[3])
  return right ~= nil and compare(left, right)
end

function steps.filter(input, step)
  local out = {}
  for _, value in ipairs(input) do
    if not is_array(value) then fail("%s is not an array and cannot be filtered", what_is(value)) end
    for _, item in ipairs(value) do
      if passes(item, step) then out[#out + 1] = item end
    end
  end
  return out
end

function walk(input, list)
  for _, step in ipairs(list) do input = steps[step[1]](input, step) end
  return input
end

-- --- templates

local function put_values(values, quote, put)
  for i, value in ipairs(values) do put(eval.text(value, quote) .. (i < #values and " " or "")) end
end

local function run(nodes, value, quote, put)
  for _, node in ipairs(nodes) do
    if type(node) == "string" then
      put(node)
    elseif node.range then
      for _, item in ipairs(walk({ value }, node.range)) do run(node.body, item, quote, put) end
    else
      put_values(walk({ value }, node.steps), quote, put)
    end
  end
end

-- Whether a list of steps is .items[*] and what may as well be done object by object.
local ALONE = { field = true, array = true, wildcard = true, recursive = true, filter = true }

local function is_each(list)
  local first, second = list[1] or {}, list[2] or {}
  local all = second[1] == "wildcard" or second[1] == "array" and not (second[2] or second[3] or second[4])
  for _, step in ipairs(list) do
    if not ALONE[step[1]] then return false end
  end
  return first[1] == "field" and first[2] == "items" and all
end

-- Of a template with a single action on .items[*]: the node, so that a list needs not be held as a whole.
local function streamed(nodes)
  local found
  for _, node in ipairs(nodes) do
    if type(node) == "table" then
      if found or not is_each(node.range or node.steps) then return nil end
      found = node
    end
  end
  return found
end

local function stream(nodes, each, next_object, quote, put)
  local rest = { unpack(each.range or each.steps, 3) }
  for _, node in ipairs(nodes) do
    local n = 0
    if type(node) == "string" then put(node) end
    for object in type(node) == "table" and next_object or function() end do
      for _, value in ipairs(walk({ object }, rest)) do
        if each.range then
          run(each.body, value, quote, put)
        else
          put((n > 0 and " " or "") .. eval.text(value, quote))
        end
        n = n + 1
      end
    end
  end
end

-- Calls a function whose errors of this file become nil and why.
local function try(run_it)
  local ok, why = pcall(run_it)
  if ok then return true end
  if type(why) ~= "table" or not why.jsonpath then error(why, 0) end
  return nil, why.jsonpath
end

-- The values that steps lead to; nil and why on failure.
function eval.find(list, value)
  local values
  local ok, why = try(function() values = walk({ value }, list) end)
  return ok and values, why
end

local function map_of(fields)
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  table.sort(names)
  return setmetatable(fields, { names = names })
end

-- Puts out what the template makes of the objects: of the list of them, or with `single` of the one. `quote` makes JSON
-- of a text. Nil and why on failure.
function eval.run(nodes, next_object, single, quote, put)
  return try(function()
    local each = not single and streamed(nodes)
    if each then return stream(nodes, each, next_object, quote, put) end
    local items = {}
    for object in next_object do items[#items + 1] = object end
    local list = map_of { apiVersion = "v1", kind = "List", items = items,
      metadata = map_of { resourceVersion = "" } }
    if items[1] or not single then run(nodes, single and items[1] or list, quote, put) end
  end)
end

return eval
