-- Types of expressions, and what is wrong with operators.
local kinds = require "tool.source.kinds"
local types = require "tool.source.types"

local expr = {}
local nodes = {}

local LITERALS = {
  Nil = types.NIL, True = types.BOOLEAN, False = types.BOOLEAN, Number = types.NUMBER, Dots = types.ANY,
}

function expr:expr(node)
  local literal = LITERALS[node.tag]
  if literal then return literal end
  return nodes[node.tag](self, node)
end

function nodes:String(node) return { tag = "string", value = node[1] } end
function nodes:Function(node) return self:define(node) end
function nodes:Paren(node) return self:expr(node[1]) end
function nodes:Id(node) return self:id(node) end
function nodes:Call(node) return (self:call(node)) end
function nodes:Invoke(node) return (self:call(node)) end
function nodes:Index(node) return self:index(node) end

function nodes:Table(node)
  local shape = self.shapes[node]
  if not shape then
    shape = types.new_shape(node)
    self.shapes[node] = shape
  end
  for _, item in ipairs(node) do
    if item.tag == "Pair" then
      local key = item[1].tag == "String" and item[1][1]
      if not key then self:expr(item[1]) end
      local type = self:expr(item[2])
      if key then shape:set(key, type) else shape:set_item(type) end
    else
      shape:set_item(self:expr(item))
    end
  end
  self:check_manifest(node)
  return { tag = "shape", shape = shape }
end

local TESTED = { Index = true, Id = true, Call = true, Invoke = true }

-- A condition: k8s.X may be tested, and what is tested may be nil.
function expr:test(node)
  if not TESTED[node.tag] then return self:expr(node) end
  self.testing = node
  local type = self:expr(node)
  self.testing = nil
  self:look_at(type)
  return type
end

-- --- operators

local ORDER = { lt = true, le = true, gt = true, ge = true }
local EQUAL = { eq = true, ne = true }
local SUMS = { add = true, sub = true, mul = true }

local function is_quantity(type) return type.tag == "class" and type.name == "k8s.Quantity" end
local function is_written(type) return type.tag == "kube" and type.node.form == "quantity" end

-- What is not a quantity for sure.
local function is_other(type)
  return type.tag == "number" or type.tag == "string" or type.tag == "boolean" or types.is_leaf(type)
end

local function check_quantities(self, node, left, right)
  local other = is_quantity(left) and right or is_quantity(right) and left
  if other then
    if is_other(other) then
      self:error(node, "a quantity is compared with %s; convert it with k8s.quantity",
        is_written(other) and other.path or "a " .. (other.tag == "kube" and other.node.form or other.tag))
    end
  elseif ORDER[node[1]] and (is_written(left) or is_written(right)) then
    self:error(node, "%s is a quantity, but is compared as a text; use k8s.quantity",
      is_written(left) and left.path or right.path)
  end
end

local function check_value(self, node, left, right)
  if left.tag == "string" then left, right = right, left end
  if left.tag ~= "kube" or right.tag ~= "string" or not right.value then return end
  self:check_enum(node, left, right.value)
end

-- Reports a value that a field cannot have.
function expr:check_enum(node, field, value)
  local values = kinds.values(field.node)
  if not values or value == "" then return end
  for _, one in ipairs(values) do
    if one == value then return end
  end
  self:error(node, '%s is never "%s"%s', field.path, value, self:meant(value, values) or
    #values <= 8 and "; its values are " .. table.concat(values, ", ") or "")
end

local ARITHMETIC = { add = true, sub = true, mul = true, div = true, mod = true, pow = true }

-- A result that may be nil has no place in arithmetic.
local function operand(self, node)
  local var = node.tag == "Id" and self:find(node[1])
  if not var then
    local type = self:expr(node)
    if type.tag ~= "kube" and type.unchecked then self:report_unchecked(node, type.unchecked) end
    return type
  end
  return var.unchecked and self:base(node) or self:id(node)
end

local function binary(self, node)
  local op = node[1]
  if op == "and" or op == "or" then
    local falls_back = op == "or" and node[3].tag == "Table"
    local left = types.checked(falls_back and self:expr(node[2]) or self:test(node[2]))
    local right = self:test(node[3])
    if op == "and" then return right end
    if right.tag == "shape" and #right.shape.node == 0 then return left end
    return left.tag == "nil" and right or types.join(left, right)
  end
  local read = ARITHMETIC[op] and operand or self.expr
  local left, right = read(self, node[2]), read(self, node[3])
  if ORDER[op] or EQUAL[op] then
    check_quantities(self, node, left, right)
    if EQUAL[op] then
      check_value(self, node, left, right)
      self:look_at(right.tag == "nil" and left or left.tag == "nil" and right or nil)
    end
    return types.BOOLEAN
  end
  if op == "concat" then return types.STRING end
  return SUMS[op] and (is_quantity(left) and left or is_quantity(right) and right) or types.ANY
end

-- A script that counts what may be absent, #(... or {}), has looked at it.
local function len(self, counted)
  local inner = counted.tag == "Paren" and counted[1]
  if not inner or inner.tag ~= "Op" or inner[1] ~= "or" or inner[3].tag ~= "Table" then
    self:check_iterator(counted, self:base(counted), "an iterator has no length: count what it returns, or use a table")
    return
  end
  self:look_at(self:expr(inner[2]))
  self:expr(inner[3])
end

function nodes:Op(node)
  if node[3] then return binary(self, node) end
  if node[1] == "not" then
    self:test(node[2])
    return types.BOOLEAN
  end
  if node[1] == "len" then
    len(self, node[2])
    return types.NUMBER
  end
  return self:expr(node[2])
end

return expr
