-- Tables of the API server in `kubelua get`: for kinds whose columns only the server knows, such as those of a
-- CustomResourceDefinition. The cache says which objects are shown, the server what is shown of them.
local columns = require "tool.look.columns"
local program = require "tool.look.program"
local text_table = require "tool.table"

-- Rows of all pages by "namespace/name", and the columns; nil when the server has no table.
local function fetch(command, session, what, name)
  local rows, definitions, token = {}, nil, nil
  repeat
    local page = session:eval(program.table(what, name, token))
    local lines = (page or ""):gmatch "[^\n]+"
    local first = lines()
    if not first then return nil end
    local head = command.parse(first)
    definitions, token = definitions or head[1], head[2]
    for line in lines do
      local row = command.parse(line)
      rows[row[1] .. "/" .. row[2]] = row[3]
    end
  until token == ""
  return rows, definitions
end

-- The places of the columns that are shown: those of other priorities are for -o wide.
local function shown_of(definitions, wide)
  local shown, headings = {}, {}
  for i, column in ipairs(definitions) do
    if wide or column.priority == 0 then
      shown[#shown + 1] = i
      headings[#headings + 1] = tostring(column.name):upper()
    end
  end
  return shown, headings
end

-- Writes a table of these objects, { namespace, name, ... } each, in their order; false when the server has none.
-- Behind the columns of the server are those of what.labels. An object that the server no longer has is left out.
return function(command, session, what, objects)
  local only = #objects == 1 and objects[1]
  local asked = what
  if only then asked = { kind = what.kind, namespace = only[1] ~= "" and only[1] or nil } end
  local by_key, definitions = fetch(command, session, asked, only and only[2])
  if not by_key then return false end
  local shown, headings = shown_of(definitions, what.form == "wide")
  local namespaced = objects[1][1] ~= ""
  if namespaced then table.insert(headings, 1, "NAMESPACE") end
  for _, column in ipairs(what.labels) do headings[#headings + 1] = column[1] end
  local out = text_table.new(unpack(headings))
  for _, object in ipairs(objects) do
    local row = by_key[object[1] .. "/" .. object[2]]
    local cells = namespaced and { object[1] } or {}
    for _, i in ipairs(row and shown or {}) do cells[#cells + 1] = columns.text(row[i]) end
    for i = 3, #object do cells[#cells + 1] = object[i] end
    if row then out:add(unpack(cells)) end
  end
  command.write(out:text(command.view))
  return true
end
