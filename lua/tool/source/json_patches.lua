-- JSON patches (RFC 6902) that a script writes as tables: operations, what each needs, and paths into the kind.
local json_patches = {}

-- Members that an operation must have, beside its path.
local OPERATIONS = {
  add = "value", replace = "value", test = "value", move = "from", copy = "from", remove = false,
}
local NAMES = { "add", "copy", "move", "remove", "replace", "test" }
local KEYS = { op = true, path = true, value = true, from = true }
local KEY_NAMES = { "from", "op", "path", "value" }

local function text_of(node) return node and node.tag == "String" and node[1] or nil end

-- Steps of a JSON pointer; nil if it is none.
local function steps_of(text)
  if text ~= "" and text:sub(1, 1) ~= "/" then return nil end
  local steps = {}
  for step in text:gmatch "/([^/]*)" do
    if step:gsub("~[01]", ""):find "~" then return nil end
    steps[#steps + 1] = step:gsub("~1", "/"):gsub("~0", "~")
  end
  return steps
end

local function is_index(step) return step == "-" or step:find "^%d+$" ~= nil end

-- Checks that objects of the kind may have what the pointer is to.
local function check_steps(self, at, text, steps, kind)
  local node = kind.root
  for _, step in ipairs(steps) do
    if node.form == "list" and not is_index(step) then
      self:error(at, 'path "%s": %s follows a list: write a number or - before it', text, step)
      return
    end
    local below = node.form == "list" and node.of or self.kinds:field(node, step)
    if not below then
      local names = node.form == "object" and select(2, self.kinds:fields(node)) or {}
      self:error(at, 'path "%s": %s have no field %s%s', text, kind.name, step, self:meant(step, names) or "")
      return
    end
    node = below
  end
end

local function check_pointer(self, at, name, kind)
  local text = text_of(at)
  if not text then return end
  local steps = steps_of(text)
  if not steps then
    self:error(at, '%s "%s" is not a path of a JSON patch, such as /spec/replicas; "/" in a name is ~1', name, text)
  elseif kind then
    check_steps(self, at, text, steps, kind)
  end
end

local function check_operation(self, node, kind)
  local given = self.entries_of(node)
  for _, item in ipairs(node) do
    local key = item.tag == "Pair" and text_of(item[1])
    if key and not KEYS[key] then
      self:error(item, "a JSON patch has no %s%s", key, self:meant(key, KEY_NAMES) or "")
    end
  end
  for _, name in ipairs { "op", "path" } do
    if not given[name] then self:error(node, "an operation of a JSON patch lacks %s", name) end
  end
  local op = text_of(given.op)
  if op and OPERATIONS[op] == nil then
    self:error(given.op, 'a JSON patch has no operation "%s"%s', op,
      self:meant(op, NAMES) or ", but " .. table.concat(NAMES, ", "))
  elseif op and OPERATIONS[op] and not given[OPERATIONS[op]] then
    self:error(node, 'the operation "%s" of a JSON patch lacks %s', op, OPERATIONS[op])
  end
  check_pointer(self, given.path, "path", kind)
  check_pointer(self, given.from, "from", kind)
end

-- Checks the table of a JSON patch; `kind` may be nil.
function json_patches:check_json_patch(node, kind)
  for _, item in ipairs(node) do
    if item.tag == "Table" then
      check_operation(self, item, kind)
    elseif item.tag == "Pair" then
      self:error(item, "a JSON patch is an array of operations: { { op = \"replace\", path = \"/...\", value = ... } }")
      return
    end
  end
end

return json_patches
