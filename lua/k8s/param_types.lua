-- Types of parameters: what a value must be, and what scripts get of it.
local raw = ...

local types = {}

local function is_integer(value)
  return value == math.floor(value) and math.abs(value) < 2 ^ 53
end

local function check_url(value, refuse)
  if not string.find(value, "^https?://[^%s/?#]+[^%s]*$") then
    refuse(string.format("%q is not a URL that begins with http:// or https://", value))
  end
  return value
end

-- `example` has the form in which values are read; `placeholder` stands for one that is not known yet.
types.known = {
  boolean = { example = false, words = "true or false" },
  duration = {
    example = "",
    placeholder = 1,
    words = "a duration",
    default = function(value)
      return type(value) == "number" and tostring(value) .. "s" or value
    end,
    read = function(value, refuse)
      return raw.params.seconds(value) or refuse(string.format("%q is not a duration, such as 90s or 1h30m", value))
    end,
  },
  integer = {
    example = 0,
    words = "an integer",
    read = function(value, refuse)
      return is_integer(value) and value or refuse(value .. " is not an integer")
    end,
  },
  list = { example = {}, words = "a list of strings" },
  number = { example = 0, words = "a number" },
  secret = { example = "", words = "a secret" },
  string = { example = "", words = "a string" },
  url = { example = "", placeholder = "http://parameter.invalid/", words = "a URL", read = check_url },
}

local function bound(own, name)
  local value = own[name]
  return own.type == "duration" and value and raw.params.seconds(tostring(value)) or value
end

local function check_bound(own, name, complain)
  local value = bound(own, name)
  if value == nil then
    return
  elseif own.type == "duration" and type(value) ~= "number" then
    complain(name .. ' is not a duration: "' .. value .. '"')
  elseif type(value) ~= "number" then
    complain(name .. " must be a number, not a " .. type(value))
  end
end

local NUMBERS = { duration = true, integer = true, number = true }

local function check_list(own, complain)
  for i, value in ipairs(type(own.default) == "table" and own.default or {}) do
    if type(value) ~= "string" then
      complain("default must be a list of strings, and number " .. i .. " is a " .. type(value))
    end
  end
  return own.values and complain "values are not for lists"
end

-- Of durations they are numbers of seconds, or texts.
local function check_values_type(own, complain)
  if #own.values == 0 then
    complain "values must not be empty: no value would fit"
  end
  local example = own.default
  if own.type then
    example = types.known[own.type].example
  end
  for i, value in ipairs(own.values) do
    if type(value) ~= type(example) and not (own.type == "duration" and type(value) == "number") then
      complain("values must be of the type " .. type(example) .. ", and number " .. i .. " is a " .. type(value))
    end
  end
end

-- Checks what holds of any value: bounds, values, the items of a list. `complain(why)` raises.
function types.check(own, complain)
  local is_number = NUMBERS[own.type] or own.type == nil and type(own.default) == "number"
  if (own.min ~= nil or own.max ~= nil) and not is_number then
    complain "min and max are for numbers, integers and durations"
  end
  check_bound(own, "min", complain)
  check_bound(own, "max", complain)
  if own.min ~= nil and own.max ~= nil and bound(own, "min") > bound(own, "max") then
    complain("min, " .. own.min .. ", is more than max, " .. own.max)
  elseif own.type == "list" then
    check_list(own, complain)
  elseif own.values then
    check_values_type(own, complain)
  end
end

local function texts_of(values)
  local texts = {}
  for i, value in ipairs(values) do
    texts[i] = tostring(value)
  end
  return table.concat(texts, ", ")
end

-- The values that are allowed, for people: "1 to 10", "at least 1s", "one of soft, hard"; "" for anything of the type.
function types.bounds(own)
  local words = {}
  if own.min ~= nil and own.max ~= nil then
    words[1] = own.min .. " to " .. own.max
  elseif own.min ~= nil or own.max ~= nil then
    words[1] = own.min ~= nil and "at least " .. own.min or "at most " .. own.max
  end
  if own.values then
    words[#words + 1] = "one of " .. texts_of(own.values)
  end
  return table.concat(words, ", ")
end

local function check_bounds(own, value, refuse)
  local min, max = bound(own, "min"), bound(own, "max")
  if type(value) ~= "number" then
    return
  elseif min and value < min then
    refuse(value .. " is less than " .. own.min .. ", the least value")
  elseif max and value > max then
    refuse(value .. " is more than " .. own.max .. ", the highest value")
  end
end

local function check_values(own, value, refuse)
  for _, one in ipairs(own.values) do
    if one == value then
      return
    end
  end
  refuse(tostring(value) .. " is none of " .. texts_of(own.values))
end

-- Returns the value as scripts get it; `refuse(why)` raises.
function types.read(own, value, refuse)
  local kind = types.known[own.type]
  if kind and kind.read then
    value = kind.read(value, refuse)
  end
  if own.min ~= nil or own.max ~= nil then
    check_bounds(own, value, refuse)
  end
  if own.values then
    check_values(own, value, refuse)
  end
  return value
end

return types
