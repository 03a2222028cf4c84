-- The reply of an engine to `writes`.
local values = require "tool.view.values"
local text_table = require "tool.table"

-- The columns, of which the narrow table has those up to RESULT, and CLUSTER where one entry has a cluster that is not
-- the home cluster.
local COLUMNS = {
  "TIME", "CLUSTER", "SCRIPT", "VERB", "RESOURCE", "OBJECT", "RESULT", "DRY-RUN", "HANDLER", "TRIGGER", "MANAGER",
  "MESSAGE",
}
local FIELDS = { ["DRY-RUN"] = "dryRun" } -- others are called as their column

local function field_of(column) return FIELDS[column] or column:lower() end

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

local function has_cluster(list)
  for _, write in ipairs(list) do
    if values.text(write.cluster) ~= "" then return true end
  end
  return false
end

-- The columns to show, and the place of RESULT among them.
local function chosen(list, wide)
  local columns, named, result = {}, has_cluster(list), nil
  for _, column in ipairs(COLUMNS) do
    if named or column ~= "CLUSTER" then columns[#columns + 1] = column end
    if column == "RESULT" then result = #columns end
    if result and not wide then break end
  end
  return columns, result
end

return function(value, view)
  local list = values.items(value.writes)
  local columns, result = chosen(list, view.wide)
  local rows = text_table.new(unpack(columns))
  for _, entry in ipairs(by_time(list)) do
    local cells = {}
    for i, column in ipairs(columns) do cells[i] = values.shown(entry.write[field_of(column)]) end
    local failed, dry = cells[result] ~= "ok", values.text(entry.write.dryRun) ~= ""
    if dry and not view.wide then cells[result] = cells[result] .. " (dry run)" end
    rows:add(unpack(cells))
    if failed then rows:tint(result, "bad") end
  end
  local count, total = #rows.rows, values.int(value.total)
  return (count > 0 and rows:text(view) or "No writes found.\n")
    .. (total > count and ("The last %d of %d writes\n"):format(count, total) or "")
end
