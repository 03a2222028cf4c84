-- `kubelua check`: what is wrong with scripts that were loaded, and never started. Checks look at what they registered,
-- of which core/app/check/script_facts.c makes tables.
local dead = require "tool.check.dead"
local declared = require "tool.check.declared"
local dropped = require "tool.check.dropped"
local explain = require "tool.check.explain"
local new_diagnostics = require "tool.check.diagnostics"
local kinds = require "tool.check.kinds"
local check_access = require "tool.check.access"
local lacking = require "tool.check.lacking"
local rules = require "tool.check.rules"
local webhooks = require "tool.check.webhooks"
local new_reader = require "tool.source"

-- The compiler would take longer than the checks: it gives up most of what it begins, as they match patterns.
jit.off()
collectgarbage("setpause", 400) -- the process ends soon

local OK, FINDINGS, USAGE, UNREAD = 0, 1, 2, 3
-- An editor or a pipeline checks without a cluster, so the environment (KUBECONFIG) selects none.
local NO_SERVER = "; no server was asked (use --context or --server for its kinds and permissions)"
local NO_PARSER = "kubelua check: sources were not read, only what scripts register: luacheck (the package lua-check) "
  .. "is not installed\n"
local CHECKS = { kinds, dropped, dead, rules, lacking, declared, webhooks }

local function complain(...) io.stderr:write("kubelua check: ", (...):format(select(2, ...)), "\n") end

-- Returns whether everything could be read, as the function below. `read_source` is nil where there is no parser.
local function check_scripts(scripts, target, diagnostics, read_source)
  local readable = true
  for number, script in ipairs(scripts) do
    diagnostics.script = number
    if script.unreadable then
      complain("%s", script.error)
      readable = false
    elseif script.error then
      diagnostics:add_error(script.path, script.error)
    else
      for _, check in ipairs(CHECKS) do check(script, target, diagnostics) end
    end
    if read_source and not script.unreadable then read_source(script, diagnostics) end
  end
  return readable
end

-- Checks the permissions of the caller at the server, whoever the scripts run as: --as asks for another user.
local function check_permissions(scripts, target, diagnostics)
  local before = diagnostics.errors
  local ok, why = check_access(scripts, target, diagnostics)
  if not ok then
    complain("cannot check permissions: %s: %s", target.server, why)
  elseif diagnostics.errors > before then
    io.stderr:write "Use kubelua rbac to generate the roles that scripts need, and --as to check another user.\n"
  end
  return ok
end

-- Prints what may be set; nothing is checked but that the scripts load and the values fit.
local function explain_settings(facts)
  local text, why = explain(facts)
  if not text then complain("%s", why) end
  return text and io.stdout:write(text) and io.stdout:flush() and OK or USAGE
end

local function count(n, what) return ("%d %s%s"):format(n, what, n == 1 and "" or "s") end

-- Returns the exit code. `target` has what is checked against (core/app/check/check_target.c): kinds, and who may do
-- what.
return function(target, facts)
  if facts.explain then return explain_settings(facts) end
  local scripts, diagnostics = facts.scripts, new_diagnostics()
  target.definitions = target.roles and target.roles.definitions
  local read_source = new_reader(target)
  local readable = check_scripts(scripts, target, diagnostics, read_source)
  if facts.params_error then
    complain("%s", facts.params_error)
    readable = false
  end
  if target.review or target.user then readable = check_permissions(scripts, target, diagnostics) and readable end
  diagnostics:sort()
  local text = facts.output == "json" and diagnostics:json(target.quote) or diagnostics:text()
  local written = io.stdout:write(text) and io.stdout:flush()
  io.stderr:write(count(#scripts, "script"), ", ", count(diagnostics.errors, "error"), ", ",
    count(diagnostics.warnings, "warning"), target.is_whole and "" or NO_SERVER, "\n")
  if not read_source then io.stderr:write(NO_PARSER) end
  if not readable or not written then return USAGE end
  if not read_source and diagnostics.errors == 0 then return UNREAD end
  return diagnostics.errors > 0 and FINDINGS or OK
end
