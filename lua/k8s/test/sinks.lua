-- Events that scripts under test published by k8s.sink.
local raw = ...

local test = raw.test

local sinks = {}

-- Adds the methods of environments; `note` puts a line into what a failure shows.
function sinks.add_methods(methods, note)
  -- Events published so far, in order, by all sinks or that of this name: { { sink =, id =, key =, event = }, ... }.
  function methods:published(name)
    self:settle()
    local list = test.published(self.engine, name)
    for _, one in ipairs(list) do
      one.event, one.json = raw.json.decode(one.json), nil
      one.key = one.key ~= "" and one.key or nil
    end
    return list
  end

  -- From now on events cannot be stored, for this reason, so that publish waits; without one they can again.
  function methods:fail_publishing(reason)
    self:settle()
    note(self, "publishing  %s", reason or "works again")
    test.fail_publishing(self.engine, reason)
  end
end

return sinks
