-- Rules as their authors describe them: one for `kubelua audit --explain`, all of them for --list-rules.
local json = require "tool.json"
local text_table = require "tool.table"
local values = require "tool.view.values"

local items, text = values.items, values.text

-- --- one of them

local function params_of(rule)
  local lines = {}
  for i, param in ipairs(items(rule.params)) do
    local default = text(param.default)
    local same = default == "" or param.value == default
    lines[i] = ("%s%s=%s (%s%s)%s\n"):format(i > 1 and "            " or "Parameters: ", param.name,
      text(param.value), param.type, same and "" or ", default " .. default,
      text(param.help) ~= "" and ": " .. param.help or "")
  end
  return table.concat(lines)
end

local function ignore_of(rule)
  local ignore = items(rule.ignore)
  if ignore.forbidden == true then return "\nIts findings cannot be accepted by annotation (ignore = false).\n" end
  local days, some = values.int(ignore.maxDays), ignore.someNamespaces == true
  return ("\nTo accept a finding until a date%s%s, annotate the object:\n  %s%s: \"until=2027-01-31 REASON\"\n"):format(
    days ~= 0 and (", at most %d days from now"):format(days) or "",
    some and (days ~= 0 and " and in some namespaces only" or ", in some namespaces only") or "",
    text(ignore.prefix), rule.id)
end

local function describe(rule)
  local function line(form, value) return text(value) ~= "" and form:format(value) or "" end
  return table.concat {
    rule.id, line(": %s", rule.title), "\n\n", line("Severity:   %s\n", rule.severity),
    line("Category:   %s\n", rule.category), ("Kinds:      %s\n"):format(table.concat(items(rule.kinds), ", ")),
    params_of(rule), ("File:       %s:%d\n"):format(text(rule.file), values.int(rule.line)),
    line("\nWhy: %s\n", rule.why), line("\nWhat to do: %s\n", rule.how),
    rule.fix == true and "\nRun kubelua audit --fix to print a patch for its findings.\n" or "", ignore_of(rule),
  }
end

local function explain(list, id, nearest)
  local ids = {}
  for i, rule in ipairs(list) do
    if rule.id == id then return describe(rule) end
    ids[i] = rule.id
  end
  local near = nearest(id, ids)
  error(("no rule \"%s\"%s"):format(id, near and (", did you mean \"%s\"?"):format(near)
    or "; use --list-rules to list all rules"), 0)
end

-- --- all of them

local function list_all(list, output)
  table.sort(list, function(a, b)
    if a.category ~= b.category then return a.category < b.category end
    return a.id < b.id
  end)
  if output == "json" then
    return json.list(list, function(rule)
      return json.object("id", json.text(rule.id), "severity", json.text(rule.severity), "category",
        json.text(rule.category), "title", json.text(rule.title))
    end) .. "\n"
  end
  if output ~= "table" then error(("--list-rules supports -o table and -o json, not %s"):format(output), 0) end
  local rows = text_table.new("CATEGORY", "RULE", "SEVERITY", "TITLE")
  for _, rule in ipairs(list) do rows:add(rule.category, rule.id, rule.severity, rule.title) end
  return rows:text {}
end

-- `request`: explain, the id of a rule; else all are listed, as `output` says.
return function(list, request)
  return request.explain and explain(list, request.explain, request.nearest) or list_all(list, request.output)
end
