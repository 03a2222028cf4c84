-- What options are about: the objects of a rule, its parameters and other objects; and the texts among them.
local types = require "tool.source.types"

local subjects = {}

-- --- settings

local TYPES = {
  boolean = types.BOOLEAN, number = types.NUMBER, integer = types.NUMBER, string = types.STRING, url = types.STRING,
  duration = types.NUMBER, secret = types.STRING, list = { tag = "array", of = types.STRING },
}

-- A secret that a Secret of the cluster has: `follows`.
local FOLLOWS = { tag = "string", follows = true }

local LITERAL = { boolean = "boolean", number = "number", integer = "number", string = "string", url = "string" }

-- The option default of a declared setting.
local function default_in(pair)
  for _, item in ipairs(pair[2]) do
    if item.tag == "Pair" and item[1][1] == "default" then return item end
  end
  return pair
end

local function type_of_setting(self, declared, node)
  if declared.tag ~= "shape" then return declared.tag == "string" and types.STRING or declared end
  local shape = declared.shape
  local written, default = shape:get "type", shape:get "default"
  if not written and not default then return shape.items and { tag = "array", of = shape:item() } or types.ANY end
  if not written then return default.tag == "string" and types.STRING or default end
  local wanted = LITERAL[written.value]
  if wanted and default and default.tag ~= wanted and default.tag ~= "any" and node then
    self:error(default_in(node), "setting %s: the default is a %s, not a %s", node[1][1], default.tag, wanted)
  end
  return written.value == "secret" and shape:get "from" and FOLLOWS or TYPES[written.value] or types.ANY
end

local UNKNOWN = setmetatable({}, { __index = function() return types.ANY end })

-- The types of declared settings or parameters by name; of one declaration always the same table.
function subjects:settings_of(declared)
  if not declared or declared.tag ~= "shape" then return UNKNOWN end
  local shape = declared.shape
  shape.settings = shape.settings or {}
  for _, item in ipairs(shape.node) do
    local name = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    if name then shape.settings[name] = type_of_setting(self, shape:get(name) or types.ANY, item) end
  end
  return shape.settings
end

-- --- rules

local function finder(self, use)
  local kind = use and use.tag == "shape" and use.shape:get "kind"
  local of = types.object(kind and kind.value and self.kinds:of(kind.value) or nil)
  local array = { tag = "array", of = { tag = "name", name = "k8s.Object" } }
  return { tag = "fun", ctype = { tag = "fun", params = {}, returns = { array } }, of = of }
end

local function finders_of(self, uses)
  if not uses or uses.tag ~= "shape" then return nil end
  local shape = uses.shape
  shape.finders = shape.finders or {}
  for _, item in ipairs(shape.node) do
    local name = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    if name and not shape.finders[name] then shape.finders[name] = finder(self, shape:get(name)) end
  end
  return shape.finders
end

local function only_kind(self, list)
  local node = list and list.tag == "shape" and list.shape.node
  if not node or #node ~= 1 or node[1].tag ~= "String" then return nil end
  return self.kinds:of(node[1][1])
end

local about = {}

about["k8s.RuleOptions"] = function(self, shape)
  local params, finders = shape:get "params", finders_of(self, shape:get "uses")
  self.rule = {
    params = params and { tag = "settings", fields = self:settings_of(params), what = "parameter" } or types.ANY,
    use = finders and { tag = "settings", fields = finders, what = "object of uses" } or types.ANY,
  }
  return types.object(only_kind(self, shape:get "kinds"))
end

about["k8s.RuleUse"] = function(self, shape)
  local kind = shape:get "kind"
  return types.object(kind and kind.value and self.kinds:of(kind.value) or nil)
end

-- What the options are about: `of`, unless they say it themselves.
function subjects:subject_of(shape, class, of)
  return about[class] and about[class](self, shape) or of
end

-- The parameters of functions of rules.
function subjects:special_params(name, params)
  if name == "check" then
    params[3], params[4] = self.rule.use, self.rule.params
  elseif name == "skip" or name == "fix" then
    params[2] = self.rule.params
  end
  return params
end

-- A writable copy of an object.
function subjects:copy_of(type)
  if not type or type.tag ~= "kube" then return types.ANY end
  if not type.copied then
    type.copied = {
      tag = "kube", node = type.node, kind = type.kind, path = type.path, copy = true, is_sure = type.is_sure,
    }
  end
  return type.copied
