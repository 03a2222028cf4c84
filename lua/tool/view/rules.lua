-- The rules of `kubelua audit --list-rules`.
local text_table = require "tool.table"

return function(list)
  local rows = text_table.new("CATEGORY", "RULE", "SEVERITY", "TITLE")
  for _, rule in ipairs(list) do rows:add(rule.category, rule.id, rule.severity, rule.title) end
  return rows:text {}
end
