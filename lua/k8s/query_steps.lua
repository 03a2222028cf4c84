-- Queries in steps, between which a call that may pause does: a cache of a hundred thousand objects must not hold up
-- the handlers of others. In all other calls they are evaluated at once.
local raw = ...

local begin, step, fill, methods = raw.query.begin, raw.query.step, raw.query.fill, raw.query.methods
local array, may_pause = raw.json.array, raw.task.may_pause

-- Whether the query has groups.
local function evaluate(query, method, path)
  local groups = begin(query, method, path)
  while not step(query) do
  end
  return groups
end

local function in_steps(method)
  local finish = methods[method]
  methods[method] = function(self, path)
    if may_pause() then
      evaluate(self, method, path)
    end
    return finish(self, path)
  end
end

in_steps "count"
in_steps "sum"
in_steps "each"

local rows_at_once = methods.rows

-- An array that is filled in steps, too.
function methods:rows()
  if not may_pause() or evaluate(self, "rows") then
    return rows_at_once(self)
  end
  local rows, count, all = array(), 0, false
  while not all do
    count, all = fill(self, rows, count)
  end
  return rows
end
