-- Module "k8s" of a spec: functions that need no engine. The rest belongs to scripts under test.
local frozen = require "k8s.frozen"
local k8s = require "k8s"

local api = {}
frozen.names(k8s)(function(name, _, marks)
  if string.find(marks, "+", 1, true) then
    api[name] = k8s[name]
  end
end)

return frozen.freeze("k8s", api)
