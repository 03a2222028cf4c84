-- A connection to a unix socket, for specs that speak a protocol themselves.
local ffi = require "ffi"
require "spec.support.proc" -- declares what both need

ffi.cdef [[
struct unix_address { unsigned short family; char path[108]; };
int socket(int, int, int);
int connect(int, const void *, unsigned);
]]
local C = ffi.C
local AF_UNIX, SOCK_STREAM_CLOEXEC, POLLIN = 1, 0x80001, 1

local unix = {}
unix.__index = unix

function unix.connect(path)
  local address = ffi.new("struct unix_address", AF_UNIX, path)
  local self = setmetatable({ fd = C.socket(AF_UNIX, SOCK_STREAM_CLOEXEC, 0), text = "" }, unix)
  assert(C.connect(self.fd, address, ffi.sizeof(address)) == 0, "nobody listens on " .. path)
  return self
end

function unix:write(text) assert(C.write(self.fd, text, #text) == #text, "the other end takes nothing") end

-- The next line without its end; nil at the end, or when none comes for 20 seconds.
function unix:line()
  local block, ready = ffi.new "char[4096]", ffi.new "struct proc_pollfd[1]"
  while not self.text:find("\n", 1, true) do
    ready[0].fd, ready[0].events = self.fd, POLLIN
    if C.poll(ready, 1, 20000) ~= 1 then return nil end
    local n = tonumber(C.read(self.fd, block, 4096))
    if n <= 0 then return nil end
    self.text = self.text .. ffi.string(block, n)
  end
  local line, rest = self.text:match "^(.-)\n(.*)$"
  self.text = rest
  return line
end

function unix:close() C.close(self.fd) end

return unix
