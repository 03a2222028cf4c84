-- Calls: which function is meant, what it gets, and what it returns.
local ctype = require "tool.source.ctype"
local types = require "tool.source.types"
local results = require "tool.source.results"

local calls = {}

-- --- functions of Lua

local builtins = {}

function builtins:require(node)
  local name = node[2] and node[2].tag == "String" and node[2][1]
  if self.api.classes[name] then return { tag = "class", name = name } end
  return types.ANY
end

local CALLS = { Call = true, Invoke = true }

function builtins:assert(node)
  self.testing = CALLS[(node[2] or node).tag] and node[2] or nil
  local found = self:list { unpack(node, 2) }
  self.testing = nil
  local first = found[1] or types.ANY
  self:look_at(first)
  return types.checked(first), { found[2] }
end

function builtins:setmetatable(node)
  local found = self:list { unpack(node, 2) }
  local object, meta = found[1], found[2]
  if object and meta and object.tag == "shape" and meta.tag == "shape" and object.shape ~= meta.shape then
    object.shape.parent = meta.shape
  end
  return object or types.ANY
end

-- Reports an iterator, as lister:list returns it, where a table is meant.
function calls:check_iterator(node, type, message)
  if type.tag == "fun" and type.ctype and #type.ctype.params == 0 then self:error(node, "%s", message) end
end

local function check_walk(self, node, type)
  self:check_iterator(node, type, node[1][1] .. " of an iterator: write for ... in without it")
end

-- Functions that walk over a value find nothing wrong with one that may be nil.
local function walk_over(self, node)
  if node[2] then check_walk(self, node, self:base(node[2])) end
  for i = 3, #node do self:expr(node[i]) end
  return types.ANY
end

builtins.ipairs, builtins.pairs, builtins.next, builtins.unpack = walk_over, walk_over, walk_over, walk_over

function builtins:tostring(node)
  self:list { unpack(node, 2) }
  return types.STRING
end

-- A variable may have been looked at by a pattern.
function builtins:tonumber(node)
  local found = self:list { unpack(node, 2) }
  local is_read = node[2] and node[2].tag ~= "Id" and found[1] and types.is_free_text(found[1])
  return { tag = "number", unchecked = is_read and "tonumber" or nil }
end

function builtins:type(node)
  self:look_at(self:list({ unpack(node, 2) })[1])
  return types.STRING
end

-- What a function of table calls gets its items.
local function call_with_items(self, node)
  local list, fn = self:expr(node[2]), node[3] and self:expr(node[3])
  for i = 4, #node do self:expr(node[i]) end
  if fn and fn.def then self:note_call(fn.def, { types.item(list), types.item(list) }) end
  return types.ANY
end

local function is_sort(self, callee)
  return callee.tag == "Index" and callee[1].tag == "Id" and callee[1][1] == "table" and not self:find "table"
    and callee[2][1] == "sort"
end

-- --- loops

local ITERATORS = { ipairs = true, pairs = true }

local OVER = {
  list = "an array, which cannot be called: write ipairs(...)", map = "a map, which cannot be called: write pairs(...)",
}

function calls:check_loop(node, over)
  local what = OVER[over.tag == "array" and "list" or over.tag == "kube" and over.node.form]
  if what then self:error(node, "the loop is over %s", what) end
end

-- The types of the variables of a loop.
function calls:iterated(list)
  local first = list[1]
  local name = first.tag == "Call" and first[1].tag == "Id" and ITERATORS[first[1][1]] and first[1][1]
  if name and first[2] and not self:find(name) then
    local type = self:base(first[2])
    check_walk(self, first, type)
    for i = 3, #first do self:expr(first[i]) end
    local is_object = type.tag == "kube" and type.node.form == "object" or type.tag == "shape" and name == "pairs"
    return { name == "ipairs" and types.NUMBER or types.ANY, is_object and types.ANY or types.item(type) }
  end
  local found = self:list(list)
  local over = found[1] or types.ANY
  if #list == 1 then self:check_loop(first, over) end
  if over.tag == "fun" and over.ctype then
    local given = {}
    for i, type in ipairs(over.ctype.returns) do given[i] = types.convert(self.api, type, over.of) end
    return given
  end
  if over.tag == "class" and over.name == "k8s.Watch" then return { { tag = "class", name = "k8s.WatchEvent" } } end
  return {}
