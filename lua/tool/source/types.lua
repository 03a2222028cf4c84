-- Types of values in a script, as tables with a `tag`: "any", "nil", "null", "string" (with `value` of a literal),
-- "number", "boolean", "kube" (a node of an object; `root`: a complete one; `copy`: writable; `is_sure`: it
-- lacks nothing), "array", "map",
-- "class" (of the API; `of`: the objects that it is about), "fun", "shape" (a table of the script) and "settings".
local ctype = require "tool.source.ctype"
local kinds = require "tool.source.kinds"

local types = {}

types.ANY = { tag = "any" }
types.NIL = { tag = "nil" }
types.NULL = { tag = "any", is_null = true }
types.NUMBER = { tag = "number" }
types.STRING = { tag = "string" }
types.BOOLEAN = { tag = "boolean" }
types.OBJECT = { tag = "kube", node = kinds.ANY, root = true, path = "" }

local PARTS = { "node", "root", "copy", "name", "def", "stub", "shape", "fields", "ctype", "kind" }

function types.same(a, b)
  if a == b then return true end
  if not a or not b or a.tag ~= b.tag then return false end
  for _, part in ipairs(PARTS) do
    if a[part] ~= b[part] then return false end
  end
  return types.same(a.of, b.of)
end

-- The type of a value that is there: `unchecked` is the call whose result may be nil, or the { kind, path } of a field
-- that objects may lack.
function types.checked(type)
  if not type.unchecked then return type end
  local checked = {}
  for key, value in pairs(type) do checked[key] = value end
  checked.unchecked = nil
  return checked
end

-- What a value is that is one or the other.
function types.join(a, b)
  if not a or a.tag == "nil" then return b or a end
  if not b or b.tag == "nil" then return a end
  if not types.same(a, b) then return types.ANY end
  if a.tag == "string" and a.value ~= b.value then return types.STRING end
  return a
end

-- The object of a kind; `kind` may be nil.
function types.object(kind)
  if not kind then return types.OBJECT end
  kind.type = kind.type or { tag = "kube", node = kind.root, root = true, kind = kind, path = "" }
  return kind.type
end

-- The same object, of which the script knows what it has.
function types.sure(type)
  if type.tag ~= "kube" then return type end
  local sure = {}
  for key, value in pairs(type) do sure[key] = value end
  sure.is_sure, sure.copied = true, nil
  return sure
end

-- A table that is an object of the kind, without methods; the script knows what it has.
function types.written(kind)
  return { tag = "kube", node = kind.root, kind = kind, path = "", copy = true, is_sure = true }
end

-- A value inside an object; `path` is for messages. `absence` tells of one that the object may lack.
function types.inside(parent, node, path, absence)
  if node.form == "any" then return types.ANY end
  return {
    tag = "kube", node = node, kind = parent.kind, copy = parent.copy, is_sure = parent.is_sure, path = path,
    unchecked = absence,
  }
end

local LEAVES = { string = true, number = true, boolean = true, integer = true, quantity = true }

-- Whether it is a text, a number or a boolean.
function types.is_leaf(type) return type.tag == "kube" and LEAVES[type.node.form] or false end

-- Whether people wrote the text: nobody has checked what it says.
function types.is_free_text(type)
  return type.tag == "kube" and (type.path:find "^metadata%.annotations." or type.path:find "^metadata%.labels.") ~= nil
end

-- The item of an array or a map; ANY where nobody knows.
function types.item(type)
  if type.tag == "array" or type.tag == "map" then return type.of or types.ANY end
  if type.tag == "kube" and type.node.of then return types.inside(type, type.node.of, type.path .. "[*]") end
  if type.tag == "shape" then return type.shape:item() end
  return types.ANY
end

local function is_nothing(member) return member.tag == "nil" or member.tag == "name" and member.name == "k8s.Error" end

local convert

local function convert_name(api, name, of)
  if name == "k8s.Object" then return of or types.OBJECT end
  if name == "k8s.View" or name == "k8s.Params" then return types.ANY end
  if api.aliases[name] then return convert(api, api.aliases[name], of) end
  return api.classes[name] and { tag = "class", name = name, of = of } or types.ANY
end

-- The type of a value for one of LuaCATS. `of` is the object that it is about.
function convert(api, type, of)
  local members, one = ctype.members(type), nil
  for _, member in ipairs(members) do
    if not is_nothing(member) or #members == 1 then
      if one then return types.ANY end
      one = member
    end
  end
  if not one or one.tag == "any" or one.tag == "table" or one.tag == "record" then return types.ANY end
  if one.tag == "name" then return convert_name(api, one.name, of) end
  if one.tag == "literal" then return types.STRING end
  if one.tag == "array" or one.tag == "map" then return { tag = one.tag, of = convert(api, one.of, of) } end
  if one.tag == "fun" then return { tag = "fun", ctype = one, of = of } end
  return { tag = one.tag }
end

types.convert = convert

-- --- tables of the script

local shape = {}
shape.__index = shape

-- A table of the script. What is assigned to it in one reading of the file is known from its beginning in the next.
function types.new_shape(node) return setmetatable({ node = node, before = {}, now = {} }, shape) end

function shape:set(name, type) self.now[name] = types.join(self.now[name], type) end

-- Items have numbers, or names that nobody knows.
function shape:set_item(type) self.items = types.join(self.items, type) end
function shape:item() return self.items_before or self.items or types.ANY end

function shape:get(name)
  local type = self.before[name] or self.now[name]
  if type or not self.parent then return type end
  local index = self.parent:get "__index"
  local from = index and index.tag == "shape" and index.shape or self.parent
  return from ~= self and from:get(name) or nil
end

function shape:next()
  self.before, self.now = self.now, {}
  self.items_before, self.items = self.items, nil
end

return types
