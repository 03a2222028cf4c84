-- The tools of `kubelua mcp`: each is a command of this program that asks the engine by its admin socket.
local json = require "tool.json"

local tools = {}

-- --- parameters: name, type ("string", "strings", "boolean"), description; enum: the texts that it may be

local function enum(name, description, ...) return { name, "string", description, enum = { ... } } end

local function required(parameter)
  parameter.required = true
  return parameter
end

-- Appends --flag=VALUE for each parameter that is given.
local function add_flags(words, given, flags)
  for _, pair in ipairs(flags) do
    if given[pair[1]] then words[#words + 1] = ("--%s=%s"):format(pair[2], given[pair[1]]) end
  end
end

local function add_all(words, list)
  for _, word in ipairs(list or {}) do words[#words + 1] = word end
  return words
end

-- --- tools: name, title, description, its parameters; words: what is run; good: exit codes that are no failure

local list = {}

local function tool(name, more)
  more.name = name
  more.good = more.good or { [0] = true }
  list[#list + 1] = more
end

tool("status", {
  title = "State of the engine",
  description = "Scripts, handlers, caches (informers), queues, leases and audits of the running kubelua engine, with "
    .. "their problems. Call it first: it lists the kinds that are cached.",
  { "wide", "boolean", "More columns, all handlers, rules and timers" },
  enum("output", "Default table", "table", "json", "yaml"),
  words = function(given) return { "status", "--output=" .. (given.output or given.wide and "wide" or "table") } end,
})

tool("get", {
  title = "Objects in the caches",
  description = "Kubernetes objects of a kind from the engine's cache, which costs the API server nothing. Only kinds "
    .. "that status lists are cached. Prefer table or custom-columns to json for many objects.",
  required { "kind", "string", "As kubectl has it: pods, deploy, widgets.example.com" },
  { "names", "strings", "Only objects with these names, or NAMESPACE/NAME" },
  { "namespace", "string", "Only objects of this namespace" },
  { "selector", "string", "Only objects with these labels: app=web,tier!=db" },
  { "field_selector", "string", "Only objects with these values at any paths: status.phase!=Running" },
  { "output", "string", "table (the default), wide, json, yaml, name, custom-columns=HEADING:PATH,..., or "
    .. "jsonpath=TEMPLATE as kubectl has it" },
  words = function(given, settings)
    local words = { "get" }
    if settings.show_secrets then words[2] = "--show-secrets" end
    add_flags(words, given, { { "namespace", "namespace" }, { "selector", "selector" },
      { "field_selector", "field-selector" }, { "output", "output" } })
    return words, add_all({ given.kind }, given.names)
  end,
})

tool("query", {
  title = "Query the caches",
  description = "Evaluates one read-only Lua expression on the caches: kinds are globals. Examples: pods:count(); "
    .. 'pods["shop/web"].spec.nodeName; pods "app=web"; '
    .. 'pods:query():where("status.phase", "~=", "Running"):group("spec.nodeName"):count(); '
    .. 'k8s.list("services") reads from the API server instead.',
  required { "expression", "string", "A Lua expression" },
  enum("output", "Default table", "table", "json", "yaml"),
  words = function(given, settings)
    local words = { "query" }
    if settings.show_secrets then words[2] = "--show-secrets" end
    add_flags(words, given, { { "output", "output" } })
    return words, { given.expression }
  end,
})

tool("history", {
  title = "Versions of an object",
  description = "The last versions of an object, the newest first: when it changed, who wrote it, which script of the "
    .. "engine that was, and what changed. Only of kinds that the engine keeps (run --history).",
  required { "kind", "string", "As kubectl has it: pods, deploy, widgets.example.com" },
  required { "name", "string", "NAME, or NAMESPACE/NAME" },
  { "namespace", "string", "Default default" },
  { "objects", "boolean", "With json and yaml: also the complete object of each version" },
  enum("output", "Default table", "table", "json", "yaml"),
  words = function(given, settings)
    local words = { "history" }
    if settings.show_secrets then add_all(words, { "--show-secrets" }) end
    if given.objects then add_all(words, { "--objects" }) end
    add_flags(words, given, { { "namespace", "namespace" }, { "output", "output" } })
    return words, { given.kind, given.name }
  end,
})

tool("audit", {
  title = "Audit the caches",
  description = "Evaluates the audit rules of the engine's scripts on its caches, and reports the findings.",
  { "selector", "string", "Only objects with these labels: app=web,tier!=db" },
  enum("output", "Default table", "table", "wide", "json", "yaml"),
  good = { [0] = true, [1] = true },
  words = function(given, settings)
    local words = { "audit", "--engine" }
    if settings.show_secrets then add_all(words, { "--show-secrets" }) end
    add_flags(words, given, { { "selector", "selector" }, { "output", "output" } })
    return words
  end,
})

tool("explain", {
  title = "Explain a rule",
  description = "A rule of audit as its author describes it: kinds, parameters, why it matters and what to do. Without "
    .. "a rule, lists all of them.",
  { "rule", "string", "The id of a rule" },
  words = function(given)
    return { "audit", "--engine", given.rule and "--explain=" .. given.rule or "--list-rules" }
  end,
})

tool("call", {
  writes = true, title = "Call a script's command",
  description = "Calls a command that a script of the engine provides. Without a command, lists all of them.",
  { "command", "string", "NAME, or SCRIPT/NAME" },
  { "arguments", "strings", "Its arguments" },
  enum("output", "Of results that are not texts; default table", "table", "json", "yaml"),
  words = function(given)
    local words = { "call" }
    add_flags(words, given, { { "output", "output" } })
    return words, given.command and add_all({ given.command }, given.arguments)
  end,
})

tool("reload", {
  writes = true, title = "Reload scripts",
  description = "Loads the files of scripts that have changed, and takes them over if they are good.",
  { "scripts", "strings", "Only these scripts" },
  words = function(given) return { "reload" }, given.scripts end,
})

tool("rollback", {
  writes = true, title = "Roll a script back",
  description = "Returns a script to its previous version.",
  required { "script", "string", "Name of the script, as status has it" },
  words = function(given) return { "rollback" }, { given.script } end,
})

tool("lift", {
  writes = true, title = "Lift a quarantine",
  description = "Lets a quarantined function of a script be called again.",
  required { "target", "string", "SCRIPT or SCRIPT/ID, as status has it" },
  words = function(given) return { "quarantine", "--lift=" .. given.target } end,
})

-- Returns the tools that are offered, as an array and by name.
function tools.list(settings)
  local offered = {}
  for _, one in ipairs(list) do
    if settings.allow_writes or not one.writes then
      offered[#offered + 1] = one
      offered[one.name] = one
    end
  end
  return offered
end

-- --- as tools/list has them

local function schema_of(one)
  local properties, names = {}, {}
  for _, parameter in ipairs(one) do
    local is_list = parameter[2] == "strings"
    properties[#properties + 1] = parameter[1]
    properties[#properties + 1] = json.object("type", json.text(is_list and "array" or parameter[2]),
      "items", is_list and json.object("type", json.text "string"),
      "enum", parameter.enum and json.list(parameter.enum, json.text), "description", json.text(parameter[3]))
    if parameter.required then names[#names + 1] = parameter[1] end
  end
  return json.object("type", json.text "object", "properties", json.object(unpack(properties)),
    "required", #names > 0 and json.list(names, json.text), "additionalProperties", "false")
end

function tools.describe(one)
  local writes = one.writes and "true" or "false"
  return json.object("name", json.text(one.name), "title", json.text(one.title),
    "description", json.text(one.description), "inputSchema", schema_of(one),
    "annotations", json.object("readOnlyHint", one.writes and "false" or "true", "destructiveHint", writes,
      "openWorldHint", writes))
end

-- --- calls

local function is_text(value) return type(value) == "string" and not value:find("%z") end

local function is_list_of_texts(value)
  if type(value) ~= "table" or getmetatable(value) then return false end -- a map has its names there
  for _, item in ipairs(value) do
    if not is_text(item) then return false end
  end
  return true
end

local CHECKS = {
  string = { is_text, "a string without NUL" }, strings = { is_list_of_texts, "a list of strings without NUL" },
  boolean = { function(value) return type(value) == "boolean" end, "true or false" },
}

-- Who leaves an argument out may say so by null.
local function value_of(given, name)
  local value = given[name]
  if type(value) == "userdata" then return nil end
  return value
end

local function check(parameter, value)
  local name, kind = parameter[1], CHECKS[parameter[2]]
  if value == nil then return parameter.required and ('"%s" is missing'):format(name) or nil end
  if not kind[1](value) then return ('"%s" must be %s'):format(name, kind[2]) end
  for _, choice in ipairs(parameter.enum or {}) do
    if value == choice then return nil end
  end
  return parameter.enum and ('"%s" must be one of %s'):format(name, table.concat(parameter.enum, ", ")) or nil
end

-- The words of the command for a call with these arguments; nil and why. What is no flag stands behind "--".
function tools.words(one, given, settings, nearest)
  local known, names, values = {}, {}, {}
  for i, parameter in ipairs(one) do
    local name = parameter[1]
    local value = value_of(given, name)
    local why = check(parameter, value)
    if why then return nil, why end
    known[name], names[i], values[name] = true, name, value
  end
  for name in pairs(given) do
    if not known[name] then
      local near = nearest(name, names)
      return nil, ('unknown argument "%s"%s'):format(name, near and (', did you mean "%s"?'):format(near) or "")
    end
  end
  local words, rest = one.words(values, settings)
  if settings.admin_socket then words[#words + 1] = "--admin-socket=" .. settings.admin_socket end
  words[#words + 1] = "--"
  return add_all(words, rest)
end

return tools
