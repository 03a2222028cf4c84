-- What a running engine does not call any more.
local answer = require "tool.view.answer"
local text_table = require "tool.table"
local units = require "tool.units"

return function(list)
  local rows = text_table.new("SCRIPT", "ID", ">SINCE", ">SKIPPED")
  for _, one in ipairs(answer.items(list)) do
    rows:add(answer.text(one.script), answer.text(one.id), units.duration(answer.int(one.seconds)),
      answer.int(one.skipped))
    rows:note(answer.text(one.why))
  end
  return #rows.rows > 0 and rows:text {} or "No quarantined functions\n"
end
