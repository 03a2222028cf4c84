-- Blocks of PEM in a text, in time that grows with its length alone: a pattern would look through all that follows
-- for each beginning.
local pem = {}

-- By kind, where its last block ends.
local function ends_of(text)
  local ends = {}
  for kind, after in text:gmatch "%-%-%-%-%-END ([^\n]-)%-%-%-%-%-()" do ends[kind] = after end
  return ends
end

-- The first block from a place on: its kind, the text within, and where it ends; nil: there is none.
local function next_block(text, from, ends)
  while true do
    local start, _, kind, inside = text:find("\n%-%-%-%-%-BEGIN ([^\n]-)%-%-%-%-%-[ \t\r]*()\n", from)
    if not start then return end
    if (ends[kind] or 0) > inside then
      local mark = "-----END " .. kind .. "-----"
      local first, last = text:find(mark, inside, true)
      if first then return kind, text:sub(inside + 1, first - 1), last + 1 end
    end
    from = inside
  end
end

-- An iterator over the blocks: kind and text within; what is in them is not read.
function pem.blocks(text)
  text = "\n" .. text
  local from, ends = 1, ends_of(text)
  return function()
    local kind, inner, after = next_block(text, from, ends)
    from = after or #text + 1
    return kind, inner
  end
end

return pem
