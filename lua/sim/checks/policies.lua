-- Rules of webhooks and of admission policies, and mutations. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"
local words = require "sim.checks.words"

local at, text, each, count = json.at, json.text, json.each, json.count

local policies = {}

-- A list where "*" stands alone; `others` are its elements.
function policies.alone(path, list, _, others)
  local problems = found.new()
  for _, word in each(list) do
    if word == "*" and count(list) > 1 then
      problems:invalid(path, list, string.format("if '*' is present, must not specify other %s", others))
      break
    end
  end
  return problems
end

local DOUBLE = "if '*/*' is present, must not specify other resources"
local SINGLE = "if '*' is present, must not specify other resources without subresources"

-- As a server has it: of resources without subresources the last one tells.
function policies.resources(path, list)
  local problems, by_resource, by_part, all, single, plain = found.new(), {}, {}, false, false, false
  for i, item in each(list) do
    local place = string.format("%s[%d]", path, i - 1)
    local resource, part = item:match "^([^/]*)/(.*)$"
    all, single = all or item == "*/*", single or item == "*"
    if item == "" then
      problems:required(place)
    elseif not resource then
      plain = item ~= "*"
    else
      local stars = { by_resource[resource] and resource .. "/*", by_part[part] and "*/" .. part }
      for n = 1, 2 do
        if stars[n] then
          problems:invalid(place, item, string.format("if '%s' is present, must not specify %s", stars[n], item))
        end
      end
      by_resource[resource] = by_resource[resource] or part == "*"
      by_part[part] = by_part[part] or resource == "*"
    end
  end
  if count(list) > 1 and all then problems:invalid(path, list, DOUBLE) end
  if single and plain then problems:invalid(path, list, SINGLE) end
  return problems
end

function policies.names(path, names)
  local problems, seen = found.new(), {}
  for i, name in each(names) do
    local place = string.format("%s[%d]", path, i - 1)
    problems:form(place, name, "path segment")
    if seen[name] then problems:duplicate(place, name) end
    seen[name] = true
  end
  return problems
end

-- Policies that mutate know of no deletion.
function policies.mutated(path, rules)
  local problems = found.new()
  for _, rule in each(rules) do
    for _, operation in each(at(rule, "operations")) do
      problems:enum(path .. ".operations", operation, { "*", "CONNECT", "CREATE", "UPDATE" })
    end
  end
  return problems
end

-- When a webhook or a policy is asked.
function policies.conditions(path, conditions)
  local problems, seen = found.new(), {}
  if count(conditions) > 64 then problems:too_many(path, count(conditions), 64) end
  for i, condition in each(conditions) do
    local place, name = string.format("%s[%d]", path, i - 1), text(condition, "name")
    if not text(condition, "expression"):find "%S" then problems:required(place .. ".expression") end
    if name == "" then problems:required(place .. ".name") else problems:form(place .. ".name", name, "key") end
    if seen[name] then problems:duplicate(place .. ".name", name) end
    seen[name] = name ~= ""
  end
  return problems
end

local reserved = words("true false null in as break const continue else for function if import let loop package "
  .. "namespace return var void while")

function policies.variable(path, variable)
  local problems, name = found.new(), text(variable, "name")
  if not name:find "%S" then
    problems:required(path .. ".name", "name is not specified")
  elseif reserved[name] or not name:find "^[%a_][%w_]*$" then
    problems:invalid(path .. ".name", name, "must be a valid CEL identifier")
  end
  if not text(variable, "expression"):find "%S" then
    problems:required(path .. ".expression", "expression is not specified")
  end
  return problems
end

local forms_of = { JSONPatch = "jsonPatch", ApplyConfiguration = "applyConfiguration" }

function policies.mutation(path, mutation)
  local problems, type = found.new(), text(mutation, "patchType")
  if type == "" then
    problems:required(path .. ".patchType")
  elseif not forms_of[type] then
    problems:enum(path .. ".patchType", type, { "ApplyConfiguration", "JSONPatch" })
  else
    local own, other = forms_of[type], type == "JSONPatch" and "applyConfiguration" or "jsonPatch"
    if not at(mutation, own) then
      problems:required(path .. "." .. own, "must be specified when patchType is " .. type)
    elseif not text(mutation, own .. ".expression"):find "%S" then
      problems:required(path .. "." .. own .. ".expression")
    end
    if at(mutation, other) then
      problems:invalid(path .. "." .. other, string.format("{%s}", other), "must not be specified when patchType is "
        .. type)
    end
  end
  return problems
end

return policies
