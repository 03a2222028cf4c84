-- k8s.split_key("shop/web"): namespace and name, as client-go's SplitMetaNamespaceKey. Of a cluster-scoped object the
-- namespace is "".
local raw = ...

return function(key)
  if type(key) ~= "string" then
    raw.raise("k8s.split_key: the key must be a string, not " .. type(key))
  end
  local namespace, name = string.match(key, "^([^/]+)/([^/]+)$")
  if namespace then
    return namespace, name
  elseif key == "" or string.find(key, "/", 1, true) then
    raw.raise('k8s.split_key: "' .. key .. '" is not a key: NAMESPACE/NAME or NAME')
  end
  return "", key
end
