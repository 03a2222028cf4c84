-- A 64-bit number has LuaJIT load its ffi.
-- expect: module 'ffi' not found
local k8s = require "k8s"

k8s.after("200ms", function()
  local number = 1LL
  require("ffi").C.system("touch " .. tostring(number))
end)
