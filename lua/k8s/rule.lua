-- k8s.rule: checks of objects that audits make.
local raw = ...

local claims = require "k8s.rule_claims"
local handler_options = require "k8s.handler_options"
local ignore = require "k8s.rule_ignore"
local options = require "k8s.options"
local params = require "k8s.params"
local plan = require "k8s.plan"
local result = require "k8s.rule_result"
local use = require "k8s.rule_use"

raw.rule.result(result)

local KNOWN = {
  id = "string",
  title = "string",
  severity = "string",
  category = "string",
  why = "string",
  how = "string",
  kinds = "table",
  namespaces = "table",
  ignore = "table or false",
  uses = "table",
  params = "table",
  skip = "function",
  check = "function",
  fix = "function",
}

local function check(given)
  local own = options.check("k8s.rule", given, KNOWN)
  for _, name in ipairs { "id", "kinds", "check" } do
    if own[name] == nil then
      raw.raise("k8s.rule: " .. name .. " is missing")
    end
  end
  return own
end

local function informers_of(id, kinds)
  local claimed = {}
  options.each_text("k8s.rule: " .. id .. ": kinds", kinds, function(kind)
    claimed[#claimed + 1] = claims.of("kinds", kind)
  end)
  if #claimed == 0 then
    raw.raise("k8s.rule: " .. id .. ": kinds must not be empty")
  end
  return claimed
end

-- k8s.rule { id = "privileged", kinds = { "pods" }, check = function(obj, r, use, params) ... end, ... }. While
-- the script loads only.
return function(given)
  local own = check(given)
  local where = "k8s.rule: " .. own.id
  local informers = informers_of(own.id, own.kinds)
  local functions, used = use.all(where, own.id, own.uses or {})
  local values = params.all(where .. ": params", own.id, own.params or {})
  local days, accepted_in = ignore(where, own.ignore)
  raw.rule.new(
    own.id,
    own.title,
    own.severity,
    own.category,
    own.why,
    own.how,
    informers,
    handler_options.make(where, nil, { namespaces = own.namespaces }),
    functions,
    own.check,
    own.skip,
    own.fix,
    values,
    used,
    { own.check, own.skip or false, own.uses or false },
    days,
    accepted_in
  )
  plan.add("rule", own.id, plan.text(own))
end
