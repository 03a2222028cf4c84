-- Text that `kubelua plan` prints of its rows. People know a function by its place; its hash is for programs.
local detail = require "tool.plan.detail"
local json = require "tool.json"
local text_table = require "tool.table"

local view = {}

local printable = text_table.printable

-- For programs; and, with a number before it, for the last line.
local RESULTS = {
  { "unchanged", "unchanged" }, { "added", "new" }, { "changed", "to change" }, { "reloaded", "to be reloaded" },
  { "removed", "to stop" }, { "refused", "to be refused" },
}

-- How many rows have that result.
function view.count(rows, result)
  local n = 0
  for _, row in ipairs(rows) do n = n + (row.result == result and 1 or 0) end
  return n
end

-- --- text

local SIGNS = { added = "+", removed = "-", changed = "~" }

-- The place is that of the entry, where none of a function says more.
local function detail_of(change, file)
  local before, after = change.before, change.after
  local text, placed
  if before and after then
    text, placed = detail.compare(before.detail, after.detail, file.place_of)
  else
    text = detail.print((after or before).detail)
  end
  return (text ~= "" and (before and after and ": " or " ") or "") .. printable(text)
    .. (after and after.file and not placed and (" (%s:%d)"):format(after.file, after.line) or "")
end

local HEADS = {
  added = ": new\n",
  removed = ": stops, its file is gone; generation %d runs%s\n",
  refused = ": refused: %s\n",
  reloaded = ": reloaded, generation %d runs%s; what it registers is the same\n",
  changed = ": changes, generation %d runs%s\n",
}

local function text_of(row)
  if row.result == "unchanged" then return "" end
  local dry = row.dry_run ~= "none" and (" (dry run: %s)"):format(printable(row.dry_run)) or ""
  local head = HEADS[row.result]:format(row.error and printable(row.error) or row.generation, dry)
  local out = { printable(row.name), head }
  if row.result == "refused" or row.result == "reloaded" then return table.concat(out) end
  for _, change in ipairs(row.changes) do
    out[#out + 1] = ("  %s %s %s%s%s\n"):format(SIGNS[change.change], change.class, printable(change.key),
      detail_of(change, row.file), change.note and "\n      " .. change.note or "")
  end
  if row.same > 0 then out[#out + 1] = ("  %d unchanged\n"):format(row.same) end
  return table.concat(out)
end

-- Rows that differ, each with its differences, then how many there are of each result.
function view.text(rows)
  local out, counts = {}, {}
  for i, row in ipairs(rows) do out[i] = text_of(row) end
  for i = #RESULTS, 1, -1 do
    local n = view.count(rows, RESULTS[i][1])
    if n > 0 then counts[#counts + 1] = ("%d %s"):format(n, RESULTS[i][2]) end
  end
  return ("%s%d script%s: %s\n"):format(table.concat(out), #rows, #rows == 1 and "" or "s",
    #counts > 0 and table.concat(counts, ", ") or "none")
end

-- --- JSON

-- `quote` returns a text as JSON.
function view.json(rows, quote)
  local function text(value) return value and quote(value) end
  local function change_of(change)
    local before, after = change.before, change.after
    local file = after and after.file
    return json.object("change", quote(change.change), "class", quote(change.class), "key", quote(change.key),
      "before", before and quote(before.detail), "after", after and quote(after.detail), "file", text(file),
      "line", file and json.integer(after.line), "note", text(change.note))
  end
  local function row_of(row)
    local generation = row.generation or 0
    return json.object("name", quote(row.name), "result", quote(row.result),
      "generation", generation ~= 0 and json.integer(generation),
      "dryRun", generation ~= 0 and quote(row.dry_run), "error", text(row.error),
      "changes", not row.error and json.list(row.changes, change_of),
      "unchanged", not row.error and json.integer(row.same))
  end
  local summary = {}
  for _, result in ipairs(RESULTS) do
    summary[#summary + 1] = result[1]
    summary[#summary + 1] = json.integer(view.count(rows, result[1]))
  end
  return json.object("summary", json.object(unpack(summary)), "scripts", json.list(rows, row_of)) .. "\n"
end

return view
