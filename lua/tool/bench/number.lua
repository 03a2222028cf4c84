-- Figures as people read them: three digits that count, commas in long ones; a figure that is missing is nil.
local number = {}

-- From here on there are commas: years and small counts look better without.
local COMMAS_FROM = 10000

local function commas(value)
  local digits = ("%.0f"):format(math.abs(value)):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return (value < 0 and "-" or "") .. digits
end

-- "1.23", "12.3", "123", "12,345"; "-" for none.
function number.short(value)
  if not value then return "-" end
  local size = math.abs(value)
  if size >= COMMAS_FROM then return commas(value) end
  return ((size < 9.995 and "%.2f") or (size < 99.95 and "%.1f") or "%.0f"):format(value)
end

-- Without zeros behind the point: "3.2", "18".
function number.exact(value)
  if not value then return "-" end
  return math.abs(value) >= COMMAS_FROM and commas(value) or ("%g"):format(value)
end

return number
