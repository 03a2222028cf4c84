-- A script has loaded: what of the API only loading needs goes, and is loaded again for whoever asks for it all the
-- same. Modules that stay require these inside their functions.
local frozen = require "k8s.frozen"
local k8s = require "k8s"

-- Beside the modules of such names.
local MODULES = { "handler_options", "options", "plan", "param_types", "rule_claims", "rule_use" }

return function(modules)
  local names = {}
  for _, name in ipairs(MODULES) do
    modules["k8s." .. name] = nil
  end
  frozen.names(k8s)(function(name, module, marks)
    if string.find(marks, "-", 1, true) then
      modules[module], names[#names + 1] = nil, name
    end
  end)
  frozen.forget(k8s, names, "k8s.")
end
