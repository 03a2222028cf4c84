-- States that scripts under test keep (k8s.state with keep), as tables: { content = { ... }, version = 1 }.
local raw = ...

local options = require "k8s.options"

local test = raw.test

local states = {}

local FIELDS = { content = "table", version = "number" }

-- The name of the script that env:load has loaded.
local function script_of(env)
  return env.path and env.path:gsub("%.lua$", "") or raw.raise "env:stored: no script was loaded"
end

-- A text is a record as it is: for one that is damaged.
local function record_of(name, given)
  if type(given) == "string" then
    return given
  end
  local where = string.format("test.load: stored: %s", name)
  if type(given) ~= "table" then
    raw.raise(where .. ": must be { content = table, version = number }, or a text, not " .. type(given))
  end
  local checked = options.check(where, given, FIELDS)
  return test.encode(checked.content or raw.raise(where .. ": content is missing"), checked.version)
end

function states.store(env, given)
  for name, one in pairs(given) do
    test.store(env.engine, (script_of(env)), name, record_of(name, one))
  end
end

-- Once the script is there: a name that it does not keep is a slip, and the rest would be tested without it.
function states.check(env)
  local kept = test.kept(env.engine)
  for name in pairs(env.given_states) do
    if next(kept) == nil then
      raw.raise(string.format('test.load: stored: the script keeps no states, found "%s"', tostring(name)))
    elseif kept[name] == nil then
      require "k8s.unknown"("test.load: stored", name, kept, "state")
    end
  end
end

local function stored(env, name)
  local record = test.stored(env.engine, (script_of(env)), name)
  if not record then
    return nil
  end
  local content, version = test.decode(record)
  return content and { content = content, version = version } or record
end

-- Adds the methods of environments; `note` puts a line into what a failure shows.
function states.add_methods(methods, note)
  -- The record that a state with `keep` has outside the process: { content =, version = }, nil if it was never stored.
  function methods:stored(name)
    self:settle()
    return stored(self, name)
  end

  -- From now on states cannot be stored, for this reason; without one they can again.
  function methods:fail_storing(reason)
    self:settle()
    note(self, "storing  %s", reason or "works again")
    test.fail_storing(self.engine, reason)
  end
end

return states
