-- Policies of a device's capacity, of which several requests have a part.
local json = require "sim.json"
local quantities = require "sim.checks.quantities"

local at, each, count, get, number = json.at, json.each, json.count, json.get, quantities.number

local device_policies = {}

local EXACTLY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'

local function larger(what, capacity) return string.format("%s is larger than capacity value: %s", what, capacity) end

local function choices(problems, path, list, default, capacity)
  local last, seen, has_default = nil, {}, false
  for i, value in each(list) do
    if last and number(last) > number(value) then
      problems:invalid(string.format("%s[%d]", path, i - 1), value, "values must be sorted in ascending order")
    end
    last = value
  end
  if count(list) > 10 then
    problems:too_many(path, count(list), 10)
  else
    for i, value in each(list) do
      has_default = has_default or number(value) == number(default)
      if number(value) > number(capacity) then
        problems:invalid(string.format("%s[%d]", path, i - 1), value, larger("option", capacity))
      end
    end
    for i, value in each(list) do
      local whole = string.format("%.0f", math.ceil(number(value)))
      if seen[whole] then problems:duplicate(string.format("%s[%d]", path, i - 1), whole) end
      seen[whole] = true
    end
  end
  if not has_default then
    problems:invalid(path, default, "default value is not valid according to the requestPolicy")
  end
end

local function step_of(problems, path, value, least, step)
  if (number(value) - number(least)) % number(step) ~= 0 then
    problems:invalid(path, value,
      string.format("value is not a multiple of a given step (%s) from (%s)", step, least))
  end
end

local function range(problems, path, bounds, default, capacity)
  local least, most, step = at(bounds, "min"), at(bounds, "max"), at(bounds, "step")
  if not least then return problems:required(path .. ".min", "required when validRange is defined") end
  local function check(wrong, name, value, detail)
    if wrong then problems:invalid(path .. "." .. name, value, detail) end
  end
  check(number(least) > number(capacity), "min", least, larger("min", capacity))
  check(number(default) < number(least), "min", default, "default is less than min: " .. least)
  if most then
    check(number(least) > number(most), "max", least, "min is larger than max: " .. most)
    check(number(most) > number(capacity), "max", most, larger("max", capacity))
    check(number(default) > number(most), "max", default, "default is more than max: " .. most)
  end
  if not step or number(step) == 0 then return end
  local added = quantities.sum(least, step)
  check(number(added) > number(capacity), "step", step, larger("one step " .. added, capacity))
  step_of(problems, path .. ".step", default, least, step)
  if most then step_of(problems, path .. ".step", most, least, step) end
end

-- Adds what is wrong with a policy of so much capacity.
function device_policies.check(problems, path, policy, capacity)
  local list, bounds, default = get(policy, "validValues"), at(policy, "validRange"), at(policy, "default")
  local name = count(list) > 0 and "validValues" or bounds and "validRange"
  if count(list) > 0 and bounds then return problems:forbidden(path, EXACTLY) end
  if not name then return end
  if not default or default == json.null then
    problems:required(path .. ".default", string.format("required when %s is defined", name))
  elseif name == "validValues" then
    choices(problems, path .. ".validValues", list, default, capacity)
  else
    range(problems, path .. ".validRange", bounds, default, capacity)
  end
end

return device_policies
