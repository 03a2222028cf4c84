-- The informers of a script's rules: one for each kind that they check and one for each that they use, which the rules
-- share. So only those that are used need a cache, and no rule costs an informer of its own.
local raw = ...

local factory = require "k8s.factory"

local claims = {}

local made = { kinds = {}, uses = {} }
local indexed = {} -- informer, to the names of the indexes it was given

function claims.of(what, kind)
  local claimed = made[what][kind]
  if not claimed then
    claimed = factory.informer(kind, { shard = false })
    raw.rule.claimed(claimed)
    made[what][kind] = claimed
    indexed[claimed] = {}
  end
  return claimed
end

-- The index of that name, by a path or a function; the same name is always the same index.
function claims.index(claimed, name, source)
  if not indexed[claimed][name] then
    claimed:add_index(name, source)
    indexed[claimed][name] = true
  end
end

return claims
