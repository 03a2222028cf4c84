-- What a rule says its findings by: r:pass(), r:fail("no limit", { path = "spec.containers[0]" }), r:warn, r:skip.
local raw = ...

return require("k8s.frozen").freeze("r", raw.rule.methods)
