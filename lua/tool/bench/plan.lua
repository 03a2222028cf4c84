-- Plan of the runs of `kubelua bench` by its flags, and the subjects.
local compare = require "tool.bench.compare"
local figures = require "tool.bench.figures"
local number = require "tool.bench.number"
local proc = require "tool.bench.proc"

local plan = {}
plan.__index = plan

local DEFAULT_RUNS, UPDATES_MAX = 3, 1000000000 -- the source's
local MANY = 100000 -- from so many pods on the memory that is needed is told

-- Measured: a source of 100,000 pods has 9,770 bytes for each, kubelua 2,201 with three of a workload and 3,678 when
-- none are alike.
local SOURCE_BYTES, POD_BYTES, POD_ALONE_BYTES, PROCESSES_BYTES = 10200, 2800, 4400, 96 * 2 ^ 20

plan.larger = {
  { pods = 100000, replicas = 3 }, { pods = 100000, replicas = 1 }, { pods = 100000, replicas = 10 },
  { pods = 1000000, replicas = 3 },
}

local function set(...)
  local names = {}
  for _, name in ipairs { ... } do names[name] = true end
  return names
end

plan.set = set

local function fail(text, ...) error(text:format(...), 0) end

-- A subject is a script of ours (bench/scripts/), or the command of a peer as a shell takes it; `measurements` is what
-- it is asked for. Those that are `larger` are measured with --full's data too.
local function subjects()
  return {
    {
      name = "kubelua", script = "full", larger = true,
      measurements = set("sync", "relist", "storm", "latency", "select", "idle", "start", "lua", "audit-engine"),
    },
    { name = "kubelua projected", script = "projected", larger = true, measurements = set "projected" },
    { name = "kubelua metadata", script = "metadata", measurements = set("sync", "relist", "storm", "latency") },
  }
end

local function peer_measurements() return set("sync", "relist", "storm", "latency", "select", "idle", "start") end

-- --- peers from the command line

local function traits_of(text, name)
  local traits = {}
  for trait in text:gmatch "[^,]+" do
    if trait ~= "protobuf" and trait ~= "floor" then
      fail('--peer: "%s:%s": unknown trait, must be protobuf or floor', name, trait)
    end
    traits[trait] = true
  end
  return traits
end

local function check_name(self, name)
  if name == "" then fail "--peer: missing name before the colon" end
  for _, subject in ipairs(self.subjects) do
    if subject.name == name and subject.script then
      fail('--peer: "%s" is one of kubelua\'s own subjects; give it another name', name)
    elseif subject.name == name then
      fail('--peer: there are two called "%s"', name)
    end
  end
end

