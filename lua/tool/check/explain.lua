-- `kubelua check --explain`: the settings of scripts and the parameters of their rules, with what is given.
local json = require "tool.json"

local function shown_name(param) return param.rule and param.rule .. "." .. param.name or param.name end

local function variable_of(param) return "KUBELUA_PARAM_" .. param.name:upper():gsub("-", "_") end

-- --- for people

local function default_of(param)
  if param.default then return param.default end
  if param.from then return ("what %s of the cluster has"):format(param.from) end
  return param.is_required and "none, a value is required" or "none"
end

local function value_of(param)
  if param.from and param.source == param.from then return "read from the cluster" end
  if not param.value then return "not set" end
  return param.source and ("%s, from %s"):format(param.value, param.source) or param.value .. ", the default"
end

local function describe(param)
  local bounds = param.bounds ~= "" and ", " .. param.bounds or ""
  return table.concat {
    "\n", shown_name(param), param.help ~= "" and ": " .. param.help or "", "\n",
    ("  Type:     %s%s\n"):format(param.type, bounds), ("  Default:  %s\n"):format(default_of(param)),
    ("  Value:    %s\n"):format(value_of(param)), ("  Variable: %s\n"):format(variable_of(param)),
  }
end

local PLACES = "\nA value is set by its variable, by NAME in --params FILE or as a file of --params DIR, or by "
  .. "--param [SCRIPT:][RULE.]NAME=VALUE; later ones win, and names with SCRIPT or RULE.\n"

local function text_of(scripts)
  local parts, count = {}, 0
  for i, script in ipairs(scripts) do
    parts[#parts + 1] = (i > 1 and "\n" or "") .. script.path .. "\n"
    if #script.params == 0 then parts[#parts + 1] = "\nIt has no settings.\n" end
    for _, param in ipairs(script.params) do parts[#parts + 1] = describe(param) end
    count = count + #script.params
  end
  if count > 0 then parts[#parts + 1] = PLACES end
  return table.concat(parts)
end

-- --- for programs

local function json_of(scripts)
  local all = {}
  for _, script in ipairs(scripts) do
    for _, param in ipairs(script.params) do
      local function text(value) return value and value ~= "" and json.text(value) end
      all[#all + 1] = json.object("script", json.text(script.path), "rule", text(param.rule), "name",
        json.text(param.name), "type", json.text(param.type), "bounds", text(param.bounds), "required",
        tostring(param.is_required), "default", param.default, "value",
        param.is_secret and text(param.value) or param.value, "source", text(param.source), "from", text(param.from),
        "variable", json.text(variable_of(param)), "help", text(param.help))
    end
  end
  return json.list(all, function(one) return one end) .. "\n"
end

-- The description as text or JSON; nil and why, when a script or a value is wrong. `output`: "text", "json".
return function(facts)
  for _, script in ipairs(facts.scripts) do
    if script.error then return nil, script.error end
  end
  if facts.params_error then return nil, facts.params_error end
  return facts.output == "json" and json_of(facts.scripts) or text_of(facts.scripts)
end
