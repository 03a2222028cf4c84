-- LimitRanges: the amounts of a limit. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"
local quantities = require "sim.checks.quantities"
local resources = require "sim.checks.resources"
local values = require "sim.values"

local at, text, count, get, number = json.at, json.text, json.count, json.get, quantities.number

local limits = {}

local NOT_OF_PODS = "may not be specified when `type` is 'Pod'"
local NO_STORAGE = "either minimum or maximum storage value is required, but neither was provided"

local function compare(problems, path, own, name)
  local least, most, default, request = own.min, own.max, own.default, own.defaultRequest
  local function check(field, value, a, what_a, b, what_b)
    if not (a and b) or number(a) <= number(b) then return end
    problems:invalid(string.format("%s.%s[%s]", path, field, name), value,
      string.format("%s value %s is greater than %s value %s", what_a, a, what_b, b))
  end
  check("min", least, least, "min", most, "max")
  check("defaultRequest", request, least, "min", request, "default request")
  check("defaultRequest", request, request, "default request", most, "max")
  check("defaultRequest", request, request, "default request", default, "default limit")
  check("default", least, least, "min", default, "default")
  check("default", most, default, "default", most, "max")
end

local function check_ratio(problems, path, own)
  local ratio, least, most = own.maxLimitRequestRatio, own.min, own.max
  if not ratio then return end
  if number(ratio) < 1 then problems:invalid(path, ratio, string.format("ratio %s is less than 1", ratio)) end
  if least and most and number(ratio) > number(most) / number(least) then
    problems:invalid(path, ratio,
      string.format("ratio %s is greater than max/min = %f", ratio, number(most) / number(least)))
  end
end

-- The names of a map's resources are checked; its amounts are added to those of `all`.
local function take(problems, path, limit, field, all)
  local map, type = get(limit, field), text(limit, "type")
  local check = (type == "Pod" or type == "Container") and resources.check_own or resources.check_standard
  for _, name in ipairs(count(map) > 0 and values.names(map) or {}) do
    check(problems, string.format("%s.%s[%s]", path, field, name), name)
    all[name] = all[name] or {}
    all[name][field] = get(map, name)
  end
end

function limits.one(path, limit)
  local problems, all, names, type = found.new(), {}, {}, text(limit, "type")
  take(problems, path, limit, "max", all)
  take(problems, path, limit, "min", all)
  for _, field in ipairs { "default", "defaultRequest" } do
    if type ~= "Pod" then
      take(problems, path, limit, field, all)
    elseif count(get(limit, field)) > 0 then
      problems:forbidden(path .. "." .. field, NOT_OF_PODS)
    end
  end
  if type == "PersistentVolumeClaim" and not at(limit, "min.storage") and not at(limit, "max.storage") then
    problems:required(path .. ".limits", NO_STORAGE)
  end
  take(problems, path, limit, "maxLimitRequestRatio", all)
  for name in pairs(all) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local own = all[name]
    compare(problems, path, own, name)
    check_ratio(problems, string.format("%s.maxLimitRequestRatio[%s]", path, name), own)
    local both = own.default and own.defaultRequest and number(own.default) ~= number(own.defaultRequest)
    if both and not resources.may_be_overcommitted(name) then
      problems:invalid(string.format("%s.defaultRequest[%s]", path, name), own.defaultRequest,
        string.format("default value %s must equal to defaultRequest value %s in %s", own.default, own.defaultRequest,
          name))
    end
  end
  return problems
end

return limits
