-- Where a pod is that a script names: an object, a table with its metadata, { namespace, name }, or its key.
local raw = ...

local options = require "k8s.options"

-- Objects of other kinds may have the name of a pod.
local function check_kind(where, pod)
  local version, kind = options.field(pod, "apiVersion"), options.field(pod, "kind")
  local plain = type(kind) == "string" and string.gsub(string.lower(kind), "^v1/", "") or nil
  local is_pod = plain == nil or plain == "pod" or plain == "pods" or plain == "po"
  if not is_pod or version ~= nil and version ~= "v1" then
    raw.raise(string.format("%s: expected a pod, not %s", where, tostring(kind)))
  end
end

return function(where, pod)
  local namespace, name
  if type(pod) == "string" then
    namespace, name = string.match(pod, "^([^/]+)/([^/]+)$")
    if not name then
      raw.raise(string.format('%s: "%s": the key of a pod is "namespace/name"', where, pod))
    end
  elseif raw.view.is(pod) or type(pod) == "table" then
    check_kind(where, pod)
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
