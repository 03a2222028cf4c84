-- Rules that no object can meet, and what they use that finds nothing.
local namespaces = require "tool.check.namespaces"
local place = require "tool.check.place"

-- False for kinds that are not known: that is told elsewhere.
local function has_no_namespaces(target, kind)
  local resource = target.resolve(kind)
  return resource and not resource.namespaced
end

local function check_namespaces(script, target, diagnostics, rule)
  local at = place.at(script, "rule", rule.id, "namespaces")
  if namespaces.admit_none(rule.namespaces) then
    diagnostics:error(at, "rule %s: namespaces: every included namespace is also excluded", rule.id)
  end
  if namespaces.admit(rule.namespaces, "") then return end
  for _, informer in ipairs(rule.kinds) do
    if has_no_namespaces(target, informer.kind) then
      diagnostics:error(at, "rule %s: namespaces: %s are not namespaced, so nothing can match", rule.id, informer.kind)
    end
  end
end

local function check_uses(script, target, diagnostics, rule)
  for _, use in ipairs(rule.uses) do
    if use.index == "namespace" and has_no_namespaces(target, use.kind) then
      diagnostics:error(place.at(script, "rule", rule.id, use.name),
        'rule %s: uses.%s: %s are not namespaced, so the index "namespace" finds nothing', rule.id, use.name, use.kind)
    end
  end
end

-- The engine evaluates the first of two rules with one id; in one script k8s.rule refuses the second.
local function check_id(script, target, diagnostics, rule)
  local taken = target.rule_ids or {}
  target.rule_ids = taken
  local before, at = taken[rule.id], place.at(script, "rule", rule.id)
  if before then
    diagnostics:error(at, "rule %s: a rule of %s has the same id, so this one is not evaluated", rule.id,
      place.text(before))
  else
    taken[rule.id] = at
  end
end

return function(script, target, diagnostics)
  for _, rule in ipairs(script.rules) do
    check_id(script, target, diagnostics, rule)
    check_namespaces(script, target, diagnostics, rule)
    check_uses(script, target, diagnostics, rule)
  end
end
