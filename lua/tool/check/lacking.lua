-- Required parameters that were given no value: a script that lacks one does not start.
local place = require "tool.check.place"

return function(script, _, diagnostics)
  for _, param in ipairs(script.params) do
    local class, key = param.rule and "rule" or "param", param.rule or param.name
    if param.lacks then
      diagnostics:warning(place.at(script, class, key, param.name),
        "parameter %s has no value: run needs %s from --param, --params or KUBELUA_PARAM_%s", param.name, param.type,
        (param.name:upper():gsub("-", "_")))
    end
  end
end
