-- The controls of the Pod Security Standards (https://kubernetes.io/docs/concepts/security/pod-security-standards/),
-- each with the name that the standard gives it, as functions (pod, say): say(problem, path in the pod spec, value).
-- They are the controls of Kubernetes 1.36.
local pods = require "_pods"
local values = require "_values"

local list, map, maps, text = values.list, values.map, values.maps, values.text

local controls = { baseline = {}, restricted = {} }

local function set(words)
  local found = {}
  for word in words:gmatch "%S+" do
    found[word] = true
  end
  return found
end

-- A container, or the pod itself, with its security context, which may be nil.
local Holder = {}
Holder.__index = Holder

function Holder:path(field)
  return self.list and ("%s[%d].%s"):format(self.list, self.i, field) or field
end

-- The path of a field of its security context.
function Holder:context_path(field)
  return self:path("securityContext." .. field)
end

function Holder:says()
  return self.list and "container " .. (text(self.it.name) or self.i) or "the pod"
end

local LISTS = { "initContainers", "containers", "ephemeralContainers" }

-- What the controls look at, found once for all of them: the pod spec, its containers, and what has a security context.
function controls.pod(spec, annotations)
  local pod = { spec = spec, annotations = annotations, containers = {}, contexts = {} }
  pod.context = map(spec.securityContext)
  pod.contexts[1] = pod.context and setmetatable({ it = spec, context = pod.context }, Holder)
  for _, name in ipairs(LISTS) do
    for i, container in maps(spec[name]) do
      local holder = { it = container, list = name, i = i, context = map(container.securityContext) }
      pod.containers[#pod.containers + 1] = setmetatable(holder, Holder)
      pod.contexts[#pod.contexts + 1] = holder.context and holder
    end
  end
  return pod
end

local function baseline(name, check, overridden)
  table.insert(controls.baseline, { name = name, check = check, overridden = overridden })
end

local function restricted(name, check)
  table.insert(controls.restricted, { name = name, check = check })
end

-- In a user namespace of its own the pod's root is nobody outside.
local function has_own_users(pod)
  return pod.spec.hostUsers == false
end

baseline("HostProcess", function(pod, say)
  for _, holder in ipairs(pod.contexts) do
    local options = map(holder.context.windowsOptions)
    if options and options.hostProcess == true then
      say(holder:says() .. " is a HostProcess", holder:context_path "windowsOptions.hostProcess", true)
    end
  end
end)

baseline("Host Namespaces", function(pod, say)
  for _, field in ipairs { "hostNetwork", "hostPID", "hostIPC" } do
    if pod.spec[field] == true then
      say(field .. " is true", field, true)
    end
  end
end)

-- Calls fn(container, its context) for each that has one.
local function each_context(pod, fn)
  for _, container in ipairs(pod.containers) do
    if container.context then
      fn(container, container.context)
    end
  end
end

baseline("Privileged Containers", function(pod, say)
  each_context(pod, function(container, context)
    if context.privileged == true then
      say(container:says() .. " is privileged", container:context_path "privileged", true)
    end
  end)
end)

local function check_added(allowed)
  return function(pod, say)
    each_context(pod, function(container, context)
      local capabilities = map(context.capabilities)
      for i, added in ipairs(list(capabilities and capabilities.add)) do
        if not allowed[added] then
          local path = container:context_path(("capabilities.add[%d]"):format(i - 1))
          say(("%s adds %s"):format(container:says(), tostring(added)), path, text(added))
        end
      end
    end)
  end
end

local BASELINE_CAPABILITIES = set [[AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP
  SETGID SETPCAP SETUID SYS_CHROOT]]
baseline("Capabilities", check_added(BASELINE_CAPABILITIES), true)

baseline("HostPath Volumes", function(pod, say)
  for i, volume in maps(pod.spec.volumes) do
    local path = map(volume.hostPath)
    if path then
      local name = text(volume.name) or i
      say(("the volume %s is a hostPath"):format(name), ("volumes[%d].hostPath"):format(i), text(path.path))
    end
  end
end, true)

baseline("Host Ports", function(pod, say)
  for _, container in ipairs(pod.containers) do
    for i, port in maps(container.it.ports) do
      local number = port.hostPort
      if type(number) == "number" and number ~= 0 then
        local path = container:path(("ports[%d].hostPort"):format(i))
        say(("%s has port %d of the node"):format(container:says(), number), path, number)
      end
    end
  end
end)

local PROBES = { "livenessProbe", "readinessProbe", "startupProbe" }
local HOOKS = { "postStart", "preStop" }
local ACTIONS = { "httpGet", "tcpSocket" }

local function check_host(container, handler, path, name, say)
  for _, field in ipairs(handler and ACTIONS or {}) do
    local action = map(handler[field])
    local host = action and text(action.host)
    if host then
      local place = container:path(("%s%s.%s.host"):format(path, name, field))
      say(("%s asks the host %s"):format(container:says(), host), place, host)
    end
  end
end

baseline("Host Probes / Lifecycle Hooks", function(pod, say)
  for _, container in ipairs(pod.containers) do
    for _, probe in ipairs(PROBES) do
      check_host(container, map(container.it[probe]), "", probe, say)
    end
    local lifecycle = map(container.it.lifecycle)
    for _, hook in ipairs(lifecycle and HOOKS or {}) do
      check_host(container, map(lifecycle[hook]), "lifecycle.", hook, say)
    end
  end
end)

local PROFILES = set "RuntimeDefault Localhost"

-- Has profiles of that field be one of these.
local function check_profiles(pod, say, field, called)
  for _, holder in ipairs(pod.contexts) do
    local profile = map(holder.context[field])
    if profile and not PROFILES[profile.type] then
      local problem = ("%s has the %s profile %s"):format(holder:says(), called, tostring(profile.type))
      say(problem, holder:context_path(field .. ".type"), text(profile.type))
    end
  end
end

local APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

baseline("AppArmor", function(pod, say)
  check_profiles(pod, say, "appArmorProfile", "AppArmor")
  for key, value in pairs(list(pod.annotations)) do
    if type(key) == "string" and key:sub(1, #APPARMOR) == APPARMOR and text(value) then
      if value ~= "runtime/default" and not value:find "^localhost/" then
        say(("the annotation %s is %s"):format(key, value), nil, value)
      end
    end
  end
end)

local SELINUX = set "container_t container_init_t container_kvm_t container_engine_t"

baseline("SELinux", function(pod, say)
  for _, holder in ipairs(pod.contexts) do
    local options = map(holder.context.seLinuxOptions)
    for _, field in ipairs(options and { "type", "user", "role" } or {}) do
      local value = text(options[field])
      if value and not (field == "type" and SELINUX[value]) then
        local problem = ("%s has the SELinux %s %s"):format(holder:says(), field, value)
        say(problem, holder:context_path("seLinuxOptions." .. field), value)
      end
    end
  end
end)

local function check_proc(pod, say)
  each_context(pod, function(container, context)
    local mount = context.procMount
    if mount ~= nil and mount ~= "Default" then
      local problem = ("%s has the procMount %s"):format(container:says(), tostring(mount))
      say(problem, container:context_path "procMount", text(mount))
    end
  end)
end

baseline("/proc Mount Type", function(pod, say)
  if not has_own_users(pod) then
    check_proc(pod, say)
  end
end, true)

local function check_seccomp(pod, say)
  check_profiles(pod, say, "seccompProfile", "seccomp")
end
baseline("Seccomp", check_seccomp, true)

local SYSCTLS = set [[kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_unprivileged_port_start
  net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time
  net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem
  net.ipv4.tcp_wmem]]

baseline("Sysctls", function(pod, say)
  for i, sysctl in maps(pod.context and pod.context.sysctls) do
    if not SYSCTLS[sysctl.name] then
      local path = ("securityContext.sysctls[%d].name"):format(i)
      say(("the pod sets %s"):format(tostring(sysctl.name)), path, text(sysctl.name))
    end
  end
end)

local VOLUMES = {}
for kind in
  ([[configMap emptyDir secret projected persistentVolumeClaim downwardAPI csi ephemeral image]]):gmatch "%S+"
do
  VOLUMES[#VOLUMES + 1] = kind
end

local function is_allowed(volume)
  for _, kind in ipairs(VOLUMES) do
    if map(volume[kind]) then
      return true
    end
  end
  return false
end

restricted("Volume Types", function(pod, say)
  for i, volume in maps(pod.spec.volumes) do
    if not is_allowed(volume) then
      local name = text(volume.name) or i
      say(("the volume %s is of a kind that is not allowed"):format(name), ("volumes[%d]"):format(i))
    end
  end
end)

-- Of what Windows has not.
local function on_linux(check)
  return function(pod, say)
    if not pods.is_windows(pod.spec) then
      check(pod, say)
    end
  end
end

restricted("Privilege Escalation", on_linux(function(pod, say)
  for _, container in ipairs(pod.containers) do
    if not container.context or container.context.allowPrivilegeEscalation ~= false then
      local path = container:context_path "allowPrivilegeEscalation"
      say(container:says() .. " does not set allowPrivilegeEscalation to false", path)
    end
  end
end))

restricted("Running as Non-root", function(pod, say)
  if has_own_users(pod) then
    return
  end
  local all = pod.context and pod.context.runAsNonRoot
  if all == false then
    say("the pod sets runAsNonRoot to false", "securityContext.runAsNonRoot", false)
  end
  for _, container in ipairs(pod.containers) do
    local own = container.context and container.context.runAsNonRoot
    if own ~= true and (own ~= nil or all ~= true) then
      say(container:says() .. " may run as root", container:context_path "runAsNonRoot")
    end
  end
end)

restricted("Running as Non-root user", function(pod, say)
  for _, holder in ipairs(has_own_users(pod) and {} or pod.contexts) do
    if holder.context.runAsUser == 0 then
      say(holder:says() .. " runs as user 0", holder:context_path "runAsUser", 0)
    end
  end
end)

restricted("Seccomp", on_linux(function(pod, say)
  check_seccomp(pod, say)
  local all = pod.context and map(pod.context.seccompProfile)
  if all and PROFILES[all.type] then
    return
  end
  for _, container in ipairs(pod.containers) do
    if not container.context or not map(container.context.seccompProfile) then
      say(container:says() .. " has no seccomp profile", container:context_path "seccompProfile")
    end
  end
end))

local check_all_but_bind = check_added(set "NET_BIND_SERVICE")

restricted("Capabilities", on_linux(function(pod, say)
  check_all_but_bind(pod, say)
  for _, container in ipairs(pod.containers) do
    local capabilities = container.context and map(container.context.capabilities)
    if not values.has(capabilities and capabilities.drop, "ALL") then
      say(container:says() .. " does not drop ALL", container:context_path "capabilities.drop")
    end
  end
end))

restricted("/proc Mount Type", check_proc)

return controls
