-- Addresses of pods: the next one that is free in the block of their node.
local cache = require "world.cache"

local ips = {}

local used = {} -- of pods: address -> uid
local at = {}   -- of a node: the last number that was given
local POD_BLOCK = 250

local function note(pod)
  local ip = pod.status and pod.status.podIP
  if ip and not pod.spec.hostNetwork then used[ip] = pod.metadata.uid end
end

-- The first three numbers of a node's block: its podCIDR's, or one by its place among the nodes.
local function block_of(name)
  local node = cache.get("nodes", name)
  local block = ((node.spec or {}).podCIDR or ""):match "^(%d+%.%d+%.%d+)%."
  if block then return block end
  for i, other in ipairs(cache.list "nodes") do
    if other.metadata.name == name then return ("10.%d.%d"):format(100 + math.floor(i / 250), i % 250) end
  end
end

-- The pod's address, or a new one of its node; nil if all are used.
function ips.take(pod)
  if pod.status and pod.status.podIP then return pod.status.podIP end
  local name = pod.spec.nodeName
  local block = block_of(name)
  for _ = 1, POD_BLOCK do
    at[name] = (at[name] or 0) % POD_BLOCK + 1
    local ip = ("%s.%d"):format(block, at[name] + 1)
    if not used[ip] then
      used[ip] = pod.metadata.uid
      return ip
    end
  end
end

function ips.release(pod)
  local ip = pod.status and pod.status.podIP
  if ip and used[ip] == pod.metadata.uid then used[ip] = nil end
end

cache.on("pods", function(new) if new then note(new) end end)

return ips
