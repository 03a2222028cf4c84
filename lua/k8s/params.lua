-- Parameters that operators set: k8s.params { webhook = { type = "url", required = true } } of a script, and `params`
-- of a rule. A declaration is a default, whose type is the parameter's, or a table of options.
local raw = ...

local freeze = require("k8s.frozen").freeze
local options = require "k8s.options"
local param_types = require "k8s.param_types"
local plan = require "k8s.plan"

local params = {}

local MAX, NAME_MAX = 50, 56
local SCALARS = { boolean = true, number = true, string = true }
local EXPECTED = "must be a boolean, a number, a string, or an array of one of these, not "
local SECRET = "***"

local KNOWN = {
  type = "string",
  default = "any",
  required = "boolean",
  help = "string",
  min = "duration",
  max = "duration",
  values = "table",
  from = "string",
}

local function check_name(where, name)
  if type(name) ~= "string" or #name > NAME_MAX or not string.find(name, "^[%a_][%w_-]*$") then
    local expected = ": up to " .. NAME_MAX .. " letters, digits, '_' and '-'"
    raw.raise(where .. ': "' .. tostring(name) .. '" is not a parameter name' .. expected)
  end
end

local function check_array(where, array)
  local count = 0
  for _ in pairs(array) do
    count = count + 1
  end
  if count ~= #array then
    raw.raise(where .. " " .. EXPECTED .. "a table with other keys than 1 to " .. #array)
  end
  for i, value in ipairs(array) do
    if not SCALARS[type(value)] then
      raw.raise(where .. " " .. EXPECTED .. "an array with a " .. type(value))
    elseif type(value) ~= type(array[1]) then
      raw.raise(where .. " has a " .. type(array[1]) .. " and, as number " .. i .. ", a " .. type(value))
    end
  end
end

local function check_default(where, value)
  if type(value) == "table" then
    check_array(where, value)
  elseif not SCALARS[type(value)] then
    raw.raise(where .. " " .. EXPECTED .. type(value))
  end
end

local function sorted_names(where, declared, what)
  local names = {}
  for name in pairs(declared) do
    check_name(where, name)
    names[#names + 1] = name
  end
  if #names > MAX then
    raw.raise(where .. ": " .. what .. " has at most " .. MAX)
  end
  table.sort(names)
  return names
end

-- A copy that JSON has as an array, also when it is empty.
local function array_of(default)
  local array = raw.json.array()
  for i, value in ipairs(default) do
    array[i] = value
  end
  return array
end

-- Names of the script's secrets that have no value: where one is required, its error names them.
local unset = {}

function params.unset_secrets()
  return unset
end

-- --- one declaration

-- A table without numbers as keys is one of options; an array is a default.
local function has_options(declared)
  return type(declared) == "table" and type(next(declared)) == "string"
end

local function read_options(where, declared)
  if not has_options(declared) then
    return { default = declared }
  end
  local own = options.check(where, declared, KNOWN)
  if own.type and not param_types.known[own.type] then
    require "k8s.unknown"(where .. ": type", own.type, param_types.known, "type")
  elseif own.type == nil and own.default == nil then
    raw.raise(where .. ": type or default is required")
  elseif own.required and own.default ~= nil then
    raw.raise(where .. ": required and default are mutually exclusive")
  elseif own.type == "secret" and (own.default ~= nil or own.values or own.min ~= nil or own.max ~= nil) then
    raw.raise(where .. ": a secret must not have default, values, min or max: the script's text is no secret")
  elseif own.from and own.type ~= "secret" then
    raw.raise(where .. ': from is for parameters of the type "secret"')
  end
  param_types.check(own, function(why)
    raw.raise(where .. ": " .. why)
  end)
  return own
end

local function example_of(where, own, kind)
  if own.default == nil then
    return kind.example
  end
  check_default(where, own.default)
  local default = kind and kind.default and kind.default(own.default) or own.default
  if kind and type(default) ~= type(kind.example) then
    raw.raise(where .. ": default must be " .. kind.words .. ", not a " .. type(own.default))
  end
  return type(default) == "table" and array_of(default) or default
end

local function complain_of_none(rule, name, own)
  local qualified = rule and rule .. "." .. name or name
  local variable = string.gsub(string.upper(name), "-", "_")
  local places = "--param " .. qualified .. "=..., a file of --params, or KUBELUA_PARAM_" .. variable
  raw.params.refuse(rule, "the parameter " .. qualified .. " has no value: set " .. places
    .. (own.help and " (" .. own.help .. ")" or ""))
end

-- What holds: a value, its text, the default's text, and where it is from.
local function resolve(where, rule, name, own)
  local kind = param_types.known[own.type]
  local example = example_of(where, own, kind)
  local is_secret = own.type == "secret"
  local value, fallback, text, source, words = raw.params.value(rule, name, example, is_secret)
  local lacks = source == nil and own.default == nil
  if lacks and own.required and not own.from and not raw.params.may_lack() then
    complain_of_none(rule, name, own)
  elseif not lacks then
      value = param_types.read(own, value, function(why)
      if source then
        raw.params.refuse(rule, source .. ": " .. why)
      end
      raw.raise(where .. ": default " .. why)
    end)
  elseif own.required and not own.from then
    value = kind.placeholder or value
  else
    value = nil
  end
  if is_secret and value then
    raw.params.hide(value)
  end
  raw.params.declare(rule, name, kind and kind.words or words, own.default ~= nil and fallback or nil,
    not lacks and (is_secret and SECRET or text) or nil, source or lacks and own.from or nil, own.help or "",
    param_types.bounds(own), own.from, is_secret, own.required, lacks and own.required and not own.from or false)
  return value
end

-- --- values that a Secret of the cluster has

-- Why the last setting that was read and follows a Secret is nil, and who is told at once.
local missing, tell

function params.missing()
  return missing
end

function params.forget_missing(told)
  missing, tell = nil, told
end

-- The value is read when it is asked for: it follows the Secret.
local function follow(where, name, own)
  local ns, secret, key = string.match(own.from, "^secret:([^/]+)/([^/]+)/([^/]+)$")
  if not ns then
    raw.raise(where .. ': from must have the form "secret:NAMESPACE/NAME/KEY", not "' .. own.from .. '"')
  end
  local informer = require("k8s.factory").informer("secrets", {
    namespace = ns,
    field_selector = "metadata.name=" .. secret,
    shard = false, -- each replica needs it
  })
  local lister = informer:lister()
  return function()
    local object = lister:get(ns .. "/" .. secret)
    local text = object and object.data and object.data[key]
    local value = text and raw.base64.decode(text)
    if value then
      raw.params.hide(value)
      return value
    end
    local what = object and " has no key " .. key or " does not exist, or was not read yet"
    missing = "settings." .. name .. ": the secret " .. ns .. "/" .. secret .. what
    if tell then
      tell()
    end
    if own.required then
      raw.raise(missing)
    end
  end
end

-- --- all of them

-- A name that was not declared is a mistake, and would read as nil.
local function unknown_of(what, declared, content)
  local owner, single = "rule", "parameter"
  if what == "settings" then
    owner, single = "script", "setting"
  end
  return function(_, name)
    if next(declared) == nil then
      raw.raise(what .. ": the " .. owner .. " declares no " .. single .. "s, found " .. tostring(name))
    elseif declared[name] == nil then
      require "k8s.unknown"(what, name, declared, single)
    end
    return content[name] and content[name]()
  end
end

-- The table `params` as the functions of the rule get it.
function params.all(where, rule, declared)
  local values = {}
  for _, name in ipairs(sorted_names(where, declared, "a rule")) do
    local place = where .. ": " .. name
    local own = read_options(place, declared[name])
    if own.from then
      raw.raise(place .. ": from is for k8s.params")
    end
    values[name] = resolve(place, rule, name, own)
  end
  return freeze("params", setmetatable(values, { __index = unknown_of("params", declared, {}) }))
end

-- k8s.params { webhook = { type = "url", required = true, help = "..." }, threshold = 5 }: the settings of the script.
-- While the script loads only.
function params.script(declared)
  local where = "k8s.params"
  raw.check_loading(where)
  if type(declared) ~= "table" then
    raw.raise(where .. ": expected a table, not " .. type(declared))
  end
  local values, followed, kept = {}, {}, {}
  for _, name in ipairs(sorted_names(where, declared, "a script")) do
    local place = where .. ": " .. name
    local own = read_options(place, declared[name])
    kept[name] = true
    values[name] = resolve(place, nil, name, own)
    if own.from and values[name] == nil then
      followed[name] = follow(place, name, own)
    end
    if own.type == "secret" and values[name] == nil then
      unset[#unset + 1] = name
    end
    plan.add("param", name, plan.text(own, { help = true }))
  end
  return freeze("settings", setmetatable(values, { __index = unknown_of("settings", kept, followed) }))
end

return params
