-- Lines of `kubelua status` about continuous audits, and about reports in the cluster.
local values = require "tool.view.values"
local text_table = require "tool.table"
local units = require "tool.units"

local count, int, items, shown, text = values.count, values.int, values.items, values.shown, values.text

-- --- the line of all rules

-- A member of the reply, and how one and many of it are called.
local COUNTS = {
  { "rules", "rule", "rules" },
  { "waitingRules", "waiting for its caches", "waiting for their caches" },
  {
    "coarseRules", "has too many dependencies and is re-evaluated as a whole",
    "have too many dependencies and are re-evaluated as a whole",
  },
  {
    "unevaluated", "not evaluated as the server does not have its kinds",
    "not evaluated as the server does not have their kinds",
  },
  {
    "partial", "evaluated without a kind that the server does not have",
    "evaluated without kinds that the server does not have",
  },
  {
    "tornRules", "not evaluated: objects of a kind that it uses were refused",
    "not evaluated: objects of kinds that they use were refused",
  },
  { "twinRules", "not evaluated: duplicate id", "not evaluated: duplicate ids" },
  { "quarantinedRules", "in quarantine", "in quarantine" },
  { "objects", "object", "objects" },
  { "pending", "waiting", "waiting" },
  { "findingsLeftOut", "result without findings (memory limit)", "results without findings (memory limit)" },
}

-- How many rules lack kinds, and are not evaluated or only for others. One that looks at other kinds needs all of them.
local function lacks_of(audit)
  local partial = 0
  for _, rule in ipairs(items(audit.byRule)) do
    if rule.asked == true and text(rule.lacks) ~= "" then partial = partial + 1 end
  end
  return { partial = partial, unevaluated = int(audit.lackingRules) - partial }
end

-- "audit: 12 rules, 340 objects, 3 waiting; 20 fail, 4000 pass"
local function line_of(audit)
  local parts, results, lacks = { n = #COUNTS }, {}, lacks_of(audit)
  for i, row in ipairs(COUNTS) do parts[i] = count(lacks[row[1]] or audit[row[1]], row[2], row[3]) end
  for result, number in values.fields(audit.results) do
    if int(number) ~= 0 then results[#results + 1] = ("%d %s"):format(number, result) end
  end
  local line = values.join(parts, ", ") .. (#results > 0 and "; " .. table.concat(results, ", ") or "")
  return (line ~= "" and line or "no script has a rule") .. (audit.active == true and "" or "; evaluated by the leader")
end

-- "reports: 12 PolicyReports, 2 to be written"; under a dry run nothing of that is in the cluster.
local function reports_line(reports)
  local n = int(reports.reports)
  local function few(member, what)
    return int(reports[member]) ~= 0 and (", %d %s"):format(reports[member], what) or ""
  end
  local function cause(member)
    return text(reports[member]) ~= "" and "; " .. reports[member] or ""
  end
  return table.concat {
    ("%d %s%s"):format(n, text(reports.kind), n == 1 and "" or "s"),
    reports.dryRun == true and " (not persisted: --dry-run=server)" or "",
    few("waiting", "to be written"), few("failed", "writes failed"),
    few("namespacesLeftOut", "namespaces omitted (report limit)"),
    reports.begun == true and "" or "; nothing is written before all objects have been evaluated",
    cause "incomplete", cause "error",
  }
end

-- --- one by one

local RESULTS = { "pass", "skip", "warn", "fail", "error" }
local ERROR = 7

local function is_shown(rule, view)
  return view.wide or rule.asked ~= true or int(items(rule.results).error) ~= 0 or rule.quarantined == true
end

local function state_of(rule)
  local lacks = text(rule.lacks)
  if text(rule.twin) ~= "" then return ("not evaluated: %s has a rule with the same id"):format(rule.twin) end
  if rule.torn == true then return "not evaluated: objects of a kind that it uses were refused" end
  if rule.quarantined == true then
    return "in quarantine, every result is an error: fix and reload the script, or run kubelua quarantine --lift rule/"
      .. text(rule.id)
  end
  if lacks ~= "" then
    return ("%s: the server does not have %s"):format(
      rule.asked == true and "evaluated for its other kinds" or "not evaluated", lacks)
  end
  if rule.waiting == true then return "waiting for its caches" end
end

-- An error that is no string says no place; the rule's is better than none.
local function error_of(rule, now)
  local last = rule.lastError
  if type(last) ~= "table" then return end
  local errors, message, file = int(rule.errors), text(last.message), text(rule.file)
  local note = ("%d error%s so far, the last of %s %s ago: %s"):format(errors, errors == 1 and "" or "s",
    text(last.object), units.duration(now - units.time(last.time)), message)
  if message ~= "" and file ~= "" and message:find(file, 1, true) then return note end
  return ("%s (the rule is at %s:%d)"):format(note, file, int(rule.line))
end

-- Rules with errors, and in the wide form all.
local function rules_of(audit, view)
  local rows = text_table.new("RULE", "SEVERITY", ">PASS", ">SKIP", ">WARN", ">FAIL", ">ERROR", "SCRIPT")
  for _, rule in ipairs(items(audit.byRule)) do
    if is_shown(rule, view) then
      local numbers = {}
      for i, name in ipairs(RESULTS) do numbers[i] = int(items(rule.results)[name]) end
      numbers[#RESULTS + 1] = shown(rule.script)
      rows:add(shown(rule.id), shown(rule.severity), unpack(numbers))
      if numbers[#RESULTS] ~= 0 then rows:tint(ERROR, "bad") end
      rows:note(state_of(rule))
      rows:note(error_of(rule, view.now))
    end
  end
  return rows:block(view)
end

-- `audit`: what the reply says of continuous audits; nil: there are none.
return function(audit, view)
  if type(audit) ~= "table" then return "" end
  local lines = { text_table.line("audit", line_of(audit)) }
  for _, why in ipairs(items(audit.refused)) do lines[#lines + 1] = text_table.line("incomplete", text(why)) end
  if type(audit.reports) == "table" then lines[#lines + 1] = text_table.line("reports", reports_line(audit.reports)) end
  lines[#lines + 1] = rules_of(audit, view)
  return table.concat(lines)
end
