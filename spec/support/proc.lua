-- Child processes for specs: start one, wait for a line of its output, stop it. Every wait has a deadline and ends with
-- the condition, none sleeps. A child dies with the spec's process.
local ffi = require "ffi"

ffi.cdef [[
struct proc_pollfd { int fd; short events, revents; };
int fork(void);
int execvp(const char *, char *const *);
void _exit(int);
int pipe2(int *, int);
int dup2(int, int);
int close(int);
long read(int, void *, size_t);
long write(int, const void *, size_t);
int kill(int, int);
int wait4(int, int *, int, long *);
int open(const char *, int, ...);
int poll(struct proc_pollfd *, unsigned long, int);
int prctl(int, ...);
int setenv(const char *, const char *, int);
long syscall(long, ...);
int clock_gettime(int, void *);
]]
local C = ffi.C
local O_CLOEXEC, O_CREATE_TRUNCATE = 0x80000, 0x241
local POLLIN, CLOCK_MONOTONIC, PR_SET_PDEATHSIG, SYS_PIDFD_OPEN, WNOHANG = 1, 1, 1, 434, 1
local AFTER_ASAN = 0x640000000000 -- AddressSanitizer's own regions lie below, and begin at multiples of 8 GiB, too
local signals = { HUP = 1, INT = 2, KILL = 9, USR1 = 10, TERM = 15, CONT = 18, STOP = 19 }
local default_seconds = 60 -- a failure takes as long; a slow machine must not be one
local least_seconds = os.getenv "KUBELUA_CUT" and default_seconds or 0 -- what was cut off waits (cuts.lua)

local proc = {}
proc.__index = proc

local chunk = ffi.new "char[65536]"

-- How long is waited when a spec says so many seconds, or none.
function proc.patience(seconds) return math.max(seconds or default_seconds, least_seconds) end

-- Seconds on a clock that only goes forward.
function proc.now()
  local time = ffi.new "int64_t[2]"
  C.clock_gettime(CLOCK_MONOTONIC, time)
  return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

-- Seconds since 1970, as engines log them.
function proc.wall()
  local time = ffi.new "int64_t[2]"
  C.clock_gettime(0, time)
  return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

local function pipe()
  local ends = ffi.new "int[2]"
  assert(C.pipe2(ends, O_CLOEXEC) == 0, "pipe2 failed")
  return ends[0], ends[1]
end

