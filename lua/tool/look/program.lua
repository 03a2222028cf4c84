-- The Lua that `kubelua get` has the engine's prompt run: one text that begins, and one that prints the next objects, a
-- line of JSON each. The engine is held up for one page at a time, and the client asks for the next one when it has
-- read the last.
local program = {}

-- Objects and bytes of a page.
local PAGE = [[
local n, bytes = 0, 0
while n < 300 and bytes < 32768 do
  local object = look_next()
  if not object then
    print "."
    return
  end
  local line = look_line(object)
  print(line)
  n, bytes = n + 1, bytes + #line
end
]]

-- The changes that are there; the first one is waited for.
local CHANGES = [[
local n, bytes, wait = 0, 0, nil
while n < 300 and bytes < 32768 do
  local event, object = look_changes(wait)
  if not event then return end
  local line = look_line(object)
  print(event .. " " .. line)
  n, bytes, wait = n + 1, bytes + #line, "now"
end
]]

-- Of a Secret, each value becomes its size, in `data` without base64. The last applied configuration has them too.
local MASK = [[
local LAST = "kubectl.kubernetes.io/last-applied-configuration"
local function masked(object)
  local copy = object:copy()
  for _, field in ipairs { "data", "stringData" } do
    for key, value in pairs(copy[field] or {}) do
      local text = tostring(value)
      local size = field == "data" and math.floor(#text:gsub("[=%s]", "") * 3 / 4) or #text
      copy[field][key] = ("<%d bytes>"):format(size)
    end
  end
  local annotations = copy.metadata and copy.metadata.annotations
  if annotations and annotations[LAST] then annotations[LAST] = "<hidden>" end
  return copy
end
]]

local WHOLE = [[
function look_line(object)
  return look_masks and k8s.json.encode(masked(object)) or object:json()
end
]]

-- Of a masked Secret paths lead through the copy, which is no view; one that cannot be followed there is hidden.
local PATHS = [=[
local function steps_of(path)
  local steps, at = {}, 1
  while at <= #path do
    local step, stop = path:match("^%.?([^.%[%]'\" ]+)()", at)
    if not step then step, stop = path:match("^%[(%*)%]()", at) end
    if not step then step, stop = path:match("^%['([^']*)'%]()", at) end
    if not step then step, stop = path:match('^%["([^"]*)"%]()', at) end
    if not step then return nil end
    steps[#steps + 1], at = step, stop
  end
  return steps
end
local function follow(value, steps, i, found)
  if i > #steps then
    found[#found + 1] = value
  elseif type(value) == "table" and steps[i] == "*" then
    for _, item in ipairs(value) do follow(item, steps, i + 1, found) end
  elseif type(value) == "table" then
    follow(value[steps[i]], steps, i + 1, found)
  end
end
local function in_copy(copy, path)
  local steps, found = steps_of(path), {}
  if not steps then return "<hidden>" end
  follow(copy, steps, 1, found)
  if path:find("[*]", 1, true) then return found end
  return found[1]
end
function look_line(object)
  local row, copy = {}, look_masks and masked(object)
  for i, path in ipairs(look_paths) do
    local value
    if path == "" then
      value = copy or object
    elseif copy then
      value = in_copy(copy, path)
    else
      value = object:get(path)
    end
    row[i] = value == nil and k8s.null or value
  end
  return k8s.json.encode(row)
end
]=]

local function list_of(texts)
  local quoted = {}
  for i, text in ipairs(texts) do quoted[i] = ("%q"):format(text) end
  return "{ " .. table.concat(quoted, ", ") .. " }"
end

-- A selector by what is hidden would tell what it is.
local REFUSES = [[
if look_masks then error("--field-selector: the data of Secrets is hidden; --show-secrets shows it", 0) end
]]

local function is_about_data(path)
  local first = path:match "^%s*%.?([%w_]+)"
  return first == nil or first == "data" or first == "stringData" or path:find("annotations", 1, true) ~= nil
end

-- The values that a text of a field selector may mean, as Lua: "true" is a boolean too.
local function meanings(text)
  if text == "" then return { "k8s.null" } end
  local list = { ("%q"):format(text) }
  if text == "true" or text == "false" or tonumber(text) then list[2] = text end
  return list
end

-- `what`: kind, namespace, selector, conditions ({ path, operator, value }), names, masks, and paths of whose values an
-- array is printed ("": the object); without them the object is. watches: for program.changes, from now on; only: for
-- nothing else.
function program.begin(what)
  local out = { ("local query = kind(%q):query()\n"):format(what.kind) }
  local function add(text, ...) out[#out + 1] = text:format(...) .. "\n" end
  -- By the cache's kind: of its objects that may be left out (fields).
  add("look_masks = %s and tostring(kind(%q)) == 'kind secrets'", tostring(what.masks), what.kind)
  if what.namespace then add("query:namespace(%q)", what.namespace) end
  if what.selector then add("query:label(%q)", what.selector) end
  for _, one in ipairs(what.conditions) do
    if is_about_data(one[1]) then out[#out + 1] = REFUSES end
    local values = meanings(one[3])
    if one[2] == "=" then add("query:where(%q, \"in\", { %s })", one[1], table.concat(values, ", ")) end
    for _, value in ipairs(one[2] == "~=" and values or {}) do add("query:where(%q, \"~=\", %s)", one[1], value) end
  end
  if what.names then add("query:where(\"metadata.name\", \"in\", %s)", list_of(what.names)) end
  if what.watches then add("look_changes = kind(%q):watch(query)", what.kind) end
  add("look_next = %s", what.only and "function() end" or "query:each()")
  out[#out + 1] = MASK
  if what.paths then add("look_paths = %s", list_of(what.paths)) end
  out[#out + 1] = what.paths and PATHS or WHOLE
  return table.concat(out)
end

-- A page of the server's Table: its columns and the token of the next page, then a line of namespace, name and cells
-- for each row. Nothing is printed if the server gives none.
local TABLE = [[
local page = kind(%q):table { namespace = %s, name = %s, selector = %s, continue = %s }
if not page or page.kind ~= "Table" then return end
print(k8s.json.encode { page.columnDefinitions, page.metadata.continue or "" })
local rows = page.rows
for i = 1, rows and #rows or 0 do
  local of, cells = rows[i].object.metadata, rows[i].cells
  print(k8s.json.encode { of.namespace or "", of.name, cells })
end
]]

local function or_nil(text) return text and ("%q"):format(text) or "nil" end

-- `what` as of program.begin; `name`: of the only object; `token`: of the page, nil for the first one.
function program.table(what, name, token)
  return TABLE:format(what.kind, or_nil(what.namespace), or_nil(name), or_nil(what.selector), or_nil(token))
end

program.page, program.changes = PAGE, CHANGES

return program
