-- The structure of core/: its units, who includes and who calls whom, the table of wings, circles, lines.
-- A unit is a .c file with the .h of the same name; a header alone is one too. Paths are below core/.
local tree = require "tree"

local house = {}

-- "script/vm/state.c" -> "script/vm", "script/vm/state"
function house.wing_of(path) return path:match "^(.*)/[^/]+$" end
function house.unit_of(path) return (path:gsub("%.%w+$", "")) end
function house.layer_of(wing) return wing:match "^[^/]+" end

-- The files of core/ that are C, C++ or headers, sorted, without main.c, which puts all together.
function house.files()
  local list = {}
  for _, path in ipairs(tree.files()) do
    local below = path:match "^core/(.+%.[ch]c?)$"
    if below and below:find "/" then list[#list + 1] = below end
  end
  return list
end

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local function in_layer(layer, name) return name == "." and layer or layer .. "/" .. name end

-- A set of wings with a test for "this wing, or a wing of this layer".
local function sees_any(names, wing)
  return names[wing] or names[house.layer_of(wing)]
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

-- Reads core/wings: { order = { wing ... }, wings = { [wing] = { layer, siblings, also, text } },
-- layers = { [layer] = { sees, but } } }
function house.table_of_wings()
  local result = { order = {}, wings = {}, layers = {} }
  local layer
  for number, line in tree.lines "core/wings" do
    local named, sees = line:match "^layer (%S+)%s*(.-)%s*$"
    local wing, more = line:match "^  also (%S+)%s+(.+)$"
    if named then
      local seen, but = sees:match "^sees (.-) but (.+)$"
      layer = named
      seen = seen or sees:match "^sees (.+)$"
      result.layers[layer] = { sees = set_of(words(seen or "")), but = set_of(words(but or "")) }
    elseif wing then
      local entry = result.wings[in_layer(layer, wing)]
      for _, name in ipairs(words(more)) do entry.also[name] = true end
    elseif line:find "^  %S" then
      local name, siblings, text = line:match "^  (%S+)%s%s+(.-)%s%s+(.+)$"
      if not name then
        tree.finding("core/wings", number, "a row has three columns, two blanks or more between them")
      else
        local full, set = in_layer(layer, name), {}
        for _, sibling in ipairs(words(siblings)) do
          if sibling ~= "-" then set[in_layer(layer, sibling)] = true end
        end
        result.wings[full] = { layer = layer, siblings = set, also = {}, text = text }
        result.order[#result.order + 1] = full
      end
    end
  end
  return result
end

-- Returns whether the code of wing `from` may name what stands in wing `to`.
function house.may_see(wings, from, to)
  local entry = wings.wings[from]
  if from == to then return true end
  if sees_any(entry.also, to) then return true end
  if house.layer_of(to) == entry.layer then return entry.siblings[to] or false end
  local layer = wings.layers[entry.layer]
  return (layer.sees[house.layer_of(to)] and not layer.but[to]) or false
end

-- Every include of a file of core/ by another: { from, to, line }.
function house.includes(files)
  local list, known = {}, set_of(files)
  for _, path in ipairs(files) do
    for number, line in tree.lines("core/" .. path) do
      local target = line:match '^%s*#%s*include%s*"([^"]+)"'
      if target and known[target] then list[#list + 1] = { from = path, to = target, line = number } end
    end
  end
  return list
end

-- The objects that a build is made of, and the source of each: it keeps those of files that are gone or went to another
-- library.
local function objects_of(build, known)
  local list, file_of = {}, {}
  local commands = io.open(build .. "/compile_commands.json")
  if not commands then return list, file_of end
  for object, file in commands:read("*a"):gmatch " %-o (core/%S+%.o) %-c %S-/core/(%S+)\"" do
    if known[file] then list[#list + 1], file_of[object] = object, file end
  end
  commands:close()
  table.sort(list)
  return list, file_of
end

-- Every call, or use of a variable, between objects of a build: { from, to, names }. `from` and `to` are of `files`.
function house.calls(build, files)
  local owner, wanted, edges, list = {}, {}, {}, {}
  local objects, file_of = objects_of(build, set_of(files))
  local nm = "cd '%s' && nm -A --format=posix %s 2>/dev/null"
  local pipe = io.popen(#objects > 0 and nm:format(build, table.concat(objects, " ")) or "true")
  for line in pipe:lines() do
    local object, name, kind = line:match "^(.-%.o): (%S+) (%a)"
    local file = file_of[object]
    if file and kind:find "[TDRBVW]" then
      owner[name] = file
    elseif file and kind == "U" then
      wanted[#wanted + 1] = { file = file, name = name }
    end
  end
  pipe:close()
  for _, use in ipairs(wanted) do
    local to = owner[use.name]
    if to and to ~= use.file then
      local key = use.file .. "\0" .. to
      if not edges[key] then
        edges[key] = { from = use.file, to = to, names = {} }
        list[#list + 1] = edges[key]
      end
      table.insert(edges[key].names, use.name)
    end
  end
  return list
end

-- Strongly connected components of more than one node, largest first. `edges` are pairs { from, to } of names.
function house.circles(edges)
  local next_of, nodes = {}, {}
  local function node(name)
    if not next_of[name] then
      next_of[name] = {}
      nodes[#nodes + 1] = name
    end
  end
  for _, edge in ipairs(edges) do
    node(edge[1])
    node(edge[2])
    table.insert(next_of[edge[1]], edge[2])
  end
  table.sort(nodes)
  local index, low, on_stack, stack, found, counter = {}, {}, {}, {}, {}, 0
  local function visit(name) -- Tarjan's
    counter = counter + 1
    index[name], low[name] = counter, counter
    stack[#stack + 1], on_stack[name] = name, true
    for _, other in ipairs(next_of[name]) do
      if not index[other] then
        visit(other)
        low[name] = math.min(low[name], low[other])
      elseif on_stack[other] then
        low[name] = math.min(low[name], index[other])
      end
    end
    if low[name] ~= index[name] then return end
    local circle = {}
    repeat
      local member = table.remove(stack)
      on_stack[member] = nil
      circle[#circle + 1] = member
    until member == name
    table.sort(circle)
    if #circle > 1 then found[#found + 1] = circle end
  end
  for _, name in ipairs(nodes) do
    if not index[name] then visit(name) end
  end
  table.sort(found, function(a, b) return #a > #b or #a == #b and a[1] < b[1] end)
  return found
end

-- Edges between units, from edges between files.
function house.unit_edges(edges)
  local list = {}
  for _, edge in ipairs(edges) do
    local from, to = house.unit_of(edge.from), house.unit_of(edge.to)
    if from ~= to then list[#list + 1] = { from, to } end
  end
  return list
end

function house.wing_edges(edges)
  local list = {}
  for _, edge in ipairs(edges) do
    local from, to = house.wing_of(edge.from), house.wing_of(edge.to)
    if from ~= to then list[#list + 1] = { from, to } end
  end
  return list
end

-- Lines of a C file: all, of code, of comments (a line of both is code), blank.
function house.count_lines(text)
  local count = { all = 0, code = 0, comment = 0, blank = 0 }
  local in_comment = false
  for line in text:gmatch "([^\n]*)\n" do
    local has_code, has_comment, at = false, in_comment, 1
    while at <= #line do
      if in_comment then
        local _, last = line:find("*/", at, true)
        in_comment, at = not last, (last or #line) + 1
      else
        local first = line:find("%S", at)
        if not first then break end
        local two = line:sub(first, first + 1)
        if two == "/*" then
          in_comment, has_comment, at = true, true, first + 2
        elseif two == "//" then
          has_comment = true
          break
        elseif line:sub(first, first) == '"' then
          local last = line:match('^"[^"\\]*()', first + 0)
          while last and line:sub(last, last) == "\\" do last = line:match('^[^"\\]*()', last + 2) end
          has_code, at = true, (last or #line) + 1
        else
          has_code, at = true, first + 1
        end
      end
    end
    count.all = count.all + 1
    local kind = has_code and "code" or has_comment and "comment" or "blank"
    count[kind] = count[kind] + 1
  end
  return count
end

-- Returns how many members `struct TAG` has, and its header; nil where no header defines it. Those that one declaration
-- names together count each, a part without a struct of its own counts as one.
function house.struct_fields(files, tag)
  for _, path in ipairs(files) do
    local body = path:find "%.h$" and tree.read("core/" .. path):match("\nstruct " .. tag .. " (%b{});")
    if body then
      body = body:gsub("/%*.-%*/", ""):sub(2, -2):gsub("%b()", ""):gsub("%b[]", ""):gsub("%b{}", "")
      local count = 0
      for declaration in body:gmatch "[^;]+" do
        if declaration:find "%S" then count = count + 1 + select(2, declaration:gsub(",", "")) end
      end
      return count, path
    end
  end
end

return house
