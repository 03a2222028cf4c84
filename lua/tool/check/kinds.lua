-- Kinds that a script names, against those that there are.
local place = require "tool.check.place"

-- Without a server or a dump nobody knows of a kind that is not Kubernetes' own: one with a group may come later, any
-- other is a warning.
local function check_kind(script, target, diagnostics, kind, registered)
  if kind == "*" then return end
  local resource, why, is_unsure = target.resolve(kind)
  if resource or is_unsure and kind:find "[./]" then return end
  local at = place.find(script, registered, '"' .. kind)
  if is_unsure then
    diagnostics:warning(at, "%s; to be sure, check against a server or a dump (--against)", why)
  else
    diagnostics:error(at, "%s", why)
  end
end

-- A group may come later, as an operator's may that is installed beside the script.
local function check_group(script, target, diagnostics, group, registered)
  if not target.is_whole or target.groups(group)[1] then return end
  diagnostics:warning(place.find(script, registered, '"*.' .. group), 'no kind of the group "%s" is served yet', group)
end

local function check_declared(script, target, diagnostics, declared, registered)
  if declared.group then return check_group(script, target, diagnostics, declared.group, registered) end
  check_kind(script, target, diagnostics, declared.kind, registered)
end

return function(script, target, diagnostics)
  local function check(kind, registered) check_kind(script, target, diagnostics, kind, registered) end
  for _, informer in ipairs(script.informers) do check(informer.kind, place.of(script, "informer", informer.text)) end
  -- Rules share informers, whose place is that of the first of them.
  for _, rule in ipairs(script.rules) do
    local registered = place.of(script, "rule", rule.id)
    for _, informer in ipairs(rule.kinds) do check(informer.kind, registered) end
    for _, use in ipairs(rule.uses) do check(use.kind, registered) end
  end
  for _, read in ipairs(script.reads) do
    check_declared(script, target, diagnostics, read, place.of(script, "read", read.text))
  end
  for _, write in ipairs(script.writes) do
    check_declared(script, target, diagnostics, write, place.of(script, "write", write.text))
  end
end
