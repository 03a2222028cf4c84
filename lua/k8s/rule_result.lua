-- Methods that report findings: r:pass(), r:fail("no limit", { path = "spec.containers[0]" }), r:warn, r:skip.
local raw = ...

-- nil would be Lua's error, which does not say what there is.
local function unknown(methods, name)
  require "k8s.unknown"("r", name, methods, "method")
end

return require("k8s.frozen").freeze("r", setmetatable(raw.rule.methods, { __index = unknown }))
