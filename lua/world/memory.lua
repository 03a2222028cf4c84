-- Values that were used last, by keys: of more than so many keys, those that were not used for long are forgotten.
local MOST = 4096

local memory = {}

function memory.new() return { fresh = {}, older = {}, count = 0 } end

function memory.set(self, key, value)
  if self.fresh[key] == nil then
    if self.count == MOST / 2 then self.older, self.fresh, self.count = self.fresh, {}, 0 end
    self.count = self.count + 1
  end
  self.fresh[key] = value
end

function memory.get(self, key)
  local value = self.fresh[key]
  if value ~= nil then return value end
  value = self.older[key]
  if value ~= nil then memory.set(self, key, value) end
  return value
end

return memory
