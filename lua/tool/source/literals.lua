-- Texts with a grammar of their own that scripts write as literals: field selectors, schedules, quantities, YAML,
-- templates. Where a text is wrong the engine says so when it runs, which may be much later.
local types = require "tool.source.types"

local literals = {}

local function literal(node) return node and node.tag == "String" and node[1] or nil end

-- --- selectors of fields

-- Behind a backslash stands ',', '=' or another: "metadata.name=a\\,b".
local function unescaped(text) return (text:gsub("\\[\\,=]", "__")) end

-- Returns the part of a field selector that is none, as the API server reads them.
local function bad_requirement(text)
  if unescaped(text):find("\\", 1, true) then return text end
  for part in (unescaped(text) .. ","):gmatch "([^,]*)," do
    local name, value = part:match "^([^=!]*)!?==?(.*)$"
    if part ~= "" and (not name or name == "" or value:find("=", 1, true)) then return part end
  end
end

-- A server refuses fields that it does not select by.
local function check_labels(self, node, text, kind)
  if not kind or not kind.field_labels then return end
  local known = {}
  for _, label in ipairs(kind.field_labels) do known[label] = true end
  for part in (unescaped(text) .. ","):gmatch "([^,]*)," do
    local name = part:match "^([^=!]*)"
    if part ~= "" and not known[name] then
      self:error(node, 'field selector "%s": %s are not selected by %s%s', text, kind.name, name,
        self:meant(name, kind.field_labels) or ", but by " .. table.concat(kind.field_labels, ", "))
    end
  end
end

function literals:field_selector_argument(node, of)
  local text = literal(node)
  local part = text and bad_requirement(text)
  if text and not part then check_labels(self, node, text, of and of.kind) end
  if part then
    self:error(node, 'field selector "%s": "%s" is not a requirement, such as metadata.name=x or spec.nodeName!=y',
      text, part)
  end
end

-- --- schedules, quantities, secrets

function literals:cron_argument(node)
  local text = literal(node)
  local why = text and self.target.cron_error(text)
  if why then self:error(node, 'schedule "%s": %s', text, why) end
end

function literals:quantity_argument(node)
  local text = literal(node)
  local why = text and self.target.quantity_error(text)
  if why then self:error(node, "%s", why) end
end

function literals:secret_argument(node, name)
  if literal(node) == "" then self:error(node, "%s must not be empty", name) end
end

-- --- YAML, and objects from it

-- Returns the documents and the type of the object that they are.
function literals:yaml_argument(node, is_alone)
  local text = literal(node)
  if not text then return nil end
  local documents, why = self.target.yaml(text, is_alone)
  if not documents then self:error(node, "yaml: %s", why) end
  local kind
  for _, object in ipairs(documents or {}) do
    if type(object) == "table" then kind = self:check_object(node, object) end
  end
  local is_object = is_alone and kind and kind.is_known
  return documents, is_object and types.written(kind) or nil
end

-- Calls `each` with the names of `${name}` in a text, and `bad` with what begins like one and is none.
local function each_name(text, each, bad)
  local at = 1
  while true do
    at = text:find("${", at, true)
    if not at then return end
    local is_escaped = at > 1 and text:sub(at - 1, at - 1) == "$"
    local name = text:match("^%${([%w_]+)}", at)
    if not is_escaped then
      if name then each(name) else bad(text:sub(at, at + 20)) end
    end
    at = at + 2
  end
end

local function each_text(value, call)
  if type(value) == "string" then call(value) end
  for key, item in pairs(type(value) == "table" and value or {}) do
    if type(key) == "string" then call(key) end
    each_text(item, call)
  end
end

-- Names of a table that was written as one; nil where it may have others.
local function names_of(type)
  if type.tag == "nil" then return {} end
  if type.tag ~= "shape" or type.shape.parent or type.shape:item() ~= types.ANY then return nil end
  local names = {}
  for _, item in ipairs(type.shape.node) do
    local name = item.tag == "Pair" and literal(item[1])
    if not name then return nil end
    names[#names + 1] = name
  end
  return names
end

-- k8s.template(text, values): the names of the text are among the values. Returns the type of the object.
function literals:template_arguments(node, values)
  local documents, object = self:yaml_argument(node, true)
  local names = names_of(values or types.NIL)
  if not documents then return nil end
  each_text(documents, function(text)
    each_name(text, function(name)
      if names and not (values and values.tag == "shape" and values.shape:get(name)) then
        self:error(node, "k8s.template: the values have no %s%s", name, self:meant(name, names) or "")
      end
    end, function(part)
      self:error(node, 'k8s.template: "%s" is not ${name}', part)
    end)
  end)
  return object
end

return literals
