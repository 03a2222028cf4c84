-- Pods that are let out onto their node.
--   kubelua audit -f scripts/rules/host.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local values = require "_values"

local NAMESPACES = {
  { field = "hostPID", problem = "the pod sees the processes of its node" },
  { field = "hostIPC", problem = "the pod shares memory with processes of its node" },
  { field = "hostNetwork", problem = "the pod is on the network of its node" },
}

k8s.rule {
  id = "host-namespaces",
  title = "Pods do not share their node's namespaces",
  severity = "high",
  category = "Security",
  why = "In the node's namespaces a pod sees the node's processes, their memory or all its traffic, and network "
    .. "policies do not count for it.",
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

-- The volumes that some container mounts so that it can write.
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
  title = "Pods do not mount their node's files",
  severity = "high",
  category = "Security",
  why = "Who can write to the node's files can become root there, and what is read there may be secrets of the "
    .. "kubelet or of other pods.",
  how = "Use another kind of volume. Where it must be, mount one file or folder, with readOnly: such mounts are "
    .. "only warned of.",
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
          r:warn(("the volume %s shows files of the node"):format(name), place)
        else
          r:fail(("files of the node can be written by the volume %s"):format(name or i), place)
        end
      end
    end
  end,
}

k8s.rule {
  id = "host-port",
  title = "Containers have no port of their node",
  severity = "medium",
  category = "Security",
  why = "Only one pod of a node can have a port, so others wait for a node where it is free. It is open to "
    .. "everybody who reaches the node.",
  how = "Remove hostPort, and let a Service lead to the pod.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      for i, port in shapes.maps(container, "ports", place) do
        local number = shapes.expect("number", port.hostPort, place, "ports[%d].hostPort", i)
        if number and number ~= 0 then
          r:fail(("%s has port %d of its node"):format(place:says(), number), {
            path = place:path(("ports[%d].hostPort"):format(i)),
            value = number,
          })
        end
      end
    end
  end,
}
