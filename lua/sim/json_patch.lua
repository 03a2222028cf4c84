-- JSON patch (RFC 6902) with JSON pointers (RFC 6901): operations are applied one after the other to a copy, which is
-- returned only if all succeed. A place is the parent, a map, a list or nil for the document itself, and the key in it.
local json = require "sim.json"

local at, text = json.at, json.text

-- Limits of the real server; the second stops documents that copy themselves into themselves.
local OPERATIONS_MAX, COPIED_VALUES_MAX = 10000, 1000000

local patch = {}

local function fail(...) error({ text = string.format(...) }, 0) end

-- --- places

-- Digits without a zero in front, or "-" for the place behind the last; nil for anything else.
local function index_of(step, size)
  if step == "-" then return size end
  local index = step:find "^%d+$" and not step:find "^0." and tonumber(step)
  return index and index <= size and index or nil
end

local function value_of(document, parent, key)
  if parent == nil then return document end
  if type(key) == "number" then return json.element(parent, key) end
  return json.get(parent, key)
end

-- Returns parent and key of a place, whose parent must exist.
local function find(document, pointer)
  if pointer == "" then return end
  if pointer:sub(1, 1) ~= "/" then fail "a JSON pointer begins with a slash" end
  local value, parent, key = document, nil, nil
  for step in (pointer:sub(2) .. "/"):gmatch "([^/]*)/" do
    if step:gsub("~[01]", ""):find "~" then fail "a tilde is followed by 0 or 1" end
    step = step:gsub("~.", { ["~0"] = "~", ["~1"] = "/" })
    local kind = json.type(value)
    if kind ~= "object" and kind ~= "array" then fail('there is nothing to hold "%s"', step) end
    parent, key = value, step
    if kind == "array" then
      key = index_of(step, json.count(value))
      if not key then fail('"%s" is not an index into a list of %d', step, json.count(value)) end
    end
    value = value_of(document, parent, key)
  end
  return parent, key
end

local function is_map(parent) return json.type(parent) == "object" end

-- Of a member that a map does not have, it is null, as in the real server.
local function value_at(document, pointer)
  local parent, key = find(document, pointer)
  local value = value_of(document, parent, key)
  if value == nil and not is_map(parent) then fail "no such value" end
  return value == nil and json.null or value
end

-- --- operations: each returns the document

local operations = {}

function operations.add(document, path, value)
  if path == "" then fail "the document itself cannot be added" end
  local parent, key = find(document, path)
  if is_map(parent) then
    json.set(parent, key, value)
  else
    json.insert(parent, key, value)
  end
  return document
end

function operations.remove(document, path)
  local parent, key = find(document, path)
  if value_of(document, parent, key) == nil then fail "no such value" end
  if parent == nil then fail "the document itself cannot be removed" end
  json.remove(parent, key)
  return document
end

-- A member that a map does not have is added, as in the real server.
function operations.replace(document, path, value)
  local parent, key = find(document, path)
  if not is_map(parent) and value_of(document, parent, key) == nil then fail "no such value" end
  if parent == nil then return value end
  json.set(parent, key, value)
  return document
end

function operations.move(document, path, _, from)
  if from == path then
    local parent, key = find(document, from)
    if value_of(document, parent, key) == nil then fail "no such value" end
    return document
  end
  if path:sub(1, #from + 1) == from .. "/" then fail "a value cannot be moved into itself" end
  local value = value_at(document, from)
  return operations.add(operations.remove(document, from), path, value)
end

local function count_values(value)
  local count, kind = 1, json.type(value)
  if kind ~= "object" and kind ~= "array" then return 1 end
  for _, item in (kind == "object" and json.members or json.each)(value) do count = count + count_values(item) end
  return count
end

function operations.copy(document, path, _, from, work)
  local value = value_at(document, from)
  work.copied = work.copied + count_values(value)
  if work.copied > COPIED_VALUES_MAX then fail "the patch copies too much" end
  return operations.add(document, path, json.copy(value))
end

-- Numbers are the same when their values are: 1 and 1.0 (RFC 6902, section 4.6).
local function same(a, b)
  local x, y, kind = json.number(a), json.number(b), json.type(a)
  if x and y and kind ~= json.type(b) then return x == y end
  if kind ~= json.type(b) then return false end
  if kind ~= "object" and kind ~= "array" then return json.equal(a, b) end
  if json.count(a) ~= json.count(b) then return false end
  for key, value in (kind == "object" and json.members or json.each)(a) do
    local other = kind == "object" and json.get(b, key)
    if kind == "array" then other = json.element(b, key - 1) end
    if other == nil or not same(value, other) then return false end
  end
  return true
end

function operations.test(document, path, value)
  if not same(value_at(document, path), value) then fail "the value is another one" end
  return document
end

local function apply(document, operation, work)
  local op, path, from = at(operation, "op"), at(operation, "path"), at(operation, "from")
  local value = at(operation, "value")
  if type(op) ~= "string" or type(path) ~= "string" then fail "an operation has an op and a path, both strings" end
  if (op == "move" or op == "copy") and type(from) ~= "string" then fail "it needs a from" end
  if not operations[op] then fail "unknown operation" end
  return operations[op](document, path, value == nil and json.null or json.copy(value), from, work)
end

-- Returns a list of true and the result, or of false and why there is none.
function patch.apply(target, list)
  local document, work = json.copy(target), { copied = 0 }
  if json.count(list) > OPERATIONS_MAX then
    return { false, string.format("The allowed maximum operations in a JSON patch is %d, got %d", OPERATIONS_MAX,
      json.count(list)) }
  end
  for i, operation in json.each(list) do
    local ok, result = pcall(apply, document, operation, work)
    if not ok and type(result) ~= "table" then error(result, 0) end
    if not ok then
      return { false, string.format("operation %d (%s %s): %s", i - 1, text(operation, "op"),
        text(operation, "path"), result.text) }
    end
    document = result
  end
  return { true, document }
end

return patch
