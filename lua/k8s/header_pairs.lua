-- Headers, or parameters of a query, as C takes them: name, value, name, value, ...: sorted, so that the same table is
-- the same bytes.
local raw = ...

-- `where` begins the error for what is no header.
return function(where, values)
  local names, list = {}, {}
  for name, value in pairs(values or {}) do
    local kind = type(value)
    if type(name) ~= "string" or (kind ~= "string" and kind ~= "number") then
      raw.raise(where .. " must be a table of names and string values")
    end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    list[#list + 1], list[#list + 2] = name, tostring(values[name])
  end
  return list
end
