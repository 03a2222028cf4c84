-- Parameters of the operations of OpenAPI v3: of each a name, its type and what it is for, in the order of their names.
local json = require "sim.json"

local object = json.object

local parameters = {}

local known = {
  allowWatchBookmarks = { "boolean", "Whether a watch has bookmarks." },
  command = { "string", "The command to execute, an element of its argv each." },
  container = { "string", "The container, if the pod has several." },
  continue = { "string", "Where the list goes on, as the page before said." },
  dryRun = { "string", "All: the request is processed, but nothing is stored." },
  fieldManager = { "string", "A name of who makes these changes, at most 128 printable characters." },
  fieldSelector = { "string", "Restricts the objects by their fields." },
  fieldValidation = { "string", "What is done about unknown and duplicate fields: Ignore, Warn or Strict." },
  follow = { "boolean", "Whether the log goes on as it is written." },
  force = { "boolean", "Whether an apply takes fields that others own." },
  gracePeriodSeconds = { "integer", "Seconds before the object is deleted; 0 means at once." },
  ignoreStoreReadErrorWithClusterBreakingPotential = { "boolean", "Whether an object that cannot be read is removed." },
  insecureSkipTLSVerifyBackend = { "boolean", "Whether the certificate of the kubelet is not verified." },
  labelSelector = { "string", "Restricts the objects by their labels." },
  limit = { "integer", "The largest number of objects in a response." },
  limitBytes = { "integer", "The largest number of bytes of the log." },
  orphanDependents = { "boolean", "Deprecated: use propagationPolicy. Whether dependents stay." },
  ports = { "integer", "The ports to forward." },
  pretty = { "string", "Whether the output is made for people to read." },
  previous = { "boolean", "Whether the log is that of the container before the last restart." },
  propagationPolicy = { "string", "What happens to dependents: Orphan, Background or Foreground." },
  resourceVersion = { "string", "The version that the response is of, or begins at." },
  resourceVersionMatch = { "string", "How resourceVersion is meant in a list." },
  sendInitialEvents = { "boolean", "Whether a watch begins with the objects that are there." },
  shardSelector = { "string", "Restricts the objects by ranges of the hash of a field." },
  sinceSeconds = { "integer", "How old the first line of the log may be." },
  stderr = { "boolean", "Whether the standard error stream is connected." },
  stdin = { "boolean", "Whether the standard input stream is connected." },
  stdout = { "boolean", "Whether the standard output stream is connected." },
  stream = { "string", "The stream of the log: All, Stdout or Stderr." },
  tailLines = { "integer", "The number of lines from the end of the log." },
  timeoutSeconds = { "integer", "The longest time of the call." },
  timestamps = { "boolean", "Whether the lines of the log begin with their times." },
  tty = { "boolean", "Whether a terminal is allocated." },
  watch = { "boolean", "Whether changes are sent as they are made." },
}

local LIST = { "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
  "resourceVersionMatch", "sendInitialEvents", "shardSelector", "timeoutSeconds", "watch" }
local WRITE = { "dryRun", "fieldManager", "fieldValidation" }
local STREAMS = { "container", "stderr", "stdin", "stdout", "tty" }

-- By the action of an operation.
local of_action = {
  list = LIST, watch = LIST, watchlist = LIST, post = WRITE, put = WRITE,
  patch = { "dryRun", "fieldManager", "fieldValidation", "force" },
  delete = { "dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
    "propagationPolicy" },
  deletecollection = { "continue", "dryRun", "fieldSelector", "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential", "labelSelector", "limit", "orphanDependents",
    "propagationPolicy", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "shardSelector",
    "timeoutSeconds" },
}

-- By the subresource that an operation is of, if it has others.
local of_subresource = {
  attach = STREAMS,
  exec = { "command", "container", "stderr", "stdin", "stdout", "tty" },
  log = { "container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes", "previous", "sinceSeconds", "stream",
    "tailLines", "timestamps" },
  portforward = { "ports" },
}

local function query(name)
  local type, description = known[name][1], known[name][2]
  return object("description", description, "in", "query", "name", name, "schema",
    object("type", type, "uniqueItems", true))
end

local function in_path(name, description)
  return object("description", description, "in", "path", "name", name, "required", true, "schema",
    object("type", "string", "uniqueItems", true))
end

-- Parameters of custom kinds that differ.
local of_custom = { get = { "resourceVersion" }, deletecollection = LIST }

-- Names of what an operation takes in its query; all but those of a connection take `pretty`.
function parameters.names(action, subresource, custom)
  return custom and of_custom[action] or of_subresource[subresource or ""] or of_action[action] or {}
end

-- The list of those names, in which no name is twice, and of what stands in the path, where `named` is the kind whose
-- name it is.
function parameters.list(names, path, named)
  local by_name, order = {}, {}
  local function add(name, parameter)
    by_name[name] = parameter
    order[#order + 1] = name
  end
  for _, name in ipairs(names) do add(name, query(name)) end
  if path and path:find("{name}", 1, true) then add("name", in_path("name", "name of the " .. named)) end
  if path and path:find("{namespace}", 1, true) then
    add("namespace", in_path("namespace", "object name and auth scope, such as for teams and projects"))
  end
  table.sort(order)
  for i, name in ipairs(order) do order[i] = by_name[name] end
  return order
end

return parameters
