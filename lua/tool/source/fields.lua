-- Fields and methods: reading them, writing them, and those that do not exist.
local types = require "tool.source.types"

local fields = {}

-- The function of a class or of its parents.
function fields:function_of(class, name)
  while class do
    if class.functions[name] then return class.functions[name] end
    class = self.api.classes[class.parent]
  end
end

-- Names of fields or functions of a class that `keep` accepts.
local function names_of(self, class, keep)
  local names = {}
  while class do
    for name in pairs(class.fields) do names[#names + 1] = name end
    for name, fn in pairs(class.functions) do
      if keep(fn) then names[#names + 1] = name end
    end
    class = self.api.classes[class.parent]
  end
  table.sort(names)
  return names
end

local function is_method(fn) return fn.is_method end
local function any() return true end

function fields:methods_of(class) return names_of(self, class, is_method) end
function fields:names_of(class) return names_of(self, class, any) end

local function field_of_class(self, class, name)
  while class do
    if class.fields[name] then return class.fields[name].type end
    if class.open then return class.open end
    class = self.api.classes[class.parent]
  end
end

-- --- objects

local function describe(type) return type.kind and type.kind.name or "this object" end

function fields:unknown_field(node, type, path, name)
  local _, names = self.kinds:fields(type.node)
  self:error(node, "%s have no field %s%s", describe(type), path, self:meant(name, names) or "")
end

local function report_dot(self, node, name)
  local base = node[1].tag == "Id" and node[1][1] or ""
  self:error(node, "%s is a method: write %s:%s()", name, base, name)
end

local function method_of_object(self, node, name)
  local fn = self:function_of(self.api.classes["k8s.Object"], name)
  if fn then report_dot(self, node, name) end
  return fn
end

local function path_of(type, name) return type.path == "" and name or type.path .. "." .. name end

-- The value of a field of an object, reported if there is none.
local function object_field(self, node, type, name)
  local path = path_of(type, name)
  local found = self.kinds:field(type.node, name)
  if found then return types.inside(type, found, path, self:absence_of(type, name, path)) end
  if type.node.form ~= "object" or type.root and method_of_object(self, node, name) then return types.ANY end
  if not self.added[name] then self:unknown_field(node, type, path, name) end
  return types.ANY
end

-- --- reading

local readers = {}

local function check_first(self, node)
  if node[2].tag == "Number" and tonumber(node[2][1]) == 0 then
    self:error(node, "[0] is nil: the first element of an array is [1]")
  end
end

function readers:kube(node, base, name, key)
  if base.node.form == "list" then check_first(self, node) end
  if name then return object_field(self, node, base, name) end
  return key.tag == "string" and base.node.form == "object" and types.ANY or types.item(base)
end

function readers:array(node, base)
  check_first(self, node)
  return types.item(base)
end

function readers:map(_, base) return types.item(base) end

-- Texts have the functions of string.
function readers:number(node, base, name)
  self:error(node, "a %s has no fields%s", base.tag, name and ": ." .. name or "")
  return types.ANY
end
readers.boolean = readers.number

function readers:shape(_, base, name, key)
  if name then return base.shape:get(name) or types.ANY end
  return key.tag == "number" and types.item(base) or types.ANY
end

function readers:settings(node, base, name)
  if not name then return types.ANY end
  local type = base.fields[name]
  if type and type.follows and self.fn.contexts.load then
    self:warning(node, "%s %s follows a Secret, which is not read yet while the file loads: read it in a function",
      base.what, name)
  end
  if type then return type end
  local names = {}
  for one in pairs(base.fields) do names[#names + 1] = one end
  table.sort(names)
  self:error(node, "%s %s is not declared%s", base.what, name, self:meant(name, names) or "")
  return types.ANY
end

function readers:class(node, base, name)
  local class = self.api.classes[base.name]
  if base.name == "k8s" and name == "null" then return types.NULL end
  if not name then return class.open and types.convert(self.api, class.open, base.of) or types.ANY end
  local fn = self:function_of(class, name)
  if fn then
    if fn.is_method and self.callee == node then report_dot(self, node, name) end
    return { tag = "fun", stub = fn, of = base.of }
  end
  local type = field_of_class(self, class, name)
  if type then return types.convert(self.api, type, base.of) end
  local full = base.name .. "." .. name
  if self.testing == node then
    self.tested[full] = true -- a script that asks whether it is there may call it
  elseif not self.tested[full] then
    self:error(node, "%s has no %s%s", base.name, name, self:meant(name, self:names_of(class)) or "")
  end
  return types.ANY
end

function fields:index(node)
  local base = self:base(node[1])
  local key = node[2]
  local name = key.tag == "String" and key[1] or nil
  local key_type = name and types.STRING or self:expr(key)
  local library = node[1].tag == "Id" and node[1][1]
  if library and not self:find(library) and self.testing ~= node then self:check_library(node, library, name) end
  if base.tag == "null" then return types.ANY end
  local reader = readers[base.tag]
  return reader and reader(self, node, base, name, key_type) or types.ANY
end

-- --- writing

-- A transform may store fields that no object has: those that it assigns, and those of a table that it assigns.
local function add_names(self, name, type)
  if name then self.added[name] = true end
  if type.tag ~= "shape" then return end
  for _, item in ipairs(type.shape.node) do
    if item.tag == "Pair" and item[1].tag == "String" then
      add_names(self, item[1][1], type.shape:get(item[1][1]) or types.ANY)
    end
  end
end

-- The variable that holds what is written to.
local function variable_of(target)
  while target.tag == "Index" do target = target[1] end
  return target.tag == "Id" and target or nil
end

local function assign_object(self, target, base, name, type)
  local path = name and path_of(base, name) or base.path
  if path:find "^status%f[%.%[%z]" and type.tag ~= "nil" and not type.is_null then
    local var = self:variable(variable_of(target))
    if var then self.sets_status[var.node] = true end
  end
  if name then self:note_set(base, name, path_of(base, name)) end
  if not base.copy then
    self:error(target, "objects are read-only views: change a copy (:copy())")
  elseif self.fn.contexts.transform then
    local is_known = name and self.kinds:field(base.node, name)
    add_names(self, not is_known and name or nil, type)
  elseif name and base.node.form == "object" and not self.kinds:field(base.node, name) then
    self:unknown_field(target, base, path_of(base, name), name)
  end
end

function fields:assign_field(target, type)
  local base = self:base(target[1])
  local name = target[2].tag == "String" and target[2][1] or nil
  if not name then self:expr(target[2]) end
  if base.tag == "kube" then
    assign_object(self, target, base, name, type)
  elseif base.tag == "shape" then
    if name then base.shape:set(name, type) else base.shape:set_item(type) end
  elseif base.tag == "settings" or base.tag == "class" and (base.name == "k8s" or base.name == "http") then
    self:error(target, "%s is read-only", base.tag == "settings" and base.what or base.name)
  end
end

-- --- values that may be nil

function fields:report_unchecked(node, call)
  if type(call) == "table" then return self:report_absence(node, call) end
  local name = node.tag == "Id" and node[1] .. ", " or ""
  self:warning(node, "%sthe result of %s%s may be nil: check it, or its error", name, call, name ~= "" and "," or "")
end

return fields
