-- Rows in columns for people, as kubectl prints them: each as wide as its widest cell, and notes below rows.
local text_table = {}
text_table.__index = text_table

-- The first column is never made narrower than FIRST_MIN for the others to be seen.
local GAP, NOTE_INDENT, FIRST_MIN = 2, 4, 16
local CODES = { good = "\27[32m", bad = "\27[31m", waiting = "\27[33m" }

-- Texts come from a server too: none of them moves the cursor or begins a line.
local function printable(text) return (text:gsub("[%z\1-\31\127]", " ")) end

-- Characters, as a terminal counts most of them.
local function length(text) return select(2, text:gsub("[^\128-\191]", "")) end

text_table.printable, text_table.length = printable, length

-- The last `n` characters, behind "...".
local function end_of(text, n)
  local skip, at = length(text) - (n - 3), 1
  for _ = 1, skip do at = text:find("[^\128-\191]", at + 1) or #text + 1 end
  return "..." .. text:sub(at)
end

-- A heading that begins with ">" is that of a column of numbers, which are aligned at the right.
-- `keeps_ends`, once set: a first cell that is wider than its column shows its end, instead of a line of its own.
function text_table.new(...)
  local columns = {}
  for i, heading in ipairs { ... } do
    columns[i] = { heading = heading:match "^>?(.*)$", right = heading:sub(1, 1) == ">" }
  end
  return setmetatable({ columns = columns, rows = {} }, text_table)
end

-- Adds a row with a text or number for each column, and returns it; what follows is of the last row.
function text_table:add(...)
  local row = { tints = {}, notes = {} }
  for i = 1, #self.columns do row[i] = printable(tostring((select(i, ...)))) end
  self.rows[#self.rows + 1] = row
end

-- "good", "bad" or "waiting"; seen on a terminal only.
function text_table:tint(column, tint) self.rows[#self.rows].tints[column] = tint end

-- Adds a line below the row; an empty one is left out.
function text_table:note(text)
  local notes = self.rows[#self.rows].notes
  if text and text ~= "" then notes[#notes + 1] = printable(text) end
end

local function widths_of(self, width)
  local widths, others = {}, 0
  for i, column in ipairs(self.columns) do
    widths[i] = length(column.heading)
    for _, row in ipairs(self.rows) do widths[i] = math.max(widths[i], length(row[i])) end
    if i > 1 then others = others + GAP + widths[i] end
  end
  -- So narrow that the others are seen.
  if width > 0 then widths[1] = math.min(widths[1], math.max(width - others, FIRST_MIN)) end
  return widths
end

-- The first `n` characters.
local function cut(text, n)
  local at = 1
  for _ = 1, n do at = text:find("[^\128-\191]", at + 1) or #text + 1 end
  return text:sub(1, at - 1)
end

-- A line under way: what is beyond the width is not put out, and "..." says so.
local function put(line, text)
  local n, room = length(text), math.max(line.width - line.used, 0)
  if line.width == 0 or n <= room then
    line.out[#line.out + 1] = text
  elseif room > 3 then
    line.out[#line.out + 1] = cut(text, room - 3) .. "..."
  end
  line.used = line.used + n
end

local function put_blanks(line, n)
  for _ = 1, n do put(line, " ") end
end

local function put_cell(line, text, tint)
  if tint then line.out[#line.out + 1] = CODES[tint] end
  put(line, text)
  if tint then line.out[#line.out + 1] = "\27[0m" end
end

local function end_line(line)
  line.out[#line.out + 1] = "\n"
  line.used = 0
end

-- Nothing is put behind the last cell of a line. A first cell that is wider than its column has a line of its own.
local function put_row(self, widths, row, line, colours)
  for i, column in ipairs(self.columns) do
    local text, tint = row[i], colours and row.tints[i]
    local last = i == #self.columns
    if length(text) > widths[i] and i == 1 and self.keeps_ends then text = end_of(text, widths[i]) end
    if length(text) > widths[i] then
      put_cell(line, text, tint)
      end_line(line)
      text = ""
    end
    local blanks = widths[i] - length(text)
    if column.right then put_blanks(line, blanks) end
    put_cell(line, text, tint)
    if not column.right and not last then put_blanks(line, blanks) end
    if not last then put_blanks(line, GAP) end
  end
  end_line(line)
end

-- The text of the table. `view.width` cuts notes, and lines that would break, but for long cells of the first column,
-- which get lines of their own; 0: whatever they take.
function text_table:text(view)
  local width = view.width or 0
  local widths, line, head = widths_of(self, width), { out = {}, used = 0, width = width }, { tints = {} }
  for i, column in ipairs(self.columns) do head[i] = column.heading end
  put_row(self, widths, head, line, false)
  for _, row in ipairs(self.rows) do
    put_row(self, widths, row, line, view.colours)
    for _, note in ipairs(row.notes) do
      put_blanks(line, NOTE_INDENT)
      put(line, note)
      end_line(line)
    end
  end
  return table.concat(line.out)
end

-- A function that returns the line of one more row below that text. Columns grow as they need.
function text_table:follow(view)
  local widths = widths_of(self, view.width or 0)
  return function(...)
    self.rows = {}
    self:add(...)
    local row, line = self.rows[1], { out = {}, used = 0, width = view.width or 0 }
    for i = 1, #self.columns do widths[i] = math.max(widths[i], length(row[i])) end
    put_row(self, widths, row, line, view.colours)
    return table.concat(line.out)
  end
end

-- The same below an empty line; nothing without rows.
function text_table:block(view) return #self.rows > 0 and "\n" .. self:text(view) or "" end

-- "heading: what the text has"; nothing when it is empty.
function text_table.line(heading, text) return text ~= "" and heading .. ": " .. printable(text) .. "\n" or "" end

return text_table
