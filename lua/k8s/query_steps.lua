-- Queries in steps, between which a call that may pause does: a cache of a hundred thousand objects must not hold up
-- the handlers of others. In all other calls they are evaluated at once.
local raw = ...

local begin, step, methods = raw.query.begin, raw.query.step, raw.query.methods
local array, fill, may_pause = raw.query.array, raw.query.fill, raw.task.may_pause
local groups_of, fill_groups = raw.query.groups, raw.query.fill_groups

-- Whether the query has groups.
local function evaluate(query, method, path)
  local groups = begin(query, method, path)
  while not step(query) do
  end
  return groups
end

-- Arrays that are filled in steps, too.
local function rows_of_groups(query, summed)
  local groups, rows = groups_of(query)
  local count, all = 0, false
  while not all do
    count, all = fill_groups(groups, rows, count, summed)
  end
  return rows
end

local function rows_of_objects(query)
  local rows, count, all = array(query), 0, false
  while not all do
    count, all = fill(query, rows, count)
  end
  return rows
end

local function in_steps(method, summed)
  local finish = methods[method]
  methods[method] = function(self, path)
    if may_pause() and evaluate(self, method, path) then
      return rows_of_groups(self, summed)
    end
    return finish(self, path)
  end
end

in_steps "count"
in_steps("sum", true)

local each_at_once = methods.each

function methods:each()
  if not may_pause() or not evaluate(self, "each") then
    return each_at_once(self)
  end
  local rows, i = rows_of_groups(self), 0
  return function()
    i = i + 1
    return rows[i]
  end
end

local rows_at_once = methods.rows

function methods:rows()
  if not may_pause() then
    return rows_at_once(self)
  end
  return evaluate(self, "rows") and rows_of_groups(self) or rows_of_objects(self)
end