end

-- --- calls of the API

-- The name of a function for messages: "k8s.get", "lister:get".
local function name_of(fn)
  if fn.is_method then return fn.class.name:match("[%w_]+$"):lower() .. ":" .. fn.name end
  return fn.class.name .. "." .. fn.name
end

local function check_place(self, node, fn)
  local contexts = self.fn.contexts
  for context, place in pairs(self.PLACES) do
    if fn.waits and contexts[context] then
      self:error(node, "%s waits, and must not be called in %s", name_of(fn), place)
      return
    end
  end
  if fn.waits and contexts.load then
    self:error(node, "%s waits, and must not be called while the file loads", name_of(fn))
  elseif fn.loads and contexts.run and not contexts.load then
    self:error(node, "%s may be called only while the file loads", name_of(fn))
  end
end

local CACHES = { ["k8s.Lister"] = true, ["k8s.Query"] = true, ["k8s.GroupQuery"] = true }
local READS = {
  list = true, list_all = true, count = true, get = true, by_index = true, index_keys = true, index_values = true,
  rows = true, each = true, sum = true,
}

local function check_cache(self, node, fn)
  if CACHES[fn.class.name] and READS[fn.name] and self.fn.contexts.load then
    self:warning(node, "%s reads a cache that is empty while the file loads; read it in k8s.main or a handler",
      name_of(fn))
  end
end

local function is_missing(self, param)
  if param.optional or param.name == "..." then return false end
  for _, member in ipairs(self:members(param.type)) do
    if member.tag == "any" or member.tag == "nil" then return false end
  end
  return true
end

