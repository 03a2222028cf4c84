-- Paths of webhooks: each is one script's, so that the engine refuses the second script with it.
local place = require "tool.check.place"

return function(script, target, diagnostics)
  local taken = target.webhook_paths or {}
  target.webhook_paths = taken
  for path, at in pairs(script.places.webhook or {}) do
    if type(path) == "string" then
      local before = taken[path]
      if before then
        diagnostics:error(at, 'k8s.webhook: the path "%s" is that of a webhook of %s', path, place.text(before))
      else
        taken[path] = at
      end
    end
  end
end
