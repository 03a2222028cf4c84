-- k8s.queue: a rate limited work queue, as client-go's. Its verbs are C's; here is what is made of them.
local raw = ...

local blocking = require("k8s.task").blocking

local queue = {}

queue.KNOWN = {
  name = "string",
  workers = "number",
  max_retries = "number",
  leader = "boolean",
  base = "duration",
  max = "duration",
  qps = "number",
  burst = "number",
  fast = "duration",
  slow = "duration",
  fast_tries = "number",
  max_wait = "duration",
}

local WITHOUT_NAME = { name = true }

local function maker(verb)
  return function(own)
    local made, plan = verb(own), require "k8s.plan"
    plan.add("queue", own.name, plan.text(own, WITHOUT_NAME))
    return made
  end
end

local make = maker(raw.queue.new)

-- k8s.queue { name = "x", ... }. While the script loads only.
function queue.new(given)
  return make(require("k8s.options").check("k8s.queue", given, queue.KNOWN))
end

-- For k8s.controller, which has checked what it was given.
queue.new_of_controller = maker(raw.queue.new_of_controller)

raw.job.runner(require "k8s.job")

local methods = raw.queue.methods
local key_of, is_view = raw.object.key, raw.view.is

methods.get = blocking(raw.queue.get)

local drain = blocking(raw.queue.drain)

-- q:shut_down(), or q:shut_down { drain = true }, which waits until the work is done.
function methods:shut_down(given)
  local how = require("k8s.options").check("queue:shut_down", given, { drain = "boolean" })
  if how.drain then
    return drain(self)
  end
  raw.queue.shut_down(self)
end

-- Checks what `map` returned for an object; `what` is its name in errors.
local function add_mapped(self, mapped, map, what)
  if type(mapped) == "string" then
    return self:add(mapped)
  end
  if mapped == nil then
    return
  end
  if type(mapped) ~= "table" then
    raw.raise_at(map, what .. " must return a key, a list of keys or nothing, not " .. type(mapped))
  end
  for _, key in ipairs(mapped) do
    self:add(key)
  end
end

-- Adds what `map` makes of an object: of an update both of the old one and of the new one, as either may concern other
-- keys; so may the state that was told before a delete.
function queue.mapper(self, map, what)
  local function add(object, new)
    add_mapped(self, map(object), map, what)
    local other = type(new) == "table" and new.previous or new
    if is_view(other) then
      add_mapped(self, map(other), map, what)
    end
  end
  if raw.plan.is_open() then
    require("k8s.plan").calls(add, map)
  end
  return add
end

-- A function for OnAdd, OnUpdate and OnDelete. It adds the object's key, or what `map` makes of the object.
function methods:enqueuer(map)
  if map == nil then
    return function(object) -- the key of an old object is the new one's
      self:add(key_of(object))
    end
  end
  if type(map) ~= "function" then
    raw.raise("queue:enqueuer: expected a function, not " .. type(map))
  end
  return queue.mapper(self, map, "queue:enqueuer: the function")
end

return queue
