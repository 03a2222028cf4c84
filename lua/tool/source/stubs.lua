-- The API of scripts, read from the stubs for editors (types/): classes with fields and functions, and aliases. So
-- what `kubelua check` knows of the API is what editors show, which a spec compares with the engine.
local ctype = require "tool.source.ctype"

local reader = {}
reader.__index = reader

local function class_of(self, name)
  local class = self.classes[name]
  if not class then
    class = { name = name, fields = {}, functions = {} }
    self.classes[name] = class
  end
  return class
end

function reader:class(text)
  local name, parent = text:match "^([%w_.]+)%s*:?%s*([%w_.]*)"
  self.current = class_of(self, name)
  if parent ~= "" then self.current.parent = parent end
end

function reader:field(text)
  local key, of = text:match "^%[(%w+)%]%s+(.*)$"
  if key then
    self.current.open = ctype.parse(of)
    return
  end
  local name, mark, rest = text:match "^([%w_]+)(%??)%s+(.*)$"
  if not name then
    name, rest = text:match '^%["(.-)"%]%s+(.*)$'
    mark = "?"
  end
  local type = ctype.parse(rest)
  self.current.fields[name] = { name = name, type = type, optional = mark == "?" }
end

function reader:alias(text)
  local name, of = text:match "^([%w_.]+)%s+(.*)$"
  self.aliases[name] = ctype.parse(of)
end

function reader:param(text)
  local name, mark, rest = text:match "^([%w_.]+)(%??)%s+(.*)$"
  self.params[#self.params + 1] = { name = name, type = ctype.parse(rest), optional = mark == "?" }
end

-- "return" is a word of the language; so the table of tags has another name for it.
function reader:result(text) self.returns[#self.returns + 1] = ctype.parse(text) end

local TAGS = { class = "class", field = "field", alias = "alias", param = "param", ["return"] = "result" }

local function clear(self) self.doc, self.params, self.returns = {}, {}, {} end

-- Adds the function whose comment was read.
local function commit(self, variable, separator, name)
  local class = self.variables[variable]
  if class then
    local doc = table.concat(self.doc, " ")
    class.functions[name] = {
      name = name, class = class, is_method = separator == ":", params = self.params, returns = self.returns,
      waits = doc:find "Waits" ~= nil,
      loads = doc:find "[Ww]hile the script loads" ~= nil or doc:find "while the file loads" ~= nil,
    }
  end
  clear(self)
end

local function read_line(self, line)
  local tag, text = line:match "^%-%-%-@(%w+)%s+(.*)$"
  if tag then
    local method = TAGS[tag]
    if method then self[method](self, text) end
    return
  end
  local doc = line:match "^%-%-%-(.*)$"
  if doc then
    self.doc[#self.doc + 1] = doc
    return
  end
  local variable = line:match "^local ([%w_]+) = {}"
  if variable then
    self.variables[variable] = self.current
    clear(self)
    return
  end
  local of, separator, name = line:match "^function ([%w_]+)([.:])([%w_]+)%("
  if of then
    commit(self, of, separator, name)
  elseif line == "" then
    clear(self)
  end
end

-- `texts` are the contents of types/. Returns { classes, aliases } by name.
return function(texts)
  local self = setmetatable({ classes = {}, aliases = {} }, reader)
  for _, text in ipairs(texts) do
    self.variables = {}
    clear(self)
    for line in text:gmatch "([^\n]*)\n" do read_line(self, line) end
  end
  return self
end
