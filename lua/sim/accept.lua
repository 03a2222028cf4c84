-- Accept headers: in which form, and encoding, a client wants an object. See kinds/table.h.
local accept = {}

-- As in enum sim_form.
local JSON, TABLE, PARTIAL, PARTIAL_LIST, UNACCEPTABLE = 0, 1, 2, 3, 4
local forms = { Table = TABLE, PartialObjectMetadata = PARTIAL, PartialObjectMetadataList = PARTIAL_LIST }
local versions = { v1 = true, v1beta1 = true }
local json_types = { ["application/json"] = true, ["application/*"] = true, ["*/*"] = true }
local YAML, PROTOBUF = "application/yaml", "application/vnd.kubernetes.protobuf"

local function trim(text) return text:match "^%s*(.-)%s*$" end

-- One of the media types, with its parameters.
local function read_clause(text)
  local clause = { as = "", g = "", v = "", q = "1" }
  for part in text:gmatch "[^;]+" do
    local key, value = part:match "^([^=]*)=?(.*)$"
    if not clause.type then clause.type = trim(part) else clause[trim(key)] = trim(value) end
  end
  clause.q = tonumber(clause.q:match "^%d*%.?%d*") or 0
  return clause
end

-- The form of the object, all of which are of meta.k8s.io, whatever it is encoded as.
local function form_of(clause)
  if clause.as == "" and clause.g == "" and clause.v == "" then return JSON end
  return clause.g == "meta.k8s.io" and versions[clause.v] and forms[clause.as] or UNACCEPTABLE
end

local function read(header, tables, protobuf, partial_protobuf)
  local best, best_q = { UNACCEPTABLE, false, false, false }, 0
  if trim(header) == "" then return { JSON, false, false, false } end
  for text in header:gmatch "[^,]+" do
    local clause = read_clause(text)
    local form, is_protobuf, is_yaml = form_of(clause), clause.type == PROTOBUF, clause.type == YAML
    local has = form ~= UNACCEPTABLE and (form ~= TABLE or tables)
    if not is_protobuf then
      has = has and (json_types[clause.type] or is_yaml)
    elseif form == PARTIAL or form == PARTIAL_LIST then
      has = has and (protobuf or partial_protobuf)
    else
      has = has and protobuf and form ~= TABLE
    end
    if has and clause.q > best_q then
      best, best_q = { form, is_protobuf, is_yaml, clause.v == "v1beta1" }, clause.q
    end
  end
  return best
end

local KEPT = 100 -- headers, as clients send theirs again
local known, count = {}, 0

-- Returns the form, and whether it is in protobuf, in YAML, and of v1beta1: the first of the best that the server has,
-- which may have Tables, protobuf, and PartialObjectMetadata in protobuf.
function accept.media(header, tables, protobuf, partial_protobuf)
  local key = table.concat({ header, tostring(tables), tostring(protobuf), tostring(partial_protobuf) }, "\n")
  if not known[key] then
    if count == KEPT then known, count = {}, 0 end
    known[key], count = read(header, tables, protobuf, partial_protobuf), count + 1
  end
  return known[key]
end

-- A type with a wildcard behind the slash is not enough.
function accept.is_routed(header)
  if header == "" then return true end
  for text in header:gmatch "[^,]+" do
    local type = trim(text:match "^[^;]*")
    if type == "*/*" or type == "application/json" or type == YAML or type == PROTOBUF then return true end
  end
  return false
end

return accept
