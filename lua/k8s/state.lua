-- k8s.state: a table that a reload of the script does not lose.
local raw = ...

local options = require "k8s.options"

local OPTIONS = { version = "number", init = "table", migrate = "function" }

-- k8s.state("seen", { version = 2, init = {}, migrate = function(old, old_version) return {} end }): the table; without
-- options that of an earlier call. While the script loads only.
return function(name, given)
  local own = options.check("k8s.state", given, OPTIONS)
  return raw.state.declare(name, given ~= nil, own.version, own.init, own.migrate)
end