end

-- --- texts

local function each_text(node, call)
  for _, item in ipairs(node.tag == "Table" and node or {}) do
    if item.tag ~= "Pair" then call(item) end
  end
end

local texts = {}

function texts:selector(node) self:selector_argument(node) end
function texts:field_selector(node, _, of) self:field_selector_argument(node, of) end
function texts:schedule(node) self:cron_argument(node) end
function texts:max_body(node) self:quantity_argument(node) end
function texts:token(node) self:secret_argument(node, "token") end
function texts:secret(node) self:secret_argument(node, "secret") end

function texts:pattern(node)
  local why = node.tag == "String" and self.target.regex_error(node[1])
  if why then self:error(node, "k8s.regex: %s", why) end
end

function texts:paths(node, _, of)
  each_text(node, function(item) self:path_argument(item, of) end)
end

function texts:path(node, _, of) self:path_argument(node, of) end

function texts:index(node, _, of)
  if node.tag == "String" and node[1] ~= "namespace" and node[1] ~= "key" then self:path_argument(node, of) end
end

function texts:source(node, type, of)
  if node.tag == "String" then self:path_argument(node, of) end
  if type.def then
    local emit = { tag = "fun", ctype = { params = {}, returns = {} } }
    self:note_call(type.def, { of or types.OBJECT, emit }, "index")
  end
end

-- Of k8s.controller: kinds or informers, and paths into their objects.
function texts:watches(node)
  for _, item in ipairs(node.tag == "Table" and node or {}) do
    local key = item.tag == "Pair" and item[2].tag == "String" and item[1]
    local of
    if key and key.tag == "String" then
      local kind = self.kinds:of(key[1])
      of = kind and types.object(kind)
    elseif key then
      of = self:base(key).of
    end
    if of then self:path_argument(item[2], of) end
  end
end

local function where_value(self, node, field)
  if node.tag == "String" and field.tag == "kube" then self:check_enum(node, field, node[1]) end
  if node.tag == "Nil" then self:error(node, "nil is no condition: use k8s.null") end
  each_text(node, function(item) where_value(self, item, field) end)
end

local EQUALITY = { ["="] = true, ["=="] = true, ["~="] = true, ["!="] = true, ["in"] = true }

-- The value that a query compares a field with; its path is an option that is checked by its name.
function subjects:compared_values(path, operator, value, of)
  if not value or operator.tag ~= "String" or not EQUALITY[operator[1]] or value.tag == "Nil" then return end
  local reports = self.reports
  self.reports = false
  local field = self:path_argument(path, of)
  self.reports = reports
  where_value(self, value, field.tag == "array" and field.of or field)
end

function texts:where(node, _, of)
  for _, item in ipairs(node.tag == "Table" and node or {}) do
    if item.tag == "Pair" then
      local found = self:path_argument(item[1], of, true)
      where_value(self, item[2], found.tag == "array" and found.of or found)
    end
  end
end

local BY_NAME = {
  selector = texts.selector, fields = texts.paths, prune = texts.paths, changed = texts.paths, where = texts.where,
  source = texts.source, path = texts.path, index = texts.index, watches = texts.watches,
  pattern = texts.pattern, field_selector = texts.field_selector, schedule = texts.schedule, max_body = texts.max_body,
  token = texts.token, secret = texts.secret,
}
local SECRETS_OF = { ["k8s.WebhookOptions"] = true, ["k8s.WebhookSignatureOptions"] = true }
local PATHS_OF = {
  ["k8s.Query"] = true, ["k8s.GroupQuery"] = true, ["k8s.FindingOptions"] = true, ["k8s.HandlerOptions"] = true,
}

-- Checks the text of an option, or of an argument, by its name. `class` has it.
function subjects:check_option(name, node, type, of, class)
  if name == "path" and not PATHS_OF[class] then return end
  if name == "fields" and class == "k8s.log" then return end
  if name == "pattern" and class ~= "k8s" then return end
  if class == "k8s.Owned" then return end -- whose index has a name of the script's own
  if (name == "token" or name == "secret") and not SECRETS_OF[class] then return end
  if name == "schedule" and class ~= "k8s" then return end
  local check = BY_NAME[name]
  if check then check(self, node, type, of) end
end

return subjects
