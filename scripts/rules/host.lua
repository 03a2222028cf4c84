-- Pods with access to their node.
--   kubelua audit -f scripts/rules/host.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local values = require "_values"

local NAMESPACES = {
  { field = "hostPID", problem = "the pod sees the processes of its node" },
  { field = "hostIPC", problem = "the pod shares memory with processes of its node" },
  { field = "hostNetwork", problem = "the pod uses the network of its node" },
}

k8s.rule {
  id = "host-namespaces",
  title = "Pods do not share namespaces of their node",
  severity = "high",
  category = "Security",
  why = "A pod in the node's namespaces sees the node's processes, shared memory or network traffic. Network policies "
    .. "do not apply to a pod on the node's network.",
  how = "Remove hostPID, hostIPC and hostNetwork from the pod spec.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec then
      return
    end
    for _, namespace in ipairs(NAMESPACES) do
      if shapes.flag(spec, namespace.field, prefix) then
        r:fail(namespace.problem, { path = prefix .. "." .. namespace.field, value = true })
      end
    end
  end,
}

-- Names of the volumes that a container mounts writable.
local function written(obj)
  local names = {}
  for container, place in pods.containers(obj) do
    for _, mount in shapes.maps(container, "volumeMounts", place) do
      if mount.readOnly ~= true and type(mount.name) == "string" then
        names[mount.name] = true
      end
    end
  end
  return names
end

k8s.rule {
  id = "host-path",
  title = "Pods do not mount files of their node",
  severity = "high",
  category = "Security",
  why = "A process that can write to the node's files can become root on the node. A process that can read them may "
    .. "find secrets of the kubelet or of other pods.",
  how = "Use another kind of volume. If a hostPath is necessary, mount one file or directory with readOnly: true; the "
    .. "rule then reports a warning instead of a failure.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    local names
    for i, volume in shapes.maps(spec, "volumes", prefix) do
      local host = shapes.expect("map", volume.hostPath, prefix, "volumes[%d].hostPath", i)
      if host then
        names = names or written(obj)
        local place = {
          path = ("%s.volumes[%d].hostPath.path"):format(prefix, i),
          value = values.text(host.path),
        }
        local name = values.text(volume.name)
        if name and not names[name] then
          r:warn(("volume %s exposes files of the node"):format(name), place)
        else
          r:fail(("volume %s gives write access to files of the node"):format(name or i), place)
        end
      end
    end
  end,
}

k8s.rule {
  id = "host-port",
  title = "Containers use no port of their node",
  severity = "medium",
  category = "Security",
  why = "Only one pod on a node can use a given port; other pods wait for a node where the port is free. Everybody "
    .. "who reaches the node reaches the port.",
  how = "Remove hostPort, and expose the pod with a Service.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      for i, port in shapes.maps(container, "ports", place) do
        local number = shapes.expect("number", port.hostPort, place, "ports[%d].hostPort", i)
        if number and number ~= 0 then
          r:fail(("%s uses port %d of its node"):format(place:says(), number), {
            path = place:path(("ports[%d].hostPort"):format(i)),
            value = number,
          })
        end
      end
    end
  end,
}
