-- The reply of an engine to `queue`.
local values = require "tool.view.values"
local queues = require "tool.view.queues"

return function(value, view)
  local rows = queues.table(values.items(value.queues), view)
  return #rows.rows > 0 and rows:text(view) or "No queues found.\n"
end
