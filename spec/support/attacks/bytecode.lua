-- Bytecode, which could do anything.
-- expect: attempt to load chunk with wrong mode
local k8s = require "k8s"

k8s.after("200ms", function()
  assert(load "\27LJ\2\0\0")
end)
