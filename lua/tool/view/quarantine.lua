-- Functions that a running engine does not call any more.
local values = require "tool.view.values"
local text_table = require "tool.table"
local units = require "tool.units"

return function(list)
  local rows = text_table.new("SCRIPT", "ID", ">SINCE", ">SKIPPED")
  for _, one in ipairs(values.items(list)) do
    rows:add(values.text(one.script), values.text(one.id), units.duration(values.int(one.seconds)),
      values.int(one.skipped))
    rows:note(values.text(one.why))
  end
  return #rows.rows > 0 and rows:text {} or "No quarantined functions found.\n"
end
