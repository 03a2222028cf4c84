-- `kubelua get --watch`: what is there, then each change, in the forms of get. Objects stand one by one: there is no
-- list.
local columns = require "tool.look.columns"
local eval = require "tool.look.jsonpath_eval"
local text_table = require "tool.table"

local EVENTS = { add = "ADDED", update = "MODIFIED", delete = "DELETED" }

-- Printers: put(line, event) for an object, done() when the first ones were put.
local printers = {}

local function nothing() end

function printers.json(command, what)
  return { done = nothing, put = function(line, event)
    if what.events then line = ('{"type":"%s","object":%s}'):format(EVENTS[event], line) end
    return command.write(line .. "\n")
  end }
end

function printers.yaml(command, what)
  local n = 0
  return { done = nothing, put = function(line, event)
    if what.events then line = ('{"type":"%s","object":%s}'):format(EVENTS[event], line) end
    n = n + 1
    return command.write((n > 1 and "---\n" or "") .. command.yaml(line))
  end }
end

function printers.name(command, what)
  return { done = nothing, put = function(line, event)
    return command.write((what.events and EVENTS[event] .. " " or "") .. what.name_of(line) .. "\n")
  end }
end

function printers.jsonpath(command, what)
  return { done = nothing, put = function(line)
    local object = command.parse(line, true)
    local function next_object()
      local one = object
      object = nil
      return one
    end
    local written = true
    local ok, why = eval.run(what.template, next_object, true, command.host.quote, function(text)
      written = written and command.write(text)
    end)
    return ok and written, why
  end }
end

-- The first table is as wide as its rows; those that come later follow it.
function printers.table(command, what)
  local headings = {}
  for i, column in ipairs(what.columns) do headings[i] = column[1] end
  if what.events then table.insert(headings, 1, "EVENT   ") end -- as wide as MODIFIED
  local rows, follow, is_done = text_table.new(unpack(headings)), nil, false
  local function flush()
    if #rows.rows == 0 then return true end
    local text = rows:text(command.view)
    follow = rows:follow(command.view)
    return command.write(text)
  end
  local function put(line, event)
    local cells = columns.cells(what.columns, command.parse(line), os.time())
    if what.events then table.insert(cells, 1, EVENTS[event]) end
    if follow then return command.write(follow(unpack(cells))) end
    rows:add(unpack(cells))
    return not is_done or flush()
  end
  return { put = put, done = function()
    is_done = true
    return flush()
  end }
end

-- `what`: form, columns or template, events, name_of; lines: of the objects that are there; changes(): the lines of the
-- next changes, which it waits for. Returns how many objects there were once they were put, and a function that goes on
-- for ever.
return function(command, what, lines, changes)
  local printer = (printers[what.form] or printers.table)(command, what)
  local function put(line, event)
    local ok, why = printer.put(line, event)
    if not ok then command.fail(command.USAGE, why or "cannot write to stdout") end
  end
  local n = 0
  for line in lines do
    put(line, "add")
    n = n + 1
  end
  printer.done()
  return n, function()
    while true do
      for event, line in changes():gmatch "(%a+) ([^\n]*)\n" do put(line, event) end
    end
  end
end
