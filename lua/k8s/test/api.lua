-- What `require "k8s"` gives a spec: what needs no engine. The rest belongs to scripts under test.
local raw = ...

local freeze = require("k8s.frozen").freeze

return freeze("k8s", {
  int64 = raw.int64,
  json = freeze("k8s.json", raw.json),
  null = raw.null,
  object = freeze("k8s.object", require "k8s.object"),
  quantity = raw.quantity,
  selects = require "k8s.selects",
})
