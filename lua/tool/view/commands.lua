-- The commands that scripts of a running engine provide.
local answer = require "tool.view.answer"
local text_table = require "tool.table"

return function(list)
  local rows = text_table.new("NAME", "SCRIPT", "HELP")
  for _, command in ipairs(answer.items(list)) do
    rows:add(answer.shown(command.name), answer.shown(command.script), answer.shown(command.help))
  end
  return #rows.rows > 0 and rows:text {} or "No commands found\n"
end
