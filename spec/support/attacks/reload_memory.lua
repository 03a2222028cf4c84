-- A change of a script takes all memory while it loads.
-- by a reload
-- flags: --limit script-memory=2Mi
-- expect: Reload refused.*over the limit script%-memory
local list = {}
while true do
  list[#list + 1] = { {}, {}, {} }
end
