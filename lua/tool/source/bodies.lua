-- Bodies that are written: tables against the fields of a kind, wherever a script writes them.
local types = require "tool.source.types"
local kinds = require "tool.source.kinds"

local bodies = {}

local NUMBERS = { integer = true, number = true }

local function check_leaf(self, item, type, node, path)
  local form = node.form
  if type.tag == "string" then
    if NUMBERS[form] or form == "boolean" or form == "list" or form == "object" then
      self:error(item, "%s must be %s, not a string", path, form == "integer" and "an integer" or "a " .. form)
    elseif form == "quantity" then
      local why = self.target.quantity_error(type.value)
      if why then self:error(item, "%s: %s", path, why) end
    elseif type.value then
      self:check_enum(item, { node = node, path = path }, type.value)
    end
  elseif type.tag == "number" and (form == "string" or form == "boolean") then
    self:error(item, "%s must be a %s, not a number", path, form)
  end
end

local check_table

local function check_entry(self, item, node, kind, path, is_patch)
  local value = item.tag == "Pair" and item[2] or item
  if value.tag == "Nil" then
    if is_patch then self:error(item, "%s = nil changes nothing: k8s.null removes a field", path) end
  elseif value.tag == "Table" then
    check_table(self, value, node, kind, path, is_patch)
  else
    local literal = value.tag == "String" and { tag = "string", value = value[1] }
      or value.tag == "Number" and types.NUMBER
    if literal then check_leaf(self, item, literal, node, path) end
  end
end

-- Checks a table that is written for a node.
function check_table(self, written, node, kind, path, is_patch)
  for _, item in ipairs(written) do
    local key = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    local at = key and (path == "" and key or path .. "." .. key) or path .. "[*]"
    local below = kinds.ANY
    if key then
      below = self.kinds:field(node, key)
    elseif item.tag ~= "Pair" then
      below = node.of or kinds.ANY
    end
    if below then
      check_entry(self, item, below, kind, at, is_patch)
    elseif node.form == "object" and not key:find "^%$" then
      self:unknown_field(item, { node = node, kind = kind }, at, key)
    end
  end
end

-- The nodes of the values that a table is written with, by name.
function bodies.entries_of(node)
  local named = {}
  for _, item in ipairs(node) do
    if item.tag == "Pair" and item[1].tag == "String" then named[item[1][1]] = item[2] end
  end
  return named
end

-- Checks a table that is written for a node of a kind.
function bodies:check_table(written, node, kind, is_patch) check_table(self, written, node, kind, "", is_patch) end

-- A table with apiVersion, kind and metadata, wherever it is; a reference to an object has no metadata.
function bodies:check_manifest(node)
  if not self.reports then return end
  local named = bodies.entries_of(node)
  local version, kind = named.apiVersion, named.kind
  if not named.metadata or not version or version.tag ~= "String" or not kind or kind.tag ~= "String" then return end
  local found = self.kinds:of(version[1] .. "/" .. kind[1])
  if found then check_table(self, node, found.root, found, "", false) end
end

-- --- objects of YAML

local function is_table(value) return type(value) == "table" end

-- A text with ${name} in it stands for anything.
local function is_open(value) return type(value) == "string" and value:find("${", 1, true) ~= nil end

local check_value

local function check_map(self, at, value, node, kind, path)
  for key, below in pairs(value) do
    local name = type(key) == "string" and key or nil
    local field = name and self.kinds:field(node, name) or not name and (node.of or kinds.ANY)
    local inner = not name and path .. "[*]" or path == "" and name or path .. "." .. name
    if field then
      check_value(self, at, below, field, kind, inner)
    elseif node.form == "object" and not is_open(name) then
      self:unknown_field(at, { node = node, kind = kind }, inner, name)
    end
  end
end

function check_value(self, at, value, node, kind, path)
  if is_table(value) then return check_map(self, at, value, node, kind, path) end
  local tag = type(value)
  if tag == "string" and not is_open(value) then
    check_leaf(self, at, { tag = tag, value = value }, node, path)
  elseif tag == "number" then
    check_leaf(self, at, types.NUMBER, node, path)
  end
end

-- Checks an object that a text at `at` is, and returns its kind; nil where nobody knows.
function bodies:check_object(at, object)
  local version, name = object.apiVersion, object.kind
  if type(version) ~= "string" or type(name) ~= "string" or is_open(version) or is_open(name) then return nil end
  local kind = self.kinds:of(version .. "/" .. name)
  if kind then check_map(self, at, object, kind.root, kind, "") end
  return kind
end

return bodies
