-- `kubelua quarantine --lift`: which of the functions in quarantine a name means, and the end of it for them.
local values = require "tool.view.values"

local NAMED_MAX, AT_ONCE = 10, 100

local function last_part(name) return name:match "[^/]*$" end

-- The names of an item: of its script, and of itself. A whole one goes before a short one.
local function names_of(item)
  local script, id = values.text(item.script), values.text(item.id)
  local path, brief = script .. ".lua", last_part(script)
  return {
    script = script, id = id, name = script .. "/" .. id, brief = brief .. "/" .. id,
    whole = { [script] = true, [path] = true, [script .. "/" .. id] = true, [path .. "/" .. id] = true },
    short = { [brief] = true, [brief .. "/" .. id] = true, [id] = true },
  }
end

local function those_that_fit(items, target, fit)
  local list = {}
  for _, item in ipairs(items) do
    if item[fit][target] then list[#list + 1] = item end
  end
  return list
end

local function list_names(items)
  local names = {}
  for i = 1, math.min(#items, NAMED_MAX) do names[i] = items[i].name end
  return table.concat(names, ", ") .. (#items > NAMED_MAX and (" and %d more"):format(#items - NAMED_MAX) or "")
end

local function explain_unknown(items, target, nearest)
  local known = {}
  for _, item in ipairs(items) do
    for _, name in ipairs { item.name, item.brief, item.id, item.script, last_part(item.script) } do
      known[#known + 1] = name
    end
  end
  local near = nearest(target, known)
  return ('"%s" is not in quarantine%s; %s'):format(target, near and (', did you mean "%s"?'):format(near) or "",
    #items == 0 and "nothing is in quarantine" or "in quarantine: " .. list_names(items))
end

-- Generations of a script that drain count as the script.
local function are_of_one(items)
  for _, item in ipairs(items) do
    if item.script ~= items[1].script then return false end
  end
  return true
end

-- Returns how many were lifted.
return function(command, target)
  local items = {}
  for i, one in ipairs(values.items(command.request("quarantine"):value "quarantined")) do items[i] = names_of(one) end
  local meant = those_that_fit(items, target, "whole")
  if #meant == 0 then meant = those_that_fit(items, target, "short") end
  if #meant == 0 then command.fail(command.USAGE, explain_unknown(items, target, command.host.nearest)) end
  if not are_of_one(meant) then
    command.fail(command.USAGE, ('"%s" is ambiguous: %s'):format(target, list_names(meant)))
  end
  local lifted, quote = 0, command.host.quote
  for first = 1, #meant, AT_ONCE do
    local texts = {}
    for i = first, math.min(first + AT_ONCE - 1, #meant) do
      texts[#texts + 1] = ('{"script":%s,"id":%s}'):format(quote(meant[i].script), quote(meant[i].id))
    end
    local reply = command.request("lift", ('{"items":[%s]}'):format(table.concat(texts, ",")))
    lifted = lifted + values.int(reply:value "lifted")
  end
  if lifted == 0 then command.fail(command.USAGE, ('"%s" is not in quarantine'):format(target)) end
  return lifted
end
