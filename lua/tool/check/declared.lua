-- Live reads and writes that a script calls and declares for no kind, or calls in a rule. Which calls are made is known
-- when they are made, so its text is searched for the functions' names.
local calls_in = require "tool.check.calls"

-- Functions, and the verb that each needs.
local READING = { { "get", "get" }, { "list", "list" }, { "pages", "list" }, { "watch", "watch" } }
local WRITING = {
  { "create", "create" }, { "update", "update" }, { "patch", "patch" }, { "apply", "apply" }, { "delete", "delete" },
}

-- Who may patch may apply, too.
local function verbs_of(declared)
  local verbs = {}
  for _, one in ipairs(declared) do
    verbs[one.verb] = true
    verbs.apply = verbs.apply or one.verb == "patch"
  end
  return verbs
end

-- Calls that need more than a verb.
local OTHERS = {
  logs = {
    is_declared = function(script)
      for _, read in ipairs(script.reads) do
        local is_pods = read.subresource == "log" or read.kind == "*" and read.subresource == ""
        if is_pods and (read.verb == "get" or read.verb == "*") then return true end
      end
      return false
    end,
    add = 'k8s.reads { "pods/log:get" }',
  },
  raw = { is_declared = function(script) return script.paths[1] ~= nil end, add = 'k8s.reads { "/PATH" }' },
}

local function line_of(source, at) return select(2, source:sub(1, at):gsub("\n", "")) + 1 end

-- In the script's own file a call is there to be reached. What a module has may be for other scripts, and what is only
-- named may be called in a way that minds an error.
local function check_function(script, calls, diagnostics, name, message)
  for i, source in ipairs(script.sources) do
    local found = calls[i][name]
    if found then
      local add = i == 1 and found.is_call and diagnostics.error or diagnostics.warning
      add(diagnostics, { file = source.path, line = line_of(source.text, found.at) }, "k8s.%s will fail: %s", name,
        message)
      return
    end
  end
end

local function check_declared(script, calls, diagnostics, functions, declared, declared_by)
  local verbs = verbs_of(declared)
  for _, one in ipairs(functions) do
    local name, verb = one[1], one[2]
    if not verbs[verb] and not verbs["*"] then
      check_function(script, calls, diagnostics, name,
        ('it is not declared for any kind; add %s { "KIND:%s" }'):format(declared_by, verb))
    end
  end
end

local function check_others(script, calls, diagnostics)
  for name, other in pairs(OTHERS) do
    if not other.is_declared(script) then
      check_function(script, calls, diagnostics, name, "it is not declared; add " .. other.add)
    end
  end
end

-- No declaration helps in a rule.
local function check_in_rules(script, calls, diagnostics, functions, advice)
  for _, one in ipairs(functions) do
    check_function(script, calls, diagnostics, one[1], "it may not be called in a rule; " .. advice)
  end
end

return function(script, _, diagnostics)
  local outside, rules = {}, {}
  for i, source in ipairs(script.sources) do outside[i], rules[i] = calls_in(source.text) end
  check_declared(script, outside, diagnostics, READING, script.reads, "k8s.reads")
  check_declared(script, outside, diagnostics, WRITING, script.writes, "k8s.writes")
  check_others(script, outside, diagnostics)
  check_in_rules(script, rules, diagnostics, READING, "rules get other objects by `uses`")
  check_in_rules(script, rules, diagnostics, WRITING, "rules propose changes by `fix`")
  check_in_rules(script, rules, diagnostics, { { "logs" }, { "raw" } }, "rules see objects alone")
end
