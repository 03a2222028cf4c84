-- Namespaces that handlers and rules choose, by names with `*` and `?`; a `!` before one keeps out what it matches.
local namespaces = {}

local WILD = { ["*"] = ".*", ["?"] = ".", ["-"] = "%-" }

local function matches(name, ns) return ns:find("^" .. name:gsub("[*?-]", WILD) .. "$") ~= nil end

-- Returns whether an object of that namespace ("" for none) may pass: one of the names without `!` matches, or there
-- are none, and none of those with it does.
function namespaces.admit(names, ns)
  local is_listed, is_in = false, false
  for _, name in ipairs(names) do
    local out = name:match "^!(.*)$"
    if out and matches(out, ns) then return false end
    if not out then
      is_listed = true
      is_in = is_in or matches(name, ns)
    end
  end
  return is_in or not is_listed
end

-- They name namespaces, all of them without `*` and `?`, and leave out each.
function namespaces.admit_none(names)
  local is_listed = false
  for _, name in ipairs(names) do
    if name:sub(1, 1) ~= "!" then
      if name:find "[*?]" or namespaces.admit(names, name) then return false end
      is_listed = true
    end
  end
  return is_listed
end

return namespaces
