-- The controls of the Pod Security Standards (https://kubernetes.io/docs/concepts/security/pod-security-standards/),
-- each with the name that the standard gives it, as functions (spec, say): say(problem, path in the pod spec, value).
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

-- Calls fn(holder, path, says) for each container with a security context or without.
local function each_container(spec, fn)
  for _, field in ipairs { "initContainers", "containers", "ephemeralContainers" } do
    for i, container in maps(spec[field]) do
      fn(container, ("%s[%d]"):format(field, i), ("container %s"):format(text(container.name) or i))
    end
  end
end

-- Calls fn(context, path, says) for each security context that there is, of the pod and of containers.
local function each_context(spec, fn)
  local own = map(spec.securityContext)
  if own then
    fn(own, "securityContext", "the pod")
  end
  each_container(spec, function(container, path, says)
    local context = map(container.securityContext)
    if context then
      fn(context, path .. ".securityContext", says)
    end
  end)
end

local function baseline(name, check, overridden)
  table.insert(controls.baseline, { name = name, check = check, overridden = overridden })
end

local function restricted(name, check)
  table.insert(controls.restricted, { name = name, check = check })
end

-- The user's own namespace: root in it is nobody outside.
local function has_own_users(spec)
  return spec.hostUsers == false
end

baseline("HostProcess", function(spec, say)
  each_context(spec, function(context, path, says)
    local options = map(context.windowsOptions)
    if options and options.hostProcess == true then
      say(says .. " is a HostProcess", path .. ".windowsOptions.hostProcess", true)
    end
  end)
end)

baseline("Host Namespaces", function(spec, say)
  for _, field in ipairs { "hostNetwork", "hostPID", "hostIPC" } do
    if spec[field] == true then
      say(field .. " is true", field, true)
    end
  end
end)

baseline("Privileged Containers", function(spec, say)
  each_container(spec, function(container, path, says)
    if pods.security(container, "privileged") == true then
      say(says .. " is privileged", path .. ".securityContext.privileged", true)
    end
  end)
end)

local BASELINE_CAPABILITIES = set [[AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP
  SETGID SETPCAP SETUID SYS_CHROOT]]

local function check_added(allowed)
  return function(spec, say)
    each_container(spec, function(container, path, says)
      local capabilities = map(pods.security(container, "capabilities"))
      for i, added in ipairs(list(capabilities and capabilities.add)) do
        if not allowed[added] then
          local place = ("%s.securityContext.capabilities.add[%d]"):format(path, i - 1)
          say(("%s adds %s"):format(says, tostring(added)), place, text(added))
        end
      end
    end)
  end
end
baseline("Capabilities", check_added(BASELINE_CAPABILITIES), true)

baseline("HostPath Volumes", function(spec, say)
  for i, volume in maps(spec.volumes) do
    local path = map(volume.hostPath)
    if path then
      say(("the volume %s is a hostPath"):format(text(volume.name) or i), ("volumes[%d].hostPath"):format(i),
        text(path.path))
    end
  end
end, true)

baseline("Host Ports", function(spec, say)
  each_container(spec, function(container, path, says)
    for i, port in maps(container.ports) do
      if type(port.hostPort) == "number" and port.hostPort ~= 0 then
        say(("%s has port %d of the node"):format(says, port.hostPort), ("%s.ports[%d].hostPort"):format(path, i),
          port.hostPort)
      end
    end
  end)
end)

local PROBES = { "livenessProbe", "readinessProbe", "startupProbe" }
local HOOKS = { "postStart", "preStop" }

local function check_host(handler, path, says, say)
  for _, field in ipairs { "httpGet", "tcpSocket" } do
    local action = handler and map(handler[field])
    local host = action and text(action.host)
    if host then
      say(("%s asks the host %s"):format(says, host), ("%s.%s.host"):format(path, field), host)
    end
  end
end

baseline("Host Probes / Lifecycle Hooks", function(spec, say)
  each_container(spec, function(container, path, says)
    for _, probe in ipairs(PROBES) do
      check_host(map(container[probe]), path .. "." .. probe, says, say)
    end
    local lifecycle = map(container.lifecycle)
    for _, hook in ipairs(lifecycle and HOOKS or {}) do
      check_host(map(lifecycle[hook]), ("%s.lifecycle.%s"):format(path, hook), says, say)
    end
  end)
end)

local PROFILES = set "RuntimeDefault Localhost"
local APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

baseline("AppArmor", function(spec, say, annotations)
  each_context(spec, function(context, path, says)
    local profile = map(context.appArmorProfile)
    if profile and not PROFILES[profile.type] then
      say(("%s has the AppArmor profile %s"):format(says, tostring(profile.type)), path .. ".appArmorProfile.type",
        text(profile.type))
    end
  end)
  for key, value in pairs(list(annotations)) do
    if type(key) == "string" and key:sub(1, #APPARMOR) == APPARMOR and text(value) then
      if value ~= "runtime/default" and not value:find "^localhost/" then
        say(("the annotation %s is %s"):format(key, value), nil, value)
      end
    end
  end
end)

local SELINUX = set "container_t container_init_t container_kvm_t container_engine_t"

baseline("SELinux", function(spec, say)
  each_context(spec, function(context, path, says)
    local options = map(context.seLinuxOptions)
    if not options then
      return
    end
    if text(options.type) and not SELINUX[options.type] then
      say(("%s has the SELinux type %s"):format(says, options.type), path .. ".seLinuxOptions.type", options.type)
    end
    for _, field in ipairs { "user", "role" } do
      if text(options[field]) then
        say(("%s has the SELinux %s %s"):format(says, field, options[field]), path .. ".seLinuxOptions." .. field,
          options[field])
      end
    end
  end)
end)

local function check_proc(spec, say)
  each_container(spec, function(container, path, says)
    local mount = pods.security(container, "procMount")
    if mount ~= nil and mount ~= "Default" then
      say(("%s has the procMount %s"):format(says, tostring(mount)), path .. ".securityContext.procMount", text(mount))
    end
  end)
end

baseline("/proc Mount Type", function(spec, say)
  if not has_own_users(spec) then
    check_proc(spec, say)
  end
end, true)

local function check_seccomp(spec, say)
  each_context(spec, function(context, path, says)
    local profile = map(context.seccompProfile)
    if profile and not PROFILES[profile.type] then
      say(("%s has the seccomp profile %s"):format(says, tostring(profile.type)), path .. ".seccompProfile.type",
        text(profile.type))
    end
  end)
end
baseline("Seccomp", check_seccomp, true)

local SYSCTLS = set [[kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_unprivileged_port_start
  net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time
  net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem
  net.ipv4.tcp_wmem]]

baseline("Sysctls", function(spec, say)
  local own = map(spec.securityContext)
  for i, sysctl in maps(own and own.sysctls) do
    if not SYSCTLS[sysctl.name] then
      say(("the pod sets %s"):format(tostring(sysctl.name)), ("securityContext.sysctls[%d].name"):format(i),
        text(sysctl.name))
    end
  end
end)

local VOLUMES = {
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
}

restricted("Volume Types", function(spec, say)
  for i, volume in maps(spec.volumes) do
    local allowed = false
    for _, kind in ipairs(VOLUMES) do
      allowed = allowed or map(volume[kind]) ~= nil
    end
    if not allowed then
      say(("the volume %s is of a kind that is not allowed"):format(text(volume.name) or i),
        ("volumes[%d]"):format(i))
    end
  end
end)

-- Which all of Linux alone has.
local function on_linux(check)
  return function(spec, say)
    if not pods.is_windows(spec) then
      check(spec, say)
    end
  end
end

restricted("Privilege Escalation", on_linux(function(spec, say)
  each_container(spec, function(container, path, says)
    if pods.security(container, "allowPrivilegeEscalation") ~= false then
      say(says .. " does not set allowPrivilegeEscalation to false",
        path .. ".securityContext.allowPrivilegeEscalation")
    end
  end)
end))

restricted("Running as Non-root", function(spec, say)
  if has_own_users(spec) then
    return
  end
  if pods.security(spec, "runAsNonRoot") == false then
    say("the pod sets runAsNonRoot to false", "securityContext.runAsNonRoot", false)
  end
  each_container(spec, function(container, path, says)
    if pods.inherited(spec, container, "runAsNonRoot") ~= true then
      say(says .. " may run as root", path .. ".securityContext.runAsNonRoot")
    end
  end)
end)

restricted("Running as Non-root user", function(spec, say)
  if has_own_users(spec) then
    return
  end
  each_context(spec, function(context, path, says)
    if context.runAsUser == 0 then
      say(says .. " runs as user 0", path .. ".runAsUser", 0)
    end
  end)
end)

restricted("Seccomp", on_linux(function(spec, say)
  check_seccomp(spec, say)
  local own = map(pods.security(spec, "seccompProfile"))
  if own and PROFILES[own.type] then
    return
  end
  each_container(spec, function(container, path, says)
    if not map(pods.security(container, "seccompProfile")) then
      say(says .. " has no seccomp profile", path .. ".securityContext.seccompProfile")
    end
  end)
end))

local check_all_but_bind = check_added(set "NET_BIND_SERVICE")

restricted("Capabilities", on_linux(function(spec, say)
  check_all_but_bind(spec, say)
  each_container(spec, function(container, path, says)
    local capabilities = map(pods.security(container, "capabilities"))
    if not values.has(capabilities and capabilities.drop, "ALL") then
      say(says .. " does not drop ALL", path .. ".securityContext.capabilities.drop")
    end
  end)
end))

restricted("/proc Mount Type", check_proc)

return controls
