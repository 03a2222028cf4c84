-- `kubelua get`: objects of a running engine's caches, page by page.
local columns = require "tool.look.columns"
local eval = require "tool.look.jsonpath_eval"
local fields = require "tool.look.fields"
local jsonpath = require "tool.look.jsonpath"
local program = require "tool.look.program"
local server_table = require "tool.look.server_table"
local sort = require "tool.look.sort"
local text_table = require "tool.table"
local watch = require "tool.look.watch"

local FORMS_OF_SERVER = { table = true, wide = true }
local FORMS = { table = true, wide = true, json = true, yaml = true, name = true }

-- Conditions of a field selector: "a=b,c!=d".
local function conditions_of(command, selector)
  local list = {}
  for part in ((selector or "") .. ","):gmatch "([^,]*)," do
    local path, operator, value = part:match "^([^!=]+)(!?==?)(.*)$"
    if path then
      list[#list + 1] = { path, operator:sub(1, 1) == "!" and "~=" or "=", value }
    elseif part ~= "" then
      command.fail(command.USAGE, ('--field-selector: "%s" is not PATH=VALUE or PATH!=VALUE'):format(part))
    end
  end
  return list
end

-- The kind, and the other arguments: "deploy web" or, as kubectl has it too, "deploy/web".
local function kind_of(command)
  local arguments = command.arguments
  local kind = arguments[1]:match "^([^/]+)/."
  if not kind then return arguments[1], { unpack(arguments, 2) } end
  local names = {}
  for i, argument in ipairs(arguments) do
    local own, name = argument:match "^([^/]+)/(.+)$"
    if own ~= kind then
      command.fail(command.USAGE, ('"%s" is not %s/NAME: one kind at a time'):format(argument, kind))
    end
    names[i] = name
  end
  return kind, names
end

-- Names, and the namespace if one of them has it.
local function names_of(command, arguments)
  local names, namespace = {}, command.flags.namespace
  for i, argument in ipairs(arguments) do
    local own, name = argument:match "^([^/]+)/(.+)$"
    namespace = own or namespace
    names[i] = name or argument
  end
  return #names > 0 and names or nil, namespace
end

-- Errors of the prompt's Lua, in the words of this command.
local function plain(why)
  return (why:gsub("^repl:%d+: ", ""):gsub("^query:label: selector ", "-l/--selector: ")
    :gsub("; use k8s%.list%b() to query the server$", "; kubelua status lists the caches"))
end

-- Iterates over the lines that the program prints; and a function that runs more of it.
local function lines_of(command, session, text)
  local page, at = "", 1
  local function run(chunk)
    local lines, why = session:eval(chunk)
    if not lines then
      why = plain(why)
      if why == "interrupted" then why = "the engine is shutting down" end -- which ends what waits
      local ended = why:find "shutting down" or why:find "closed the connection"
      command.fail(ended and command.INCOMPLETE or command.USAGE, why)
    end
    return lines
  end
  run(text)
  return function()
    if at > #page then page, at = run(program.page), 1 end
    local stop = page:find("\n", at, true)
    local line = page:sub(at, stop - 1)
    at = stop + 1
    return line ~= "." and line or nil
  end, run
end

-- --- forms

local forms = {}

function forms.json(command, lines, single)
  local n = 0
  if not single then command.write '{"apiVersion":"v1","kind":"List","items":[' end
  for line in lines do
    command.write((n > 0 and ",\n" or single and "" or "\n") .. line)
    n = n + 1
  end
  command.write(single and (n > 0 and "\n" or "") or "\n]}\n")
  return n
end

function forms.yaml(command, lines)
  local n = 0
  for line in lines do
    command.write((n > 0 and "---\n" or "") .. command.yaml(line))
    n = n + 1
  end
  return n
end

local NAME_COLUMNS = { { "", "kind" }, { "", "apiVersion" }, { "", "metadata.name" } }

-- "deployment.apps/web": of kind, apiVersion and name.
local function name_of(command, line)
  local row = command.parse(line)
  local group = tostring(row[2]):match "^([^/]+)/"
  return ("%s%s/%s"):format(row[1]:lower(), group and "." .. group or "", row[3])
end

function forms.name(command, lines)
  local n = 0
  for line in lines do
    command.write(name_of(command, line) .. "\n")
    n = n + 1
  end
  return n
end

local function put_template(command, lines, template, single)
  local n = 0
  local function next_object()
    local line = lines()
    if not line then return nil end
    n = n + 1
    return command.parse(line, true)
  end
  local ok, why = eval.run(template, next_object, single, command.host.quote, command.write)
  if not ok then command.fail(command.USAGE, command.flags.output:gsub("=", " \"", 1) .. '": ' .. why) end
  return n
end

-- By namespace and name, with which the columns of a kind begin: a cache has the order in which objects came.
local function comes_before(one, other)
  if one[1] ~= other[1] then return one[1] < other[1] end
  return one[2] < other[2]
end

local function put_table(command, lines, list, sorts)
  local headings, cells, now = {}, {}, os.time()
  for i, column in ipairs(list) do headings[i] = column[1] end
  local rows = text_table.new(unpack(headings))
  for line in lines do cells[#cells + 1] = columns.cells(list, command.parse(line), now) end
  if sorts then table.sort(cells, comes_before) end
  for _, row in ipairs(cells) do rows:add(unpack(row)) end
  if #cells > 0 then command.write(rows:text(command.view)) end
  return #cells
end

-- --- the command

-- Of a kind: that of its objects, whether it has namespaces, and its resource.
local function look_up(command, session, kind)
  local text = ("local one = kind(%q):query():limit(1):rows()[1]\n"):format(kind)
    .. ("print(one and one.kind or '', one and one.metadata.namespace ~= nil or false, kind(%q))"):format(kind)
  local lines, why = session:eval(text)
  if not lines then command.fail(command.USAGE, plain(why)) end
  local name, namespaced, resource = lines:match "^([^\t]*)\t(%a+)\tkind ([^\n]*)"
  if name ~= "" then return name, namespaced == "true", resource end
  local shown, has_namespaces = columns.kind_of(resource)
  return shown, has_namespaces, resource
end

-- Not an error: a newer server may have the field.
local function warn_of(command, resource, conditions)
  for _, condition in ipairs(conditions) do
    local problem = fields.problem(command.host, resource, condition[1])
    if problem then
      io.stderr:write(("Warning: --field-selector: path %s: %s\n"):format(condition[1], problem))
    end
  end
end

local function form_of(command)
  local form = command.flags.output
  local template = form:match "^jsonpath=(.+)$"
  if template then
    local nodes, why = jsonpath.parse(template)
    if not nodes then command.fail(command.USAGE, why) end
    return "jsonpath", nil, nodes
  end
  local spec = form:match "^custom%-columns=(.+)$"
  if not spec and not FORMS[form] then
    command.fail(command.USAGE,
      ('-o/--output: "%s" is not table|wide|json|yaml|name|custom-columns=HEADING:PATH,...|jsonpath=TEMPLATE'):format(
        form))
  end
  if not spec then return form end
  local list, why = columns.parse(spec)
  if not list then command.fail(command.USAGE, why) end
  return "columns", list
end

local function label_columns_of(command)
  local flags = command.flags
  local form, shows = flags.output, flags["show-labels"]
  if shows and not FORMS_OF_SERVER[form] then
    command.fail(command.USAGE, ("--show-labels option cannot be used with %s printer"):format(form))
  end
  local list, why = columns.of_labels(flags["label-columns"], shows)
  return list or command.fail(command.USAGE, why)
end

-- The order that is asked for; of changes there is none.
local function order_of(command, watches, only)
  local text = command.flags["sort-by"]
  if not text or text == "" then return nil end
  local by, why = sort.parse(text)
  if not by then command.fail(command.USAGE, why) end
  if watches then
    io.stderr:write(only and "Warning: --watch-only requested, --sort-by will be ignored\n"
      or "Warning: --watch requested, --sort-by will be ignored for watch events received\n")
  end
  return by
end

-- The form of the output, and its columns or template.
local function request_of(command)
  local form, list, template = form_of(command)
  local flags = command.flags
  local kind, arguments = kind_of(command)
  local names, namespace = names_of(command, arguments)
  local only = flags["watch-only"]
  local watches = flags.watch or only or flags["output-watch-events"]
  return {
    form = form, columns = list, template = template, names = names, namespace = namespace, only = only,
    kind = kind, selector = flags.selector, masks = not flags["show-secrets"],
    conditions = conditions_of(command, flags["field-selector"]), events = flags["output-watch-events"],
    watches = watches, labels = label_columns_of(command), by = order_of(command, watches, only),
  }
end

-- The lines in the order that is asked for.
local function in_order(command, what, resource, lines)
  if not what.by then return lines end
  local ordered, why, is_absent = sort.lines(command, what.by, lines, not what.paths)
  if ordered then return ordered end
  local problem = is_absent and what.by.path ~= "" and fields.problem(command.host, resource, what.by.path)
  command.fail(command.USAGE, why .. (problem and ": " .. problem or ""))
end

local function put_all(command, what, lines, run)
  local single = what.names ~= nil and #what.names == 1
  if what.watches then
    what.name_of = function(line) return name_of(command, line) end
    return watch(command, what, lines, function() return run(program.changes) end)
  end
  local sorts = not what.by and what.form ~= "columns"
  if what.columns then return put_table(command, lines, what.columns, sorts) end
  if what.template then return put_template(command, lines, what.template, single) end
  return forms[what.form](command, lines, single)
end

-- The paths of columns, and of the order.
local function paths_of(what, list)
  local paths = columns.paths(list)
  for _, path in ipairs(what.by and sort.paths(what.by) or {}) do paths[#paths + 1] = path end
  return paths
end

-- As the server prints what the cache has; how many objects there are, nil when the columns are known here, or the
-- server has no table.
local function put_server_table(command, session, what, kind, resource)
  if not FORMS_OF_SERVER[what.form] or what.watches or columns.knows(kind) then return nil end
  local list = columns.of("", false, true, what.labels)
  local begin = setmetatable({ paths = paths_of(what, list) }, { __index = what })
  local objects = {}
  for line in in_order(command, begin, resource, lines_of(command, session, program.begin(begin))) do
    local row = command.parse(line)
    local cells = columns.cells(list, row, os.time())
    objects[#objects + 1] = { type(row[1]) == "string" and row[1] or "", cells[2], unpack(cells, 4) }
  end
  if not what.by then table.sort(objects, comes_before) end
  if #objects > 0 and not server_table(command, session, what, objects) then return nil end
  return #objects
end

return function(command)
  if not command.arguments[1] then
    command.fail(command.USAGE, "no kind: kubelua get KIND [NAME ...]; kubelua status lists the caches")
  end
  local what = request_of(command)
  local form, names = what.form, what.names
  local session, why = command.session(command.flags["admin-socket"])
  if not session then command.fail(command.USAGE, why) end
  local shown, namespaced, resource = look_up(command, session, what.kind)
  warn_of(command, resource, what.conditions)
  if FORMS_OF_SERVER[form] then what.columns = columns.of(shown, form == "wide", namespaced, what.labels) end
  local list = what.columns or form == "name" and NAME_COLUMNS
  what.paths = list and paths_of(what, list)
  local n, follow = put_server_table(command, session, what, shown, resource)
  if not n then
    local lines, run = lines_of(command, session, program.begin(what))
    n, follow = put_all(command, what, in_order(command, what, resource, lines), run)
  end
  if names and n < #names and not what.only then
    local lost = #names == 1 and ('"%s"'):format(names[1]) or ("%d of %d"):format(#names - n, #names)
    command.fail(command.FINDINGS, ("%s: %s not found in the cache"):format(what.kind, lost))
  elseif n == 0 and not what.watches then
    io.stderr:write "No objects found in the cache.\n"
  end
  if follow then follow() end
  return command.OK
end
