-- `kubelua check`: what is wrong with scripts that were loaded, and never started. Checks look at what they registered,
-- as core/app/check/script_facts.c tells of it.
local dead = require "tool.check.dead"
local declared = require "tool.check.declared"
local dropped = require "tool.check.dropped"
local findings_of = require "tool.check.findings"
local kinds = require "tool.check.kinds"
local needed = require "tool.check.needed"
local rules = require "tool.check.rules"

local OK, FINDINGS, USAGE = 0, 1, 2
local CHECKS = { kinds, dropped, dead, rules, declared }

local function complain(...) io.stderr:write("kubelua check: ", (...):format(select(2, ...)), "\n") end

-- Both return whether everything could be read.
local function check_scripts(scripts, target, findings)
  local readable = true
  for number, script in ipairs(scripts) do
    findings.script = number
    if script.unreadable then
      complain("%s", script.error)
      readable = false
    elseif script.error then
      findings:add_error(script.path, script.error)
    else
      for _, check in ipairs(CHECKS) do check(script, target, findings) end
    end
  end
  return readable
end

-- Checks the permissions of the caller at the server, whoever the scripts run as: --as asks for another user.
local function check_rights(scripts, target, findings)
  local before = findings.errors
  local ok, why = needed(scripts, target, findings)
  if not ok then
    complain("cannot check permissions: %s: %s", target.server, why)
  elseif findings.errors > before then
    io.stderr:write "Use kubelua rbac to generate the roles that scripts need, and --as to check another user.\n"
  end
  return ok
end

local function count(n, what) return ("%d %s%s"):format(n, what, n == 1 and "" or "s") end

-- Returns the exit code. `target` has what is checked against (core/app/check/check_target.c): kinds, and who may do
-- what.
return function(target, facts)
  local scripts, findings = facts.scripts, findings_of()
  local readable = check_scripts(scripts, target, findings)
  if facts.params_error then
    complain("%s", facts.params_error)
    readable = false
  end
  if target.ask or target.user then readable = check_rights(scripts, target, findings) and readable end
  findings:sort()
  local text = facts.output == "json" and findings:json(target.quote) or findings:text()
  local written = io.stdout:write(text) and io.stdout:flush()
  io.stderr:write(count(#scripts, "script"), ", ", count(findings.errors, "error"), ", ",
    count(findings.warnings, "warning"), "\n")
  if not readable or not written then return USAGE end
  return findings.errors > 0 and FINDINGS or OK
end
