-- JSON patch (RFC 6902) as Kubernetes applies it: operations one after the other to a copy, which is returned only if
-- all succeed. A place is the parent, a map or a list, and the key in it. What a path leads through is opened, as is
-- what a test compared: Kubernetes keeps all else as it was, so the names of opened maps alone are sorted.
local json = require "sim.json"
local values = require "sim.values"

local at, text = json.at, json.text

-- Limits of the real server; the second stops documents that copy themselves into themselves.
local OPERATIONS_MAX, COPIED_VALUES_MAX = 10000, 1000000

local patch = {}

local function fail(...) error({ text = string.format(...) }, 0) end

-- --- places

-- Counts from the end where it is negative; "-" is the place behind the last, to which something is added. Nil of no
-- index.
local function index_of(step, size, adds)
  local places = adds and size + 1 or size
  if step == "-" then return adds and size or nil end
  local index = step:find "^[+-]?%d+$" and tonumber(step) or places
  if index < 0 then index = index + places end
  return index >= 0 and index < places and index or nil
end

local function is_map(holder) return json.type(holder) == "object" end

local function key_in(holder, step, adds)
  if is_map(holder) then return step end
  local key = index_of(step, json.count(holder), adds)
  return key or fail('"%s" is not an index into a list of %d', step, json.count(holder))
end

local function value_of(holder, key)
  if type(key) == "number" then return json.element(holder, key) end
  return json.get(holder, key)
end

-- Returns parent and key of a place, whose parent must exist. Like Kubernetes it does not look before the first slash,
-- and takes a tilde that escapes nothing for itself.
local function find(document, pointer, work, adds)
  local steps = pointer:match "/(.*)$"
  if not steps then fail "a path has a slash" end
  local holder, last = document, nil
  for step in (steps .. "/"):gmatch "([^/]*)/" do
    if last then holder = value_of(holder, key_in(holder, last)) end
    last = step:gsub("~[01]", { ["~0"] = "~", ["~1"] = "/" })
    if not is_map(holder) and json.type(holder) ~= "array" then fail('there is nothing to hold "%s"', last) end
    work.opened[holder] = true
  end
  return holder, key_in(holder, last, adds)
end

-- Of a member that a map does not have, it is null, as in the real server.
local function value_at(document, pointer, work)
  local value = value_of(find(document, pointer, work))
  return value == nil and json.null or value
end

-- A copy of the value as Kubernetes writes it.
local function written(value, work)
  if not work.opened[value] then return json.copy(value) end
  if not is_map(value) then
    local list = {}
    for i, element in json.each(value) do list[i] = written(element, work) end
    return list
  end
  local map = json.object()
  for _, name in ipairs(values.names(value)) do json.set(map, name, written(json.get(value, name), work)) end
  return map
end

-- --- operations: each returns the document

local operations = {}

function operations.add(document, path, value, work)
  local holder, key = find(document, path, work, true)
  if is_map(holder) then
    json.set(holder, key, value)
  else
    json.insert(holder, key, value)
  end
  return document
end

function operations.remove(document, path, _, work)
  local holder, key = find(document, path, work)
  if value_of(holder, key) == nil then fail "no such value" end
  json.remove(holder, key)
  return document
end

-- A member that a map does not have is added, as in the real server.
function operations.replace(document, path, value, work)
  if path == "" then
    local kind = json.type(value)
    if kind ~= "object" and kind ~= "array" then fail "a document is a map or a list" end
    work.opened[value] = true
    return value
  end
  local holder, key = find(document, path, work)
  json.set(holder, key, value)
  return document
end

function operations.move(document, path, _, work, from)
  local value = value_at(document, from, work)
  return operations.add(operations.remove(document, from, nil, work), path, value, work)
end

local function count_values(value)
  local count, kind = 1, json.type(value)
  if kind ~= "object" and kind ~= "array" then return 1 end
  for _, item in (kind == "object" and json.members or json.each)(value) do count = count + count_values(item) end
  return count
end

function operations.copy(document, path, _, work, from)
  local value = value_at(document, from, work)
  work.copied = work.copied + count_values(value)
  if work.copied > COPIED_VALUES_MAX then fail "the patch copies too much" end
  return operations.add(document, path, written(value, work), work)
end

-- Opens what is there, as it is compared with what was given. Kubernetes compares numbers by their text: 1 is not 1.0,
-- as which a server never writes it.
local function same(there, given, work)
  local kind, other = json.type(there), json.type(given)
  if other == "real" then return json.equal(there, given) and json.number(given) % 1 ~= 0 end
  if kind == "real" then return other == "integer" and json.number(there) == json.number(given) end
  if kind ~= other then return false end
  if kind ~= "object" and kind ~= "array" then return json.equal(there, given) end
  work.opened[there] = true
  if json.count(there) ~= json.count(given) then return false end
  for key, value in (kind == "object" and json.members or json.each)(there) do
    local one = kind == "object" and json.get(given, key)
    if kind == "array" then one = json.element(given, key - 1) end
    if one == nil or not same(value, one, work) then return false end
  end
  return true
end

function operations.test(document, path, value, work)
  local there = path == "" and document or value_at(document, path, work)
  if not same(there, value, work) then fail "the value is another one" end
  return document
end

local function apply(document, operation, work)
  local op, path, from = at(operation, "op"), at(operation, "path"), at(operation, "from")
  local value = at(operation, "value")
  if type(op) ~= "string" or type(path) ~= "string" then fail "an operation has an op and a path, both strings" end
  if (op == "move" or op == "copy") and type(from) ~= "string" then fail "it needs a from" end
  if not operations[op] then fail "unknown operation" end
  return operations[op](document, path, value == nil and json.null or json.copy(value), work, from)
end

-- Returns a list of true and the result, or of false and why there is none.
function patch.apply(target, list)
  local document, work = json.copy(target), { copied = 0, opened = {} }
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
  work.opened[document] = true
  return { true, written(document, work) }
end

return patch
