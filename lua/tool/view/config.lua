-- Settings of a running engine and where each was set; those with their defaults only if the output is wide.
local values = require "tool.view.values"
local text_table = require "tool.table"

return function(reply, view)
  local rows = text_table.new("NAME", "VALUE", "SOURCE")
  for _, one in ipairs(values.items(values.items(reply).settings)) do
    local source = values.text(one.source)
    if view.wide or source ~= "default" then rows:add(values.text(one.name), values.shown(one.value), source) end
  end
  return #rows.rows > 0 and rows:text {} or "All settings have their defaults; -o wide shows them\n"
end
