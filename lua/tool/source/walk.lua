-- Reads a file statement by statement, with the types of its variables. It is read several times: what functions are
-- called with is known after the first time. Findings are those of the last.
local types = require "tool.source.types"

local walk = {}

-- --- variables

function walk:push() self.scope = { vars = {}, parent = self.scope } end
function walk:pop() self.scope = self.scope.parent end

-- A variable that begins as nil or as a table of the script is known well enough by its order.
local WRITTEN = { ["nil"] = true, shape = true }

-- Declares the variable of a node. It may have from its beginning what a loop or another function assigns further down.
function walk:declare(node, type)
  local first = types.checked(type or types.ANY)
  local is_open = not WRITTEN[first.tag]
  if is_open then first = types.join(first, self.given_again_before[node]) end
  local var = { node = node, type = first, unchecked = type and type.unchecked, is_open = is_open }
  var.fn, var.loops = self.fn, self.loops
  self.scope.vars[node[1]] = var
  return var
end

function walk:find(name)
  local scope = self.scope
  while scope do
    if scope.vars[name] then return scope.vars[name] end
    scope = scope.parent
  end
end

-- Whoever looks at a value or at its error has noticed that it may be nil.
local function notice(var)
  if not var then return end
  var.unchecked = nil
  if var.error_of then var.error_of.unchecked = nil end
end

-- Another function may be called when all that is assigned has been.
local function type_of(self, var)
  if var.fn == self.fn or not var.is_open then return var.type end
  return types.join(var.type, self.given_before[var.node])
end

function walk:id(node)
  local var = self:find(node[1])
  if var then
    notice(var)
    return type_of(self, var)
  end
  return self:global(node)
end

-- The value of which something is read: that it may be nil is not noticed thereby.
function walk:base(node)
  local var = node.tag == "Id" and self:find(node[1])
  if not var then
    local type = self:expr(node)
    -- A script may know what its cache has.
    if type.unchecked and type.unchecked ~= "lister:get" then self:report_unchecked(node, type.unchecked) end
    return type
  end
  if var.unchecked then
    self:report_unchecked(node, var.unchecked)
    var.unchecked = nil
  end
  return type_of(self, var)
end

-- --- functions

function walk:info_of(node)
  local info = self.infos[node]
  if not info then
    info = { node = node, before = {}, now = {}, contexts = {}, results = {} }
    self.infos[node] = info
    self.infos[#self.infos + 1] = info
  end
  return info
end

-- Notes that a function is called with these types, from the current one or as `context` tells.
function walk:note_call(def, arguments, context)
  local info = self:info_of(def)
  for i, type in pairs(arguments) do info.now[i] = types.join(info.now[i], types.checked(type)) end
  if context then
    info.contexts[context] = true
  else
    for one in pairs(self.fn.contexts) do info.contexts[one] = true end
  end
  return info
end

function walk:define(node)
  local info, outer = self:info_of(node), self.fn
  self.fn = info
  self:push()
  for i, param in ipairs(node[1]) do
    if param.tag == "Id" then self:declare(param, info.before[i]) end
  end
  info.returns_value = false
  info.results_before, info.results = info.results, {}
  self:block(node[2])
  self:pop()
  self.fn = outer
  return { tag = "fun", def = node }
end

-- --- statements

local statements = {}

function walk:block(block)
  for _, node in ipairs(block) do
    local statement = statements[node.tag]
    if statement then statement(self, node) end
  end
end

function walk:inner(block)
  self:push()
  self:block(block)
  self:pop()
end

function walk:push_loop()
  self.loops = self.loops + 1
  self:push()
end

function walk:pop_loop()
  self:pop()
  self.loops = self.loops - 1
end

-- The types of a list of expressions, of which the last may give several.
function walk:list(list)
  local found = {}
  for i, node in ipairs(list or {}) do
    if i == #list and (node.tag == "Call" or node.tag == "Invoke") then
      local first, more = self:call(node)
      found[i] = first
      for k, type in ipairs(more or {}) do found[i + k] = type end
    else
      found[i] = self:expr(node)
    end
  end
  return found
end

function statements:Local(node)
  self:let_go(node[2])
  local found = self:list(node[2])
  local first
  for i, name in ipairs(node[1]) do
    local var = self:declare(name, found[i] or (node[2] and types.ANY or types.NIL))
    if i == 2 and first.unchecked then var.error_of = first end
    first = first or var
  end
end

function statements:Localrec(node)
  local var = self:declare(node[1][1])
  var.type = { tag = "fun", def = node[2][1] }
  self:define(node[2][1])
end

local function assign(self, target, type)
  if target.tag == "Index" then return self:assign_field(target, type) end
  local var = self:find(target[1])
  if not var then return self:assign_global(target, type) end
  local given = types.checked(type)
  var.type = types.join(var.type, given)
  self.given[var.node] = types.join(self.given[var.node], given)
  if var.fn ~= self.fn or var.loops < self.loops then
    self.given_again[var.node] = types.join(self.given_again[var.node], given)
  end
  var.unchecked = type.unchecked
  return var
end

function statements:Set(node)
  local target = node[1][1]
  -- "function x:y()" may call itself.
  if node[2][1].tag == "Function" and target.tag == "Index" then
    self:assign_field(target, { tag = "fun", def = node[2][1] })
  end
  self:let_go(node[2])
  local found = self:list(node[2])
  local first
  for i, one in ipairs(node[1]) do
    local var = assign(self, one, found[i] or types.ANY)
    if i == 2 and first and var and first.unchecked then var.error_of = first end
    if i == 1 then first = var end
  end
end

function statements:Call(node) self:call(node) end
function statements:Invoke(node) self:call(node) end
function statements:Do(node) self:inner(node) end

function statements:If(node)
  for i = 1, #node - 1, 2 do
    self:test(node[i])
    self:inner(node[i + 1])
  end
  if #node % 2 == 1 then self:inner(node[#node]) end
end

function statements:While(node)
  self:push_loop()
  self:test(node[1])
  self:inner(node[2])
  self:pop_loop()
end

function statements:Repeat(node)
  self:push_loop()
  self:block(node[1])
  self:test(node[2])
  self:pop_loop()
end

function statements:Fornum(node)
  for i = 2, #node - 1 do self:expr(node[i]) end
  self:push_loop()
  self:declare(node[1], types.NUMBER)
  self:inner(node[#node])
  self:pop_loop()
end

function statements:Forin(node)
  local found = self:iterated(node[2])
  self:push_loop()
  for i, name in ipairs(node[1]) do self:declare(name, found[i]) end
  self:inner(node[3])
  self:pop_loop()
end

function statements:Return(node)
  local results = self:list(node)
  local info = self.fn
  if #node > 0 then info.returns_value = true end
  for i, type in ipairs(results) do
    if node[i] or i > #node then info.results[i] = types.join(info.results[i], type) end
  end
  if #node > 0 then self:check_return(node) end
end

-- --- the whole

local PASSES = 5

-- Reads the tree until all is known that will be, and reports what the last reading finds.
function walk:run(tree)
  for pass = 1, PASSES do
    self.reports = pass == PASSES
    self.given_before, self.given = self.given, {}
    self.given_again_before, self.given_again, self.loops = self.given_again, {}, 0
    self.scope, self.fn = nil, { contexts = { load = true }, results = {}, is_file = true }
    self:push()
    self:block(tree)
    for _, info in ipairs(self.infos) do info.before, info.now = info.now, {} end
    for _, shape in pairs(self.shapes) do shape:next() end
  end
end

return walk
