-- What a process in a container may do to its node.
--   kubelua audit -f scripts/rules/security.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"

k8s.rule {
  id = "privileged",
  title = "Containers are not privileged",
  severity = "critical",
  category = "Security",
  why = "A privileged container sees all devices of its node and has all capabilities: whoever is in it owns the "
    .. "node.",
  how = "Remove securityContext.privileged, and add the one capability or device that is needed.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      if pods.security(container, place, "flag", "privileged") == true then
        r:fail(place:says() .. " is privileged", { path = place:path "securityContext.privileged", value = true })
      end
    end
  end,
}

-- The server refuses to forbid it to those who have everything already.
local function needs_escalation(context)
  local capabilities = context.capabilities
  local added = type(capabilities) == "table" and capabilities.add
  for _, capability in ipairs(type(added) == "table" and added or {}) do
    if capability == "SYS_ADMIN" or capability == "CAP_SYS_ADMIN" then
      return true
    end
  end
  return context.privileged == true
end

k8s.rule {
  id = "privilege-escalation",
  title = "Containers cannot gain privileges",
  severity = "medium",
  category = "Security",
  why = "Unless it is forbidden, a program with the setuid bit gives its caller the rights of root in the "
    .. "container.",
  how = "Set securityContext.allowPrivilegeEscalation to false.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec or pods.is_windows(spec, prefix) then
      return
    end
    for container, place in pods.containers(obj) do
      local allowed = pods.security(container, place, "flag", "allowPrivilegeEscalation")
      if allowed ~= false then
        r:fail(place:says() .. " may gain privileges", {
          path = place:path "securityContext.allowPrivilegeEscalation",
          value = allowed,
        })
      end
    end
  end,
  fix = function(obj)
    return pods.patch_containers(obj, function(container)
      local context = container.securityContext
      context = type(context) == "table" and context or {}
      if context.allowPrivilegeEscalation == false or needs_escalation(context) then
        return false
      end
      context.allowPrivilegeEscalation = false
      container.securityContext = context
      return true
    end)
  end,
}

k8s.rule {
  id = "run-as-non-root",
  title = "Containers do not run as root",
  severity = "medium",
  category = "Security",
  why = "Root in a container is root on the node for the kernel: a flaw of either gives away the node. Unless "
    .. "something is said, a container runs as the user of its image, which most often is root.",
  how = "Set runAsNonRoot to true, or runAsUser to a number above 0, for the pod or for each container.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec or pods.is_windows(spec, prefix) then
      return
    end
    for container, place in pods.containers(obj) do
      local user = pods.inherited(container, place, "number", "runAsUser")
      if user == 0 then
        r:fail(place:says() .. " runs as root", { path = place:path "securityContext.runAsUser", value = 0 })
      elseif user == nil and pods.inherited(container, place, "flag", "runAsNonRoot") ~= true then
        r:fail(place:says() .. " may run as root", { path = place:path "securityContext.runAsNonRoot" })
      end
    end
  end,
}

k8s.rule {
  id = "read-only-root",
  title = "Containers cannot write to their own files",
  severity = "low",
  category = "Security",
  why = "Who gets into a container whose files are read-only cannot replace its program, or bring tools along.",
  how = "Set securityContext.readOnlyRootFilesystem to true, and mount an emptyDir where the program writes.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec or pods.is_windows(spec, prefix) then
      return
    end
    for container, place in pods.containers(obj) do
      if pods.security(container, place, "flag", "readOnlyRootFilesystem") ~= true then
        r:fail(place:says() .. " can write to its root file system", {
          path = place:path "securityContext.readOnlyRootFilesystem",
        })
      end
    end
  end,
}

-- Capabilities that give away the node, or other pods on it.
local DANGEROUS = {}
for capability in
  ([[ALL BPF CHECKPOINT_RESTORE DAC_READ_SEARCH LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE NET_ADMIN NET_RAW PERFMON
  SYS_ADMIN SYS_BOOT SYS_MODULE SYS_PTRACE SYS_RAWIO SYS_TIME SYSLOG]]):gmatch "%S+"
do
  DANGEROUS[capability] = true
end

-- The lists `add` or `drop` of a container.
local function capabilities(container, place, part)
  local both = pods.security(container, place, "map", "capabilities")
  local found = both and both[part]
  return shapes.expect("list", found, place, "securityContext.capabilities.%s", part) or {}
end

local function name_of(capability)
  return type(capability) == "string" and capability:upper():gsub("^CAP_", "") or nil
end

k8s.rule {
  id = "capabilities-added",
  title = "Containers add no dangerous capabilities",
  severity = "high",
  category = "Security",
  why = "Such a capability lets a process change the node's network, kernel or clock, or read what other processes "
    .. "have. SYS_ADMIN and ALL are as good as privileged.",
  how = "Remove it from securityContext.capabilities.add.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      for i, capability in ipairs(capabilities(container, place, "add")) do
        local name = name_of(capability)
        if name and DANGEROUS[name] then
          r:fail(("%s adds the capability %s"):format(place:says(), name), {
            path = place:path(("securityContext.capabilities.add[%d]"):format(i - 1)),
            value = capability,
          })
        end
      end
    end
  end,
}

k8s.rule {
  id = "capabilities-not-dropped",
  title = "Containers drop all capabilities",
  severity = "low",
  category = "Security",
  why = "A container has some capabilities from the beginning, for raw sockets and other users' files among others. "
    .. "Few programs need one of them.",
  how = 'Set securityContext.capabilities.drop to ["ALL"], and add back what is needed.',
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec or pods.is_windows(spec, prefix) then
      return
    end
    for container, place in pods.containers(obj) do
      local dropped = false
      for _, capability in ipairs(capabilities(container, place, "drop")) do
        dropped = dropped or name_of(capability) == "ALL"
      end
      if not dropped then
        r:fail(place:says() .. " keeps the capabilities that containers have by default", {
          path = place:path "securityContext.capabilities.drop",
        })
      end
    end
  end,
}

k8s.rule {
  id = "seccomp",
  title = "Containers have a seccomp profile",
  severity = "low",
  category = "Security",
  why = "Without a profile a process may make each of the kernel's several hundred calls, also those in which most "
    .. "flaws were found.",
  how = "Set securityContext.seccompProfile.type to RuntimeDefault for the pod.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec or pods.is_windows(spec, prefix) then
      return
    end
    for container, place in pods.containers(obj) do
      local profile = pods.inherited(container, place, "map", "seccompProfile")
      local type = profile and profile.type
      if type ~= "RuntimeDefault" and type ~= "Localhost" then
        r:fail(place:says() .. " has no seccomp profile", {
          path = place:path "securityContext.seccompProfile",
          value = type,
        })
      end
    end
  end,
}
