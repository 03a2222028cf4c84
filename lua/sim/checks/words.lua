-- Sets of words.

-- Returns a set of the words between blanks.
return function(text)
  local set = {}
  for word in text:gmatch "%S+" do set[word] = true end
  return set
end
