-- Events that kubelets tell of the containers of their pods.
local containers = require "world.containers"
local events = require "world.events"

local container_events = {}

local function tell(pod, field, container, ...)
  local about = events.about("pods", pod, ("spec.%s{%s}"):format(field, container.name))
  events.tell("kubelet", { component = "kubelet", host = pod.spec.nodeName }, about, ...)
end

-- `field` is that of the pod's spec, by default "containers".
function container_events.started(pod, container, field)
  field = field or "containers"
  tell(pod, field, container, "Normal", "Pulled",
    ('Container image "%s" already present on machine and can be accessed by the pod'):format(container.image or ""))
  tell(pod, field, container, "Normal", "Created", "Container created")
  tell(pod, field, container, "Normal", "Started", "Container started")
end

-- Of a pod that is deleted: the containers that run are ended.
function container_events.stopping(pod)
  for _, container in ipairs(containers.of(pod)) do
    local status = containers.find((pod.status or {}).containerStatuses, container.name)
    if status and status.state and status.state.running then
      tell(pod, "containers", container, "Normal", "Killing", "Stopping container " .. container.name)
    end
  end
end

function container_events.waits(pod, container)
  tell(pod, "containers", container, "Warning", "BackOff",
    ("Back-off restarting failed container %s in pod %s"):format(container.name, containers.pod_text(pod)))
end

return container_events
