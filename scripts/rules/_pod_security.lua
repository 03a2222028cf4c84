-- The controls of the Pod Security Standards (https://kubernetes.io/docs/concepts/security/pod-security-standards/),
-- as of Kubernetes 1.36, each with its name in the standard, as functions (pod, report): report(problem, path, value),
-- with a path in the pod spec.
local pods = require "_pods"
local shapes = require "_shapes"
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

-- Keeps the paths of the holder and of its security context, for errors. `name` is the list that contains it.
local function new_holder(it, where, name, i)
  local holder = { it = it, where = where, of_context = where .. ".securityContext", list = name, i = i }
  holder.context = shapes.map(it, "securityContext", where)
  return setmetatable(holder, Holder)
end

-- The input of all controls, collected once: the pod spec at the path `prefix`, its containers, and the holders that
-- have a security context.
function controls.pod(spec, prefix, annotations)
  local pod = { spec = spec, prefix = prefix, annotations = annotations, containers = {}, contexts = {} }
  local own = new_holder(spec, prefix)
  pod.context = own.context
  pod.contexts[1] = own.context and own
  for _, name in ipairs(LISTS) do
    for i, container in maps(spec[name]) do
      local holder = new_holder(container, ("%s.%s[%d]"):format(prefix, name, i), name, i)
      pod.containers[#pod.containers + 1] = holder
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

-- In its own user namespace, the pod's root has no permissions on the node.
local function has_own_users(pod)
  return shapes.flag(pod.spec, "hostUsers", pod.prefix) == false
end

baseline("HostProcess", function(pod, report)
  for _, holder in ipairs(pod.contexts) do
    local options = shapes.map(holder.context, "windowsOptions", holder.of_context)
    if shapes.flag(options, "hostProcess", holder.of_context .. ".windowsOptions") then
      report(holder:says() .. " is a HostProcess", holder:context_path "windowsOptions.hostProcess", true)
    end
  end
end)

baseline("Host Namespaces", function(pod, report)
  for _, field in ipairs { "hostNetwork", "hostPID", "hostIPC" } do
    if shapes.flag(pod.spec, field, pod.prefix) then
      report(field .. " is true", field, true)
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

baseline("Privileged Containers", function(pod, report)
  each_context(pod, function(container, context)
    if shapes.flag(context, "privileged", container.of_context) then
      report(container:says() .. " is privileged", container:context_path "privileged", true)
    end
  end)
end)

local function check_added(allowed)
  return function(pod, report)
    each_context(pod, function(container, context)
      local capabilities = shapes.map(context, "capabilities", container.of_context)
      local all = capabilities and capabilities.add
      for i, added in ipairs(shapes.expect("list", all, container.of_context, "capabilities.add") or {}) do
        if not allowed[added] then
          local path = container:context_path(("capabilities.add[%d]"):format(i - 1))
          report(("%s adds %s"):format(container:says(), tostring(added)), path, text(added))
        end
      end
    end)
  end
end

local BASELINE_CAPABILITIES = set [[AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP
  SETGID SETPCAP SETUID SYS_CHROOT]]
baseline("Capabilities", check_added(BASELINE_CAPABILITIES), true)

baseline("HostPath Volumes", function(pod, report)
  for i, volume in shapes.maps(pod.spec, "volumes", pod.prefix) do
    local path = shapes.expect("map", volume.hostPath, pod.prefix, "volumes[%d].hostPath", i)
    if path then
      local name = text(volume.name) or i
      report(("volume %s is a hostPath"):format(name), ("volumes[%d].hostPath"):format(i), text(path.path))
    end
  end
end, true)

baseline("Host Ports", function(pod, report)
  for _, container in ipairs(pod.containers) do
    for i, port in shapes.maps(container.it, "ports", container.where) do
      local number = shapes.expect("number", port.hostPort, container.where, "ports[%d].hostPort", i)
      if number and number ~= 0 then
        local path = container:path(("ports[%d].hostPort"):format(i))
        report(("%s uses port %d of the node"):format(container:says(), number), path, number)
      end
    end
  end
end)

local PROBES = { "livenessProbe", "readinessProbe", "startupProbe" }
local HOOKS = { "postStart", "preStop" }
local ACTIONS = { "httpGet", "tcpSocket" }

local function check_host(container, handler, path, name, report)
  for _, field in ipairs(handler and ACTIONS or {}) do
    local action = shapes.expect("map", handler[field], container.where, "%s%s.%s", path, name, field)
    local host = action and action.host
    if shapes.expect("text", host, container.where, "%s%s.%s.host", path, name, field) and host ~= "" then
      local place = container:path(("%s%s.%s.host"):format(path, name, field))
      report(("%s connects to the host %s"):format(container:says(), host), place, host)
    end
  end
end

baseline("Host Probes / Lifecycle Hooks", function(pod, report)
  for _, container in ipairs(pod.containers) do
    for _, probe in ipairs(PROBES) do
      check_host(container, shapes.map(container.it, probe, container.where), "", probe, report)
    end
    local lifecycle = shapes.map(container.it, "lifecycle", container.where)
    for _, hook in ipairs(lifecycle and HOOKS or {}) do
      local handler = shapes.expect("map", lifecycle[hook], container.where, "lifecycle.%s", hook)
      check_host(container, handler, "lifecycle.", hook, report)
    end
  end
end)

local PROFILES = set "RuntimeDefault Localhost"

-- Reports profiles in that field that are not allowed.
local function check_profiles(pod, report, field, called)
  for _, holder in ipairs(pod.contexts) do
    local profile = shapes.map(holder.context, field, holder.of_context)
    if profile and not PROFILES[profile.type] then
      local problem = ("%s has the %s profile %s"):format(holder:says(), called, tostring(profile.type))
      report(problem, holder:context_path(field .. ".type"), text(profile.type))
    end
  end
end

local APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

baseline("AppArmor", function(pod, report)
  check_profiles(pod, report, "appArmorProfile", "AppArmor")
  for key, value in pairs(list(pod.annotations)) do
    if type(key) == "string" and key:sub(1, #APPARMOR) == APPARMOR and text(value) then
      if value ~= "runtime/default" and not value:find "^localhost/" then
        report(("the annotation %s is %s"):format(key, value), nil, value)
      end
    end
  end
end)

local SELINUX = set "container_t container_init_t container_kvm_t container_engine_t"

baseline("SELinux", function(pod, report)
  for _, holder in ipairs(pod.contexts) do
    local options = shapes.map(holder.context, "seLinuxOptions", holder.of_context)
    for _, field in ipairs(options and { "type", "user", "role" } or {}) do
      local value = text(shapes.expect("text", options[field], holder.of_context, "seLinuxOptions.%s", field))
      if value and not (field == "type" and SELINUX[value]) then
        local problem = ("%s has the SELinux %s %s"):format(holder:says(), field, value)
        report(problem, holder:context_path("seLinuxOptions." .. field), value)
      end
    end
  end
end)

local function check_proc(pod, report)
  each_context(pod, function(container, context)
    local mount = context.procMount
    if mount ~= nil and mount ~= "Default" then
      local problem = ("%s has the procMount %s"):format(container:says(), tostring(mount))
      report(problem, container:context_path "procMount", text(mount))
    end
  end)
end

baseline("/proc Mount Type", function(pod, report)
  if not has_own_users(pod) then
    check_proc(pod, report)
  end
end, true)

local function check_seccomp(pod, report)
  check_profiles(pod, report, "seccompProfile", "seccomp")
end
baseline("Seccomp", check_seccomp, true)

local SYSCTLS = set [[kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_unprivileged_port_start
  net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time
  net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem
  net.ipv4.tcp_wmem]]

baseline("Sysctls", function(pod, report)
  for i, sysctl in shapes.maps(pod.context, "sysctls", pod.prefix .. ".securityContext") do
    if not SYSCTLS[sysctl.name] then
      local path = ("securityContext.sysctls[%d].name"):format(i)
      report(("the pod sets %s"):format(tostring(sysctl.name)), path, text(sysctl.name))
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

restricted("Volume Types", function(pod, report)
  for i, volume in shapes.maps(pod.spec, "volumes", pod.prefix) do
    if not is_allowed(volume) then
      local name = text(volume.name) or i
      report(("volume %s has a type that is not allowed"):format(name), ("volumes[%d]"):format(i))
    end
  end
end)

-- Skips pods for Windows, which has no such field.
local function on_linux(check)
  return function(pod, report)
    if not pods.is_windows(pod.spec, pod.prefix) then
      check(pod, report)
    end
  end
end

restricted("Privilege Escalation", on_linux(function(pod, report)
  for _, container in ipairs(pod.containers) do
    if not container.context or container.context.allowPrivilegeEscalation ~= false then
      local path = container:context_path "allowPrivilegeEscalation"
      report(container:says() .. " does not set allowPrivilegeEscalation to false", path)
    end
  end
end))

restricted("Running as Non-root", function(pod, report)
  if has_own_users(pod) then
    return
  end
  local all = pod.context and pod.context.runAsNonRoot
  if all == false then
    report("the pod sets runAsNonRoot to false", "securityContext.runAsNonRoot", false)
  end
  for _, container in ipairs(pod.containers) do
    local own = container.context and container.context.runAsNonRoot
    if own ~= true and (own ~= nil or all ~= true) then
      report(container:says() .. " may run as root", container:context_path "runAsNonRoot")
    end
  end
end)

restricted("Running as Non-root user", function(pod, report)
  for _, holder in ipairs(has_own_users(pod) and {} or pod.contexts) do
    if holder.context.runAsUser == 0 then
      report(holder:says() .. " runs as user 0", holder:context_path "runAsUser", 0)
    end
  end
end)

restricted("Seccomp", on_linux(function(pod, report)
  check_seccomp(pod, report)
  local all = pod.context and map(pod.context.seccompProfile)
  if all and PROFILES[all.type] then
    return
  end
  for _, container in ipairs(pod.containers) do
    if not container.context or not map(container.context.seccompProfile) then
      report(container:says() .. " has no seccomp profile", container:context_path "seccompProfile")
    end
  end
end))

local check_all_but_bind = check_added(set "NET_BIND_SERVICE")

restricted("Capabilities", on_linux(function(pod, report)
  check_all_but_bind(pod, report)
  for _, container in ipairs(pod.containers) do
    local capabilities = container.context and map(container.context.capabilities)
    if not values.has(capabilities and capabilities.drop, "ALL") then
      report(container:says() .. " does not drop ALL", container:context_path "capabilities.drop")
    end
  end
end))

restricted("/proc Mount Type", check_proc)

return controls
