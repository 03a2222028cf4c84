-- The rules pss-baseline and pss-restricted against Kubernetes' own library of the Pod Security Standards: of some
-- thousand pods both say the same, control by control.
local cjson = require "cjson"
local generated = require "spec.support.generated_pods"
local rules = require "spec.support.rules"
local temp = require "spec.support.temp"

-- The names that the standard gives to what the library calls so.
local CONTROLS = {
  allowPrivilegeEscalation = "Privilege Escalation",
  appArmorProfile = "AppArmor",
  capabilities_baseline = "Capabilities",
  capabilities_restricted = "Capabilities",
  hostNamespaces = "Host Namespaces",
  hostPathVolumes = "HostPath Volumes",
  hostPorts = "Host Ports",
  hostProbesAndHostLifecycle = "Host Probes / Lifecycle Hooks",
  privileged = "Privileged Containers",
  procMount = "/proc Mount Type",
  procMount_restricted = "/proc Mount Type",
  restrictedVolumes = "Volume Types",
  runAsNonRoot = "Running as Non-root",
  runAsUser = "Running as Non-root user",
  seLinuxOptions = "SELinux",
  seccompProfile_baseline = "Seccomp",
  seccompProfile_restricted = "Seccomp",
  sysctls = "Sysctls",
  windowsHostProcess = "HostProcess",
}

local COUNT = 2000

-- "p7 baseline: Host Ports, SELinux" for each pod and policy, from sets of controls by "p7 baseline".
local function lines_of(sets)
  local lines = {}
  for key, set in pairs(sets) do
    local names = {}
    for name in pairs(set) do names[#names + 1] = name end
    table.sort(names)
    lines[#lines + 1] = key .. ": " .. table.concat(names, ", ")
  end
  table.sort(lines)
  return lines
end

local function said_by_kubernetes(path)
  local sets, seen = {}, {}
  for line in temp.run("build/real/apiserver --pod-security " .. path):gmatch "[^\n]+" do
    local key, ids = line:match "^(%S+ %S+) (.*)$"
    sets[key] = {}
    for id in ids:gmatch "[^,]+" do
      sets[key][assert(CONTROLS[id], id)] = true
      seen[id] = true
    end
  end
  return sets, seen
end

local function said_by_rules(path)
  local sets = {}
  for i = 1, COUNT do
    for _, level in ipairs { "baseline", "restricted" } do sets[("p%d %s"):format(i, level)] = {} end
  end
  for _, row in ipairs(rules.audit("-f", rules.folder .. "/pod_security.lua", "--from", path).results) do
    sets[("%s %s"):format(row.name, row.rule:match "pss%-(.*)")][row.message:match "^[^:]*"] = true
  end
  return sets
end

describe("the Pod Security Standards", function()
  it("are to the rules what they are to Kubernetes", function()
    local folder, items = temp.folder(), {}
    for i, pod in ipairs(generated.pods(COUNT)) do items[i] = cjson.encode(pod) end
    local path = folder .. "/pods.json"
    temp.write(path, '{"apiVersion":"v1","kind":"List","items":[' .. table.concat(items, ",\n") .. "]}")
    local by_kubernetes, seen = said_by_kubernetes(path)
    assert.are.same(lines_of(by_kubernetes), lines_of(said_by_rules(path)))
    for id in pairs(CONTROLS) do assert.is_true(seen[id], "no pod for " .. id) end
    local allowed = 0
    for _, set in pairs(by_kubernetes) do allowed = allowed + (next(set) and 0 or 1) end
    assert.is_true(allowed > 50)
    temp.remove(folder)
  end)
end)
