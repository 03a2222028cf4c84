-- Series of k8s.metric on the page that tests read.

local function matches(line, name, labels)
  local head = line:match "^[^ {]+"
  if head ~= name then
    return false
  end
  for label, value in pairs(labels) do
    local pair = ("%s=%q"):format(label, tostring(value))
    if not line:find("{" .. pair, 1, true) and not line:find("," .. pair, 1, true) then
      return false
    end
  end
  return true
end

-- The value of a script's series with these labels on the page; nil when there is none.
return function(page, script, name, labels)
  local mark = string.format('script="%s"', script)
  for line in page:gmatch "[^\n]+" do
    if line:find(mark, 1, true) and matches(line, name, labels) then
      return tonumber(line:match " (%S+)$")
    end
  end
  return nil
end
