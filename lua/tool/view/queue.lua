-- The answer of an engine to `queue`.
local answer = require "tool.view.answer"
local queues = require "tool.view.queues"

return function(value, view)
  local rows = queues.table(answer.items(value.queues), view)
  return #rows.rows > 0 and rows:text(view) or "no queues\n"
end