local function ends_open(list)
  local last = list[#list]
  return last and (last.tag == "Call" or last.tag == "Invoke" or last.tag == "Dots")
end

local function check_count(self, node, fn, list)
  local last = fn.params[#fn.params]
  local extra = list[#fn.params + 1]
  if extra and extra.tag ~= "Nil" and extra.tag ~= "Dots" and not (last and last.name == "...") then
    self:error(extra, "%s takes %s", name_of(fn), #fn.params == 0 and "no arguments"
      or #fn.params == 1 and "one argument" or #fn.params .. " arguments")
  end
end

local function check_arguments(self, node, fn, list, found, of)
  check_count(self, node, fn, list)
  for i, param in ipairs(fn.params) do
    local argument = list[i]
    if argument then
      self:check_value(argument, found[i] or types.ANY, param.type, param.name, of)
      self:check_option(param.name, argument, found[i] or types.ANY, of, fn.class.name)
    elseif not ends_open(list) and is_missing(self, param) then
      self:error(node, "%s lacks its argument %s", name_of(fn), param.name)
    end
  end
end

local function is_nilable(type)
  for _, member in ipairs(ctype.members(type)) do
    if member.tag == "nil" then return true end
  end
  return false
end

local function has_error(fn)
  if fn.name == "list" and not fn.is_method then return true end -- its second result is a version, too
  local second = fn.returns[2]
  for _, member in ipairs(second and ctype.members(second) or {}) do
    if member.name == "k8s.Error" then return is_nilable(fn.returns[1]) end
  end
  return false
end

-- These return nil for wrong texts only, which are mostly literals or the server's, or by a flag of the operator.
local SURE = { quantity = true, selects = true, decode = true, decode_all = true, history = true }

local function mark_unchecked(fn, type)
  if SURE[fn.name] or not has_error(fn) then return type end
  local marked = {}
  for key, value in pairs(type) do marked[key] = value end
  marked.unchecked = name_of(fn)
  return marked
end

local function call_stub(self, node, fn, list, of, subject)
  local found = self:list(list)
  check_place(self, node, fn)
  check_cache(self, node, fn)
  local special = results[fn.class.name .. "." .. fn.name]
  local given, about
  if special then given, about = special(self, node, list, found, of, subject) end
  of = about or of
  check_arguments(self, node, fn, list, found, of)
  self:check_request(node, fn, list, found)
  local more = {}
  for i = 2, #fn.returns do more[i - 1] = types.convert(self.api, fn.returns[i], of) end
  local first = given or fn.returns[1] and types.convert(self.api, fn.returns[1], of) or types.NIL
  return mark_unchecked(fn, first), more
end

-- --- calls of functions of the script

local function call_defined(self, def, arguments)
  local info = self:note_call(def, arguments)
  local given = info.results_before or info.results
  return given[1] or types.ANY, { unpack(given, 2) }
end

local function call_typed(self, type, list)
  self:list(list)
  local given = {}
  for i, one in ipairs(type.ctype.returns) do given[i] = types.convert(self.api, one, type.of) end
  return given[1] or types.ANY, { unpack(given, 2) }
end

-- A method that was read as a value gets its object as the first argument.
local function call_method_value(self, node, fn, list, of)
  local subject = list[1] and self:expr(list[1])
  return call_stub(self, node, fn, { unpack(list, 2) }, subject and subject.of or of, subject)
end

local function call_value(self, node, type, list)
  if type.stub and type.stub.is_method then return call_method_value(self, node, type.stub, list, type.of) end
  if type.stub then return call_stub(self, node, type.stub, list, type.of) end
  self:let_go(list)
  if type.def then return call_defined(self, type.def, self:list(list)) end
  if type.ctype then return call_typed(self, type, list) end
  self:list(list)
  return type.tag == "string" and types.STRING or types.ANY
end

-- --- methods

local invoke = {}

-- These may have any field, but none of them is a function.
local KEEPS_NO_FUNCTIONS = { ["k8s.State"] = true }

function invoke:class(node, base, name, list)
  local class = self.api.classes[base.name]
  local fn = self:function_of(class, name)
  if fn and fn.is_method then return call_stub(self, node, fn, list, base.of, base) end
  local found = self:list(list)
  if fn then
    self:error(node, "%s is not a method: write %s.%s()", name, base.name, name)
  elseif not class.fields[name] and (not class.open or KEEPS_NO_FUNCTIONS[base.name]) then
    self:error(node, "%s has no method %s%s", base.name, name, self:meant(name, self:methods_of(class)) or "")
  end
  return types.ANY, found and {}
end

function invoke:kube(node, base, name, list)
  local class = self.api.classes["k8s.Object"]
  local fn = self:function_of(class, name)
  if base.root and fn then return call_stub(self, node, fn, list, base, base) end
  self:list(list)
  if base.copy and self.kinds:field(base.node, name) then return types.ANY end
  if types.is_leaf(base) then return types.ANY end
  if base.root then
    self:error(node, "objects have no method %s%s", name, self:meant(name, self:methods_of(class)) or "")
  elseif not base.copy then
    self:error(node, "%s has no methods: only whole objects have; use k8s.object.%s", base.path,
      fn and name or "get")
  end
  return types.ANY
end

function invoke:shape(_, base, name, list)
  local type = base.shape:get(name)
  local found = self:list(list)
  self:let_go(list)
  if not type or not type.def then return types.ANY end
  table.insert(found, 1, base)
  return call_defined(self, type.def, found)
end

-- Returns the type of the first result, and those of the others.
function calls:call(node)
  if node.tag == "Invoke" then
    local base = self:base(node[1])
    local list = { unpack(node, 3) }
    local method = invoke[base.tag]
    if method then return method(self, node, base, node[2][1], list) end
    self:let_go(list)
    self:list(list)
    return types.ANY
  end
  local callee = node[1]
  local builtin = callee.tag == "Id" and not self:find(callee[1]) and builtins[callee[1]]
  if builtin then return builtin(self, node) end
  if is_sort(self, callee) and node[2] then return call_with_items(self, node) end
  self.callee = callee
  local type = self:expr(callee)
  self.callee = nil
  return call_value(self, node, type, { unpack(node, 2) })
end

return calls
