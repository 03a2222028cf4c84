-- A script has loaded: what of the API only loading needs goes, and is loaded again for whoever asks for it all the
-- same. Modules that stay require these inside their functions.
local frozen = require "k8s.frozen"

local MODULES = {
  "command",
  "controller",
  "factory",
  "handler_options",
  "leader",
  "options",
  "plan",
  "reload",
  "rule",
  "rule_claims",
  "rule_params",
  "rule_use",
  "writes",
}
local NAMES = { "command", "controller", "factory", "informer", "leader", "on_leader", "on_reload", "rule", "writes" }

return function(modules)
  for _, name in ipairs(MODULES) do
    modules["k8s." .. name] = nil
  end
  frozen.forget(require "k8s", NAMES, "k8s.")
end
