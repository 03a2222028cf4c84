-- Where a pod is that a script names: an object, a table with its metadata, { namespace, name }, or its key.
local raw = ...

local options = require "k8s.options"

return function(where, pod)
  local namespace, name
  if type(pod) == "string" then
    namespace, name = string.match(pod, "^([^/]+)/([^/]+)$")
    if not name then
      raw.raise(string.format('%s: "%s": the key of a pod is "namespace/name"', where, pod))
    end
  elseif raw.view.is(pod) or type(pod) == "table" then
    local metadata = options.field(pod, "metadata") or {}
    name = metadata.name or options.field(pod, "name")
    namespace = metadata.namespace or options.field(pod, "namespace")
  else
    raw.raise(where .. ": expected a pod, a reference or a key, not " .. type(pod))
  end
  if type(name) ~= "string" or type(namespace) ~= "string" then
    raw.raise(where .. ": the pod has no name and namespace")
  end
  return namespace, name
end
