-- Copies the image pull secrets of the namespace `from` (default: kubelua) into every namespace, and adds them to each
-- ServiceAccount named in `accounts`, so that pods can pull from a private registry.
--   kubelua run -f scripts/pull_secrets.lua --param from=registry
local k8s = require "k8s"

k8s.reads { "secrets:get" }
k8s.writes { "secrets:create", "secrets:patch", "serviceaccounts:patch" }

local settings = k8s.params {
  from = { type = "string", default = "kubelua", help = "namespace with the secrets" },
  accounts = { type = "string", default = "default", help = "names of service accounts, with commas" },
}

local secrets = k8s.informer("secrets", { field_selector = "type=kubernetes.io/dockerconfigjson" })
local accounts = k8s.informer "serviceaccounts"
local queue = k8s.queue { name = "accounts" }

local function is_wanted(account)
  if account:namespace() == settings.from then return false end
  return ("," .. settings.accounts:gsub("%s", "") .. ","):find("," .. account:name() .. ",", 1, true) ~= nil
end

local function all()
  for account in accounts:lister():list() do
    if is_wanted(account) then queue:add(account:key()) end
  end
end

accounts:add_event_handler { filter = is_wanted, OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
secrets:add_event_handler {
  filter = function(secret) return secret:namespace() == settings.from end,
  OnAdd = all, OnUpdate = all,
}

-- The entries of the account and those that it lacks; nil when it has all.
local function with_missing(account, names)
  local list, has, lacks = k8s.json.array(), {}, false
  for _, entry in ipairs(account.imagePullSecrets or {}) do
    has[entry.name] = true
    list[#list + 1] = { name = entry.name }
  end
  for _, name in ipairs(names) do
    if not has[name] then
      lacks = true
      list[#list + 1] = { name = name }
    end
  end
  return lacks and list or nil
end

queue:run(function(key)
  local account, names = accounts:lister():get(key), {}
  if not account then return end
  for secret in secrets:lister():namespace(settings.from):list() do
    local copy = { apiVersion = "v1", kind = "Secret", type = secret.type, data = secret:copy().data,
      metadata = { namespace = account:namespace(), name = secret:name() } }
    local made, err = k8s.ensure(copy)
    if not made then return nil, err end
    names[#names + 1] = secret:name()
  end
  table.sort(names)
  local list = with_missing(account, names)
  if not list then return end
  local patched, err = k8s.patch(account, { imagePullSecrets = list }, { lock = true })
  if not patched then return nil, err end
  print(("%s pulls with %s"):format(key, table.concat(names, ", ")))
end)
