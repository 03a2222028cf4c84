-- noise(size): letters that hardly any encoding makes fewer.
return function(size)
  local letters, state = {}, 1
  for i = 1, size do
    state = (state * 16807) % 2147483647
    letters[i] = string.char(97 + state % 26 - (state % 52 < 26 and 0 or 32))
  end
  return table.concat(letters)
end
