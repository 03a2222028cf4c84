-- k8s.leader, k8s.is_leader, k8s.on_leader: which of several processes does what only one may do.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"

local leader = { is_leader = raw.leader.is_leader }

local OPTIONS = {
  lease = "string",
  duration = "duration",
  renew = "duration",
  retry = "duration",
  labels = "table",
}

-- Key, value, key, value, ..., sorted: two scripts that say the same say the same.
local function pairs_of(labels)
  local keys, list = {}, {}
  for key, value in pairs(labels) do
    if type(key) ~= "string" or type(value) ~= "string" then
      raw.raise "k8s.leader: labels: keys and values must be strings"
    end
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    list[#list + 1], list[#list + 2] = key, labels[key]
  end
  return list
end

-- k8s.leader { lease = "rules", duration = "15s", renew = "10s", retry = "2s" }: this script takes part in an election.
-- What is not said is as --leader-elect-... say; a lease in another namespace, "ops/rules", is declared by k8s.writes.
-- While the script loads only.
function leader.leader(given)
  local own = options.check("k8s.leader", given, OPTIONS)
  local namespace, name = nil, own.lease
  if name and string.find(name, "/", 1, true) then
    namespace, name = string.match(name, "^([^/]*)/(.*)$")
  end
  raw.leader.claim(namespace, name, own.duration, own.renew, own.retry, unpack(pairs_of(own.labels or {})))
  plan.add("leader", own.lease or "k8s.leader", plan.text(own))
end

-- k8s.on_leader(start, stop, options): `start` is called when this process begins to lead and the informers of the
-- script are synced (not waited for with `wait = false`), `stop` when it leads no more.
function leader.on_leader(start, stop, given)
  local own = options.check("k8s.on_leader", given, { wait = "boolean" })
  raw.leader.on_leader(start, stop, own.wait)
  plan.add("leader", "k8s.on_leader", plan.text { start = start, stop = stop, wait = own.wait })
end

return leader