local function exec(command, stdin, stdout, stderr)
  C.prctl(PR_SET_PDEATHSIG, ffi.cast("unsigned long", signals.KILL))
  C.dup2(stdin, 0)
  C.dup2(stdout, 1)
  C.dup2(stderr, 2)
  for name, value in pairs(command.env or {}) do C.setenv(name, value, 1) end
  local argv = ffi.new("const char *[?]", #command + 1)
  for i, word in ipairs(command) do argv[i - 1] = word end
  C.execvp(command[1], ffi.cast("char *const *", argv))
  C._exit(127)
end

-- command: the words; env: more environment; stderr: a file for it (else it is kept for wait_error and in `err`).
function proc.spawn(command)
  local stdin_read, stdin_write = pipe()
  local stdout_read, stdout_write = pipe()
  local stderr_read, stderr_write
  if command.stderr then
    stderr_write = C.open(command.stderr, O_CREATE_TRUNCATE, ffi.cast("int", 420))
    assert(stderr_write >= 0, "cannot write " .. command.stderr)
  else
    stderr_read, stderr_write = pipe()
  end
  local pid = C.fork()
  if pid == 0 then exec(command, stdin_read, stdout_write, stderr_write) end
  assert(pid > 0, "fork failed")
  C.close(stdin_read)
  C.close(stdout_write)
  C.close(stderr_write)
  local self = setmetatable({ pid = pid, command = table.concat(command, " "), input = stdin_write }, proc)
  self.pidfd = tonumber(C.syscall(SYS_PIDFD_OPEN, ffi.cast("long", pid), ffi.cast("long", 0)))
  -- A stream: its descriptor (nil once it ended), all its text, and how much of it was looked at.
  self.streams = { out = { fd = stdout_read, text = "", seen = 1 }, err = { fd = stderr_read, text = "", seen = 1 } }
  return self
end

local function take_in(stream)
  local n = tonumber(C.read(stream.fd, chunk, ffi.sizeof(chunk)))
  if n > 0 then
    stream.text = stream.text .. ffi.string(chunk, n)
  else
    C.close(stream.fd)
    stream.fd = nil
  end
end

-- Reads what comes on either stream, once, or sees the end of the process; false at the deadline.
function proc:pump(deadline, watch_end)
  local fds, streams, count = ffi.new "struct proc_pollfd[3]", {}, 0
  for _, stream in pairs(self.streams) do
    if stream.fd then
      fds[count].fd, fds[count].events = stream.fd, POLLIN
      count = count + 1
      streams[count] = stream
    end
  end
  if watch_end then
    fds[count].fd, fds[count].events = self.pidfd, POLLIN
    count = count + 1
  end
  if count == 0 then return true end
  local left = math.max(0, math.ceil((deadline - proc.now()) * 1000))
  if C.poll(fds, count, left) <= 0 then return proc.now() < deadline end
  for i, stream in ipairs(streams) do
    if fds[i - 1].revents ~= 0 then take_in(stream) end
  end
  return true
end

local function next_line(stream)
  local stop = stream.text:find("\n", stream.seen, true)
  if not stop then return nil end
  local line = stream.text:sub(stream.seen, stop - 1)
  stream.seen = stop + 1
  return line
end

function proc:report()
  return ("\n--- %s\n--- stdout\n%s\n--- stderr\n%s"):format(self.command, self.streams.out.text:sub(-4000),
    self.streams.err.text:sub(-4000))
end

function proc:wait_on(stream, pattern, seconds)
  seconds = proc.patience(seconds)
  local deadline = proc.now() + seconds
  while true do
    for line in next_line, stream do
      if line:find(pattern) then return line:match(pattern) end
    end
    if not stream.fd then error(("ended before %q came"):format(pattern) .. self:report(), 3) end
    if not self:pump(deadline) then
      error(("%q did not come within %g s"):format(pattern, seconds) .. self:report(), 3)
    end
  end
end

-- The captures (or the match) of the next line of stdout that matches; lines before it are passed over.
function proc:wait_line(pattern, seconds) return self:wait_on(self.streams.out, pattern, seconds) end

-- The same on stderr.
function proc:wait_error(pattern, seconds) return self:wait_on(self.streams.err, pattern, seconds) end

-- Waits until condition() holds, which is checked again whenever the process has printed something.
function proc:wait_until(condition, what, seconds)
  seconds = proc.patience(seconds)
  local deadline = proc.now() + seconds
  while true do
    self:pump(proc.now())
    if condition() then return end
    if not (self.streams.out.fd or self.streams.err.fd) then error("ended before " .. what .. self:report(), 2) end
    if not self:pump(deadline) then error(("%s not within %g s"):format(what, seconds) .. self:report(), 2) end
  end
end

-- Everything that came so far, without waiting.
function proc:out()
  self:pump(proc.now())
  return self.streams.out.text
end

function proc:err()
  self:pump(proc.now())
  return self.streams.err.text
end

function proc:write(text)
  assert(C.write(self.input, text, #text) == #text, "the process takes no input")
end

function proc:close_input()
  if self.input then C.close(self.input) end
  self.input = nil
end

function proc:kill(signal)
  if not self.exit_code then C.kill(self.pid, signals[signal or "TERM"]) end
end

-- The exit code, 128 plus the signal's number when one ended it; raises at the deadline. Reads all output.
function proc:wait(seconds)
  if self.exit_code then return self.exit_code end
  seconds = proc.patience(seconds)
  local deadline, status, usage = proc.now() + seconds, ffi.new "int[1]", ffi.new "long[18]"
  while C.wait4(self.pid, status, WNOHANG, usage) == 0 do
    if not self:pump(deadline, true) then error(("did not end within %g s"):format(seconds) .. self:report(), 2) end
  end
  while (self.streams.out.fd or self.streams.err.fd) and self:pump(deadline) do end
  self:close_input()
  C.close(self.pidfd)
  self.most_rss = tonumber(usage[4]) * 1024 -- of the spec's process too, which it was before it began
  local signal = status[0] % 128
  self.exit_code = signal == 0 and math.floor(status[0] / 256) % 256 or 128 + signal
  return self.exit_code
end

local function proc_file(pid, name)
  local file = assert(io.open(("/proc/%d/%s"):format(pid, name)))
  local text = file:read "*a"
  file:close()
  return text
end

-- Resident bytes.
function proc:rss()
  return tonumber(proc_file(self.pid, "status"):match "VmRSS:%s*(%d+)") * 1024
end

-- Resident bytes by what they are for: `objects` (pools, each at a multiple of its 8 GiB), `heap` (all else that is the
-- process's own) and `code` (of files).
function proc:memory()
  local sizes, regions, kind = { objects = 0, heap = 0, code = 0 }, {}, nil
  for line in proc_file(self.pid, "smaps"):gmatch "[^\n]+" do
    local first, path = line:match "^(%x+)%-%x+ %S+ %S+ %S+ %d+ *(.*)$"
    if first then
      local at = tonumber(first, 16)
      local region = at - at % 2 ^ 33 -- of which the system may show parts, if they differ
      if path == "" and at == region and at >= AFTER_ASAN then regions[region] = true end
      kind = path:find "^/" and "code" or path == "" and regions[region] and "objects" or "heap"
    end
    local resident = line:match "^Rss: *(%d+) kB"
    if resident then sizes[kind] = sizes[kind] + tonumber(resident) * 1024 end
  end
  return sizes
end

-- The most that was resident since the process began, or since forget_peak.
function proc:peak_rss()
  return tonumber(proc_file(self.pid, "status"):match "VmHWM:%s*(%d+)") * 1024
end

function proc:forget_peak()
  local file = assert(io.open(("/proc/%d/clear_refs"):format(self.pid), "w"))
  assert(file:write "5")
  assert(file:close())
end

-- Seconds of CPU so far, of all threads.
function proc:cpu()
  local user, system = proc_file(self.pid, "stat"):match "%) %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ (%d+) (%d+)"
  return (tonumber(user) + tonumber(system)) / 100
end

return proc
