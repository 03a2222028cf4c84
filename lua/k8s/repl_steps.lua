-- Over an engine a prompt's queries are evaluated in steps, between which its call may pause: a cache of a hundred
-- thousand objects must not hold up handlers. In a callback of C, where no call pauses, the steps follow one another.
local raw = ...

local begin, step, fill, methods = raw.query.begin, raw.query.step, raw.query.fill, raw.query.methods
local array = raw.json.array

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
    evaluate(self, method, path)
    return finish(self, path)
  end
end

in_steps "count"
in_steps "sum"
in_steps "each"

local groups_of = methods.rows

-- An array that is filled in steps, too.
function methods:rows()
  if evaluate(self, "rows") then
    return groups_of(self)
  end
  local rows, count, all = array(), 0, false
  while not all do
    count, all = fill(self, rows, count)
  end
  return rows
end

local steps = {}

-- Lists of a kind, without steps: for what is small enough to be done at once.
function steps.list(query, selector)
  return (selector == nil and query or query:label(selector)):rows()
end

function steps.count(query, selector)
  return query:label(selector):count()
end

return steps
