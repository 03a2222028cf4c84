-- The containers of pods and templates, in the order in which a server looks at them.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local json = require "sim.json"

local at, each = json.at, json.each

local LISTS = { "initContainers", "containers", "ephemeralContainers" }

-- Calls the function with each container of a spec, its path behind `prefix`, such as "spec.", and the name of its
-- list. With `member` those without it are left out.
return function(prefix, spec, fn, member)
  for _, list in ipairs(LISTS) do
    for i, container in each(at(spec, list)) do
      if not member or at(container, member) then
        fn(container, string.format("%s%s[%d]", prefix, list, i - 1), list)
      end
    end
  end
end
