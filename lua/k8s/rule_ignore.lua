-- Limits on annotations that accept findings of a rule: `ignore = false`, or
-- { max_days = 90, namespaces = { "shop" } }.
local raw = ...

local handler_options = require "k8s.handler_options"
local options = require "k8s.options"

local KNOWN = { max_days = "number", namespaces = "table" }

local DAYS_MAX = 36500

local function check_days(where, days)
  if not (days >= 1 and days <= DAYS_MAX and days % 1 == 0) then
    raw.raise(where .. ": max_days must be a whole number from 1 to " .. DAYS_MAX .. ", not " .. tostring(days))
  end
end

-- Days, false if nothing may be accepted, 0 without a limit; and the namespaces as handler options, nil for all.
return function(where, given)
  if given == nil or given == false then
    return given == nil and 0
  elseif given == true then
    raw.raise(where .. ": ignore must be a table or false, not true")
  end
  where = where .. ": ignore"
  local own = options.check(where, given, KNOWN)
  if next(own) == nil then
    raw.raise(where .. " must have max_days or namespaces")
  end
  if own.max_days then
    check_days(where, own.max_days)
  end
  local namespaces = own.namespaces and handler_options.make(where, nil, { namespaces = own.namespaces })
  return own.max_days or 0, namespaces
end