local function add_peer(self, text, all)
  local left, command = text:match "^([^=]+)=(.+)$"
  if not left then fail('--peer: "%s" is not NAME=COMMAND', text) end
  local name, words = left:match "^([^:]*):?(.*)$"
  local traits = traits_of(words, name)
  check_name(self, name)
  if traits.protobuf and not self.data.encodings then
    all:lack(name, false, "needs --encodings (the pods in protobuf)")
  else
    local measurements = traits.floor and set "floor" or peer_measurements()
    self.subjects[#self.subjects + 1] = { name = name, command = command, measurements = measurements }
  end
end

local function add_peers(self, flags, all)
  for _, text in ipairs(flags.peer) do add_peer(self, text, all) end
  for _, text in ipairs(flags.missing) do
    local name, why = text:match "^([^=]+)=(.+)$"
    if not name then fail('--missing: "%s" is not NAME=WHY', text) end
    all:lack(name, false, why)
  end
  if #flags.peer + #flags.missing == 0 then
    all:lack("client-go, kube-rs, floor", false, "no --peer was given; ./dev bench builds and runs the peers")
  end
end

-- --- flags

local function read_only(host, text)
  local known, measurements = set(unpack(figures.measurements)), {}
  if not text then return known end
  if text == "" then fail "--only must not be empty; use, for example, sync,storm" end
  for name in (text .. ","):gmatch "([^,]*)," do
    if not known[name] then
      local near = host.nearest(name, figures.measurements)
      fail('--only: unknown measurement "%s"%s', name,
        near and (', did you mean "%s"?'):format(near) or "; see kubelua help bench")
    end
    measurements[name] = true
  end
  return measurements
end

local function check_encodings(folder)
  for _, name in ipairs(folder and { "pods.pb", "metadata.pb" } or {}) do
    local path = folder .. "/" .. name
    local file, why = io.open(path)
    if not file then fail("--encodings: cannot read %s: %s", path, (why:gsub("^.*: ", ""))) end
    file:close()
  end
end

local function check(flags)
  if flags.updates > UPDATES_MAX then
    fail("--updates: %d is too large, the maximum is %d", flags.updates, UPDATES_MAX)
  end
  if flags.timeout < 1 then fail "--timeout must be greater than 0" end
  check_encodings(flags.encodings)
end

-- Defaults and the values of flags.
local function flags_text(self, flags)
  return ("--pods %d --replicas %d --runs %d --updates %d --settle %gs --timeout %gs%s%s"):format(self.data.pods,
    self.data.replicas, self.runs, self.updates, self.settle_ms / 1000, self.silence_ms / 1000,
    flags.only and " --only " .. flags.only or "", flags.full and " --full" or "")
end

-- Raises what is wrong with a flag. What is known to be missing is put into the results. `silence_ms` is the most that
-- a subject may be silent beyond the time for its work, `settle_ms` how long a process is left alone before its memory
-- is read.
function plan.new(host, flags, all)
  local self = setmetatable({
    host = host, data = { pods = flags.pods, replicas = flags.replicas, encodings = flags.encodings },
    runs = flags.runs > 0 and flags.runs or flags.quick and 1 or DEFAULT_RUNS, updates = flags.updates,
    full = flags.full, silence_ms = flags.timeout, settle_ms = flags.settle, begun = os.time(), output = flags.output,
    subjects = subjects(),
  }, plan)
  self.flags = flags_text(self, flags)
  check(flags)
  self.measurements = read_only(host, flags.only)
  add_peers(self, flags, all)
  self:check_subjects()
  self:check_memory()
  if flags.compare then
    self.earlier = compare.read(flags.compare, host.json)
    compare.check_fits(self.earlier, self)
  end
  return self
end

-- Whether a subject does something that is asked for, of what the subject says itself where that is known.
function plan:wants(subject, measurements)
  for name in pairs(measurements or subject.measurements) do
    if self.measurements[name] and subject.measurements[name] then return true end
  end
  return false
end

-- Values that the targets need.
function plan:scope()
  return { pods = self.data.pods, replicas = self.data.replicas, measurements = self.measurements, full = self.full }
end

-- --- before anything is started

function plan:check_subjects()
  for _, subject in ipairs(self.subjects) do
    if self:wants(subject) then return end
  end
  fail "nothing to measure: no subject supports the measurements of --only; add a --peer"
end

-- The source keeps what it read.
local function size_of(path)
  local file = io.open(path)
  local size = file and file:seek "end" or 0
  if file then file:close() end
  return size
end

-- Bytes for the source with these data, and for kubelua with the pods in its cache.
function plan.memory_need(data)
  local pod = SOURCE_BYTES + (data.replicas == 1 and POD_ALONE_BYTES or POD_BYTES)
  local encoded = data.encodings and size_of(data.encodings .. "/pods.pb") + size_of(data.encodings .. "/metadata.pb")
  return PROCESSES_BYTES + data.pods * pod + (encoded or 0)
end

-- Returns the need of the subject that needs most.
function plan:largest()
  local most = self.data
  for _, data in ipairs(self.full and plan.larger or {}) do
    if plan.memory_need(data) > plan.memory_need(most) then most = data end
  end
  return most
end

function plan:has_peers()
  for _, subject in ipairs(self.subjects) do
    if subject.command then return true end
  end
  return false
end

-- Nobody knows beforehand how much a peer takes.
function plan:check_memory()
  local data = self:largest()
  local need, available = plan.memory_need(data), proc.memory "MemAvailable"
  local text = ("%s pods need about %.1f GiB of memory (the source, and kubelua's cache), and %.1f GiB are available")
    :format(number.exact(data.pods), need / 2 ^ 30, available / 2 ^ 30)
  if available > 0 and need > available then fail("%s", text) end
  if data.pods >= MANY then self.host.report(text) end
  if self.data.pods >= MANY and self:has_peers() then
    self.host.report "peers may need many times as much memory"
  end
end

return plan
