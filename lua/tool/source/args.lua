-- Arguments and options against the types of the stubs: their names, literal values, and what functions among them get,
-- return, and must not do.
local ctype = require "tool.source.ctype"
local types = require "tool.source.types"

local args = {}

-- Where functions run that are passed under these names, and those that must return something.
local CONTEXTS = {
  filter = "filter", transform = "transform", index = "index", check = "rule", skip = "rule", fix = "rule",
  migrate = "migrate",
}
local MUST_RETURN = { filter = true, transform = true, migrate = true }
local PLACES = {
  filter = "a filter", transform = "a transform", index = "an index function", rule = "a rule", migrate = "migrate",
}
args.PLACES = PLACES

-- --- functions

-- The class of the table that a function of this type returns; nil: it returns none that has names of its own.
local function response_of(expected)
  for _, member in ipairs(expected.returns[1] and ctype.members(expected.returns[1]) or {}) do
    if member.tag == "name" and member.name:find "Response$" then return member end
  end
end

-- A function of the script is passed as `name` of a type fun(...).
local function pass_function(self, type, expected, name, of)
  if not type.def then return end
  local params, context = {}, CONTEXTS[name] or "run"
  for i, param in ipairs(expected.params) do
    if param.name ~= "..." then params[i] = types.convert(self.api, param.type, of) end
  end
  if name == "transform" or name == "migrate" then params[1] = self:copy_of(name == "transform" and of or nil) end
  local info = self:note_call(type.def, self:special_params(name, params), context)
  info.response = response_of(expected) or info.response
  if name == "check" then info.is_check = true end
  if name == "fix" and of and of.node then info.fixes = of end
  if MUST_RETURN[name] and info.returns_value == false then
    self:error(type.def, "the function of %s returns nothing", name)
  end
end

-- --- values

local BASIC = { string = "string", number = "number", boolean = "boolean", literal = "string" }

local function kind_of(type)
  if type.tag == "string" or type.tag == "number" or type.tag == "boolean" then return type.tag end
  if type.tag == "shape" then return "table" end
  if type.tag == "fun" then return "function" end
end

local ACCEPTED = {
  array = "table", map = "table", record = "table", table = "table", fun = "function",
}

