-- The output of kubectl, without what differs from run to run and what is another server's own.
local plain = {}

local letters = "[bcdfghjklmnpqrstvwxz2456789]"
local suffix = letters:rep(5) .. "%f[^%w]"

-- Times, ages, versions, uids, addresses.
local function without_times(line)
  line = line:gsub("%x%x%x%x%x%x%x%x%-%x+%-%x+%-%x+%-%x+", "UID"):gsub("%d%d%d%d%-%d%d%-%d%dT[%d:]+Z", "TIME")
  line = line:gsub("%a%a%a, %d%d %a%a%a %d%d%d%d [%d:]+ %+0000", "TIME"):gsub("resourceVersion: \"%d+\"", "VERSION")
  line = line:gsub("%f[%w]%d+m?%d*m?s%f[^%w]", "AGE"):gsub("(https?://)[%d.:]+", "%1SERVER")
  return (line:gsub("%f[%d]10%.%d+%.%d+%.%d+", "ADDRESS"))
end

-- Generated names: of pods, jobs and slices; of ReplicaSets and revisions, which have a hash of their template.
local function without_names(line)
  line = line:gsub("(pod%-template%-hash[\"=: ]+)%w+", "%1HASH")
  line = line:gsub("(controller%-revision%-hash[\"=: ]+)[%w%-]+", "%1HASH"):gsub("(Revision: %l+)%-%w+$", "%1-HASH")
  line = line:gsub("%-" .. letters .. "+%-" .. suffix, "-HASH-SUFFIX"):gsub("%-" .. suffix, "-SUFFIX")
  return (line:gsub("%f[%w](%l+)%-(%w+)%f[^%w]", function(name, hash)
    if #hash >= 7 and not hash:find "[aeiouy013]" then return name .. "-HASH" end
  end))
end

-- Not compared: how Events behind an object were counted, labels of their node's place, which pods of a world
-- do not get, and the generation of a DaemonSet's template, which is the server's.
local function without_own(text)
  text = text:gsub("\nEvents:.-(\nexit code)", "%1"):gsub(',"topology.kubernetes.io/zone":"[%w-]+"', "")
  return (text:gsub("(deprecated.daemonset.template.generation: )\"%d+\"", "%1N"))
end

function plain.of(text)
  local lines = {}
  for line in without_own(text):gmatch "[^\n]+" do
    lines[#lines + 1] = without_names(without_times(line)):gsub(" +", " "):gsub(" $", "")
  end
  return table.concat(lines, "\n")
end

return plain
