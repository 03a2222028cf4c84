-- The commands that scripts of a running engine provide.
local values = require "tool.view.values"
local text_table = require "tool.table"

return function(list)
  local rows = text_table.new("NAME", "SCRIPT", "HELP")
  for _, command in ipairs(values.items(list)) do
    rows:add(values.shown(command.name), values.shown(command.script), values.shown(command.help))
  end
  return #rows.rows > 0 and rows:text {} or "No commands found.\n"
end