local function flatten(self, type, found, seen)
  for _, member in ipairs(ctype.members(type)) do
    local alias = member.tag == "name" and self.api.aliases[member.name]
    if alias and not seen[member.name] then
      seen[member.name] = true
      flatten(self, alias, found, seen)
    else
      found[#found + 1] = member
    end
  end
  return found
end

-- The members of a union, with those of aliases.
function args:members(type) return flatten(self, type, {}, {}) end

local OPTION_CLASSES = {
  "Options$", "Handlers$", "^http.Request$", "RuleUse$", "RuleIgnore$", "Limits$", "^k8s.Condition$",
}

-- A class that scripts write as a table.
local function is_options(name)
  for _, pattern in ipairs(OPTION_CLASSES) do
    if name:find(pattern) then return true end
  end
  return false
end

local function accepts(self, members, got)
  for _, member in ipairs(members) do
    local tag = member.tag
    if tag == "any" or (BASIC[tag] or ACCEPTED[tag]) == got then return true end
    if tag == "name" then
      local class = self.api.classes[member.name]
      if not class or got == "table" or class.open then return true end
    end
  end
  return false
end

-- "string or table"; literals are shown as such: 'one of "True", "False", "Unknown"'.
local function names_of(members)
  local names, literals, seen = {}, {}, {}
  for _, member in ipairs(members) do
    local name = BASIC[member.tag] or ACCEPTED[member.tag] or member.name or member.tag
    if member.tag == "literal" then
      literals[#literals + 1] = '"' .. member.value .. '"'
    elseif member.tag ~= "nil" and not seen[name] then
      names[#names + 1], seen[name] = name, true
    end
  end
  if literals[1] and not seen.string then
    table.insert(names, 1, (literals[2] and "one of " or "") .. table.concat(literals, ", "))
  end
  return table.concat(names, " or ")
end

-- Returns the literals of a union that has only literals of texts; nil otherwise.
local function literals(members)
  local values = {}
  for _, member in ipairs(members) do
    if member.tag == "literal" then values[#values + 1] = member.value end
    if member.tag == "string" or member.tag == "any" then return nil end
    if member.tag == "name" then return nil end
  end
  return #values > 0 and values or nil
end

local function check_literal(self, node, members, name)
  local values = literals(members)
  if not values then return end
  for _, value in ipairs(values) do
    if value == node[1] or name == "propagation" and value == node[1]:lower() then return end
  end
  self:error(node, '%s cannot be "%s"%s', name, node[1],
    self:meant(node[1], values) or ", but only " .. table.concat(values, ", "))
end

local DURATIONS = { debounce = true, resync = true, timeout = true }

local function is_duration(type, name)
  if DURATIONS[name] then return true end
  for _, member in ipairs(ctype.members(type)) do
    if member.name == "k8s.Duration" then return true end
  end
  return false
end

-- Whether a table may have any names: a reference is written as a few of them, or as a whole object.
local function takes_any_table(members)
  for _, member in ipairs(members) do
    if member.tag == "table" or member.tag == "any" then return true end
  end
  return false
end

-- ": params.strict" of a variable with fields, for messages.
local function written(node)
  local names = {}
  while node.tag == "Index" and node[2].tag == "String" do
    table.insert(names, 1, node[2][1])
    node = node[1]
  end
  if node.tag ~= "Id" then return "" end
  table.insert(names, 1, node[1])
  return ": " .. table.concat(names, ".")
end

-- Checks one value, written as `node` and called `name`, of the type that is expected.
function args:check_value(node, type, expected, name, of)
  local members = self:members(expected)
  local got = kind_of(type)
  if got and not accepts(self, members, got) then
    self:error(node, "%s must be %s, not %s%s", name, names_of(members), got, written(node))
    return
  end
  if node.tag == "String" then
    if is_duration(expected, name) and not literals(members) then self:duration_argument(node, name) end
    check_literal(self, node, members, name)
  end
  local is_free = takes_any_table(members)
  for _, member in ipairs(members) do
    if member.tag == "fun" then pass_function(self, type, member, name, of) end
    local options = member.tag == "record" or member.tag == "name" and is_options(member.name)
    if options and type.tag == "shape" and not is_free then self:check_options(type, member, name, of) end
    if member.tag == "map" and type.tag == "shape" then self:check_map(type, member, name, of) end
  end
end

-- --- tables

local function record_field(record, key)
  for _, field in ipairs(record.list) do
    if field.name == key then return field end
  end
end

local function known_fields(self, member)
  if member.tag == "record" then
    local names = {}
    for _, field in ipairs(member.list) do names[#names + 1] = field.name end
    return names, function(key) return record_field(member, key) end
  end
  local class = self.api.classes[member.name]
  return self:names_of(class), function(key)
    local one = class
    while one do
      if one.fields[key] then return one.fields[key] end
      one = self.api.classes[one.parent]
    end
  end
end

local function check_required(self, shape, name, names, find)
  for _, one in ipairs(names) do
    local field = find(one)
    if not field.optional and field.type.tag ~= "any" and not shape:get(one) and not shape.items then
      self:error(shape.node, "%s lacks %s", name, one)
    end
  end
end

-- As lua/k8s/nearest.lua has it: a misspelt name of other libraries is near to another option.
local function meant_option(self, key, names)
  local all, has = { unpack(names) }, {}
  for _, name in ipairs(names) do has[name] = true end
  if has.selector and not has.label_selector then all[#all + 1] = "label_selector" end
  local hint = self:meant(key, all) or ""
  return has.label_selector and hint or (hint:gsub('"label_selector"', '"selector"'))
end

-- A table of options: each entry has a place of its own.
function args:check_options(type, member, name, of)
  local names, find = known_fields(self, member)
  local shape = type.shape
  of = self:subject_of(shape, member.name, of)
  for _, item in ipairs(shape.node) do
    local key = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    local field = key and find(key)
    if field then
      local value = shape:get(key) or types.ANY
      self:check_value(item[2], value, field.type, key, of)
      self:check_option(key, item[2], value, of, member.name)
    elseif key and #names > 0 then
      self:error(item, "unknown option %s of %s%s", key, name, meant_option(self, key, names))
    end
  end
  if member.tag == "name" and self.reports then check_required(self, shape, name, names, find) end
end

-- A table whose names are free: `uses`, `watches`.
function args:check_map(type, member, name, of)
  for _, item in ipairs(type.shape.node) do
    local key = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    if key then
      local about = name == "watches" and types.object(self.kinds:of(key)) or of
      self:check_value(item[2], type.shape:get(key) or types.ANY, member.of, name, about)
    elseif item.tag == "Pair" and name == "watches" then
      local about = self:expr(item[1]).of
      self:check_value(item[2], self:expr(item[2]), member.of, name, about)
    end
  end
end

return args
