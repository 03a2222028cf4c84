-- Pods whose security is good and bad in all sorts of ways, the same at each call: for specs that compare what two
-- programs say of them.
local generated = {}

-- A generator of our own, so that the pods do not depend on the machine.
local state

local function random(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % n + 1
end

local function one_of(list) return list[random(#list)] end

-- In `percent` of all cases one of the values; nil else.
local function maybe(percent, list)
  local value = one_of(list)
  if random(100) <= percent then
    return value
  end
end

local BOOLEANS = { true, false }
local PROFILES = { { type = "RuntimeDefault" }, { type = "Localhost" }, { type = "Unconfined" } }
local ADDED = { { "CHOWN" }, { "NET_RAW" }, { "NET_BIND_SERVICE" }, { "KILL", "SYS_ADMIN" }, { "CAP_CHOWN" } }
local DROPPED = { { "ALL" }, { "ALL" }, { "NET_RAW", "ALL" }, { "NET_RAW" }, { "all" } }
local SYSCTLS = { "kernel.msgmax", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_reserved_ports", "net.core.somaxconn", "net.ipv4.tcp_fin_timeout" }
local VOLUMES = { "hostPath", "emptyDir", "nfs", "configMap", "secret", "projected", "csi", "downwardAPI", "ephemeral",
  "image", "persistentVolumeClaim", "gitRepo", "rbd" }
local CONTEXTS = { container = {}, pod = {} }

local function selinux()
  return {
    type = maybe(60, { "container_t", "spc_t", "", "container_engine_t", "container_kvm_t" }),
    user = maybe(30, { "system_u", "" }),
    role = maybe(30, { "system_r", "" }),
    level = "s0",
  }
end

local function context(of)
  local made = {
    runAsNonRoot = maybe(60, { true, true, false }),
    runAsUser = maybe(30, { 0, 1000 }),
    seccompProfile = maybe(50, PROFILES),
    appArmorProfile = maybe(20, PROFILES),
    seLinuxOptions = maybe(20, { selinux() }),
    windowsOptions = maybe(15, { { hostProcess = maybe(50, BOOLEANS), runAsUserName = "a" } }),
  }
  if of == CONTEXTS.pod then
    made.sysctls = maybe(30, { { { name = one_of(SYSCTLS), value = "1" } } })
    return made
  end
  made.privileged = maybe(15, BOOLEANS)
  made.allowPrivilegeEscalation = maybe(75, { false, false, false, true })
  made.procMount = maybe(15, { "Default", "Unmasked" })
  made.capabilities = maybe(75, { { add = maybe(40, ADDED), drop = maybe(85, DROPPED) } })
  return made
end

local function handler()
  local host = maybe(30, { "", "db", "169.254.169.254" })
  return one_of { { httpGet = { path = "/", port = 80, host = host } }, { tcpSocket = { port = 80, host = host } } }
end

local function container(name)
  return {
    name = name,
    image = "a:1",
    securityContext = maybe(85, { context(CONTEXTS.container) }),
    ports = maybe(30, { { { containerPort = 80, hostPort = maybe(30, { 0, 80 }) } } }),
    livenessProbe = maybe(15, { handler() }),
    readinessProbe = maybe(15, { handler() }),
    startupProbe = maybe(15, { handler() }),
    lifecycle = maybe(15, { { postStart = maybe(50, { handler() }), preStop = handler() } }),
  }
end

local function volume()
  local kind = one_of(VOLUMES)
  return { name = "v", [kind] = kind == "hostPath" and { path = "/run" } or { readOnly = maybe(0, BOOLEANS) } }
end

local function pod(name)
  local profile = one_of { "runtime/default", "localhost/web", "unconfined", "" }
  local annotation = { ["container.apparmor.security.beta.kubernetes.io/web"] = profile }
  local spec = {
    hostNetwork = maybe(8, BOOLEANS),
    hostPID = maybe(8, BOOLEANS),
    hostIPC = maybe(8, BOOLEANS),
    hostUsers = maybe(20, BOOLEANS),
    os = maybe(15, { { name = "windows" }, { name = "linux" } }),
    securityContext = maybe(80, { context(CONTEXTS.pod) }),
    containers = { container "web", maybe(30, { container "proxy" }) },
    initContainers = maybe(20, { { container "setup" } }),
    ephemeralContainers = maybe(10, { { container "debug" } }),
    volumes = maybe(40, { { volume() } }),
  }
  local metadata = { name = name, namespace = "shop", annotations = maybe(15, { annotation }) }
  return { apiVersion = "v1", kind = "Pod", metadata = metadata, spec = spec }
end

function generated.pods(count)
  state = 20261122
  local pods = {}
  for i = 1, count do pods[i] = pod("p" .. i) end
  return pods
end

return generated
