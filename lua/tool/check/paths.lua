-- Paths of k8s.raw as permissions, as the API server reads them: below /api/VERSION and /apis/GROUP/VERSION stand
-- resources, all else is of none. A segment "*" is any.
local paths = {}

local function segments_of(path)
  local list = {}
  for segment in path:gmatch "[^/]+" do list[#list + 1] = segment end
  return list
end

local ROOTS = { api = 2, apis = 3 }
local OF_NAMESPACES = { status = true, finalize = true }

local function any(segment) return segment ~= "*" and segment or "" end

-- Returns { group, resource, ns, name, verbs, is_namespaced } of a path of a resource, or { path, verbs }. RBAC has no
-- "*" within a path: what is behind it is allowed, too.
function paths.permission(path)
  local list = segments_of(path)
  local at = ROOTS[list[1]] or #list
  if at >= #list then
    local prefix = path:match "^[^*]*%*"
    return { ns = "", group = "", resource = "", name = "", path = prefix or path, verbs = { get = true } }
  end
  local ns, is_namespaced = "", false
  local of = list[1] == "apis" and list[2] or ""
  if list[at + 1] == "namespaces" and list[at + 3] and not OF_NAMESPACES[list[at + 3]] then
    ns, is_namespaced, at = any(list[at + 2]), true, at + 2
  end
  local name, subresource = list[at + 2], table.concat(list, "/", math.min(at + 3, #list + 1))
  return {
    ns = ns, group = of, resource = list[at + 1] .. (subresource ~= "" and "/" .. subresource or ""),
    name = any(name or "*"), verbs = { [name and "get" or "list"] = true }, is_namespaced = is_namespaced,
  }
end

-- Returns whether a declared path allows another.
function paths.allow(declared, path)
  local wanted, given = segments_of(declared), segments_of(path)
  if #wanted ~= #given then return false end
  for i, segment in ipairs(wanted) do
    if segment ~= "*" and segment ~= given[i] then return false end
  end
  return true
end

return paths
