-- Permissions of containers on their node.
--   kubelua audit -f scripts/rules/security.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"

k8s.rule {
  id = "privileged",
  title = "Containers are not privileged",
  severity = "critical",
  category = "Security",
  why = "A privileged container has access to all devices of its node and has all capabilities. A process in it can "
    .. "take over the node.",
  how = "Remove securityContext.privileged, and add only the capability or device that is needed.",
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

-- The server rejects allowPrivilegeEscalation: false for containers with these permissions.
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
  why = "By default, a program with the setuid bit runs as its owner, often root, whoever starts it.",
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
  why = "For the kernel, root in a container is root on the node: a bug in the kernel or in the container runtime "
    .. "then exposes the node. By default, a container runs as the user of its image, which is often root.",
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
  title = "Containers have a read-only root file system",
  severity = "low",
  category = "Security",
  why = "If the root file system is read-only, an intruder in the container can neither replace its program nor "
    .. "install tools.",
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

-- Capabilities that give access to the node, or to other pods on it.
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
  why = "With such a capability, a process can change the node's network, kernel or clock, or read data of other "
    .. "processes. SYS_ADMIN and ALL are as dangerous as privileged.",
  how = "Remove the capability from securityContext.capabilities.add.",
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
  why = "By default, a container has some capabilities, for example for raw sockets and for files of other users. Few "
    .. "programs need one of them.",
  how = 'Set securityContext.capabilities.drop to ["ALL"], and add back what the program needs.',
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
        r:fail(place:says() .. " keeps the default capabilities", {
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
  why = "Without a profile, a process may use all system calls of the kernel, including those where most bugs were "
    .. "found.",
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
