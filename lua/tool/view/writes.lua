-- The reply of an engine to `writes`.
local values = require "tool.view.values"
local text_table = require "tool.table"

-- The fields of an entry in the order of the columns.
local FIELDS = {
  "time", "script", "verb", "resource", "object", "result", "dryRun", "handler", "trigger", "manager", "message",
}
local RESULT = 6

-- The reply has them in the order in which they ended.
local function by_time(list)
  local order = {}
  for i, write in ipairs(list) do order[i] = { i = i, write = write, time = values.text(write.time) } end
  table.sort(order, function(a, b)
    if a.time ~= b.time then return a.time < b.time end
    return a.i < b.i
  end)
  return order
end

return function(value, view)
  local rows = view.wide
    and text_table.new("TIME", "SCRIPT", "VERB", "RESOURCE", "OBJECT", "RESULT", "DRY-RUN", "HANDLER", "TRIGGER",
      "MANAGER", "MESSAGE")
    or text_table.new("TIME", "SCRIPT", "VERB", "RESOURCE", "OBJECT", "RESULT")
  for _, entry in ipairs(by_time(values.items(value.writes))) do
    local cells = {}
    for i, field in ipairs(FIELDS) do cells[i] = values.shown(entry.write[field]) end
    local failed, dry = cells[RESULT] ~= "ok", values.text(entry.write.dryRun) ~= ""
    if dry and not view.wide then cells[RESULT] = cells[RESULT] .. " (dry run)" end
    rows:add(unpack(cells))
    if failed then rows:tint(RESULT, "bad") end
  end
  local count, total = #rows.rows, values.int(value.total)
  return (count > 0 and rows:text(view) or "No writes found.\n")
    .. (total > count and ("The last %d of %d writes\n"):format(count, total) or "")
end
