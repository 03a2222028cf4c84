-- CustomResourceDefinitions with and without mistakes, as JSON: bad_definitions.all() gives a list of complete bodies.
local cjson = require "cjson"

local definitions = {}

-- Schemas of a field.
local fields = {
  [=[{}]=], [=[{"description":"x"}]=], [=[{"type":"array"}]=], [=[{"type":"array","items":{}}]=],
  [=[{"type":"array","items":{"description":"x"}}]=], [=[{"type":"null"}]=], [=[{"type":"odd"}]=],
  [=[{"type":"array","items":[{"type":"string"}]}]=],
  [=[{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}]=],
  [=[{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}]=],
  [=[{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}]=],
  [=[{"type":"object","additionalProperties":{}}]=], [=[{"type":"object","additionalProperties":{"type":"array"}}]=],
  [=[{"type":"string","uniqueItems":true}]=], [=[{"type":"array","items":{"type":"string"},"uniqueItems":true}]=],
  [=[{"type":"string","pattern":"("}]=], [=[{"type":"string","pattern":"[a"}]=],
  [=[{"type":"string","pattern":"a**"}]=], [=[{"type":"string","pattern":"(?=a)"}]=],
  [=[{"type":"string","pattern":"(?!a)"}]=], [=[{"type":"string","pattern":"(?<n>a)"}]=],
  [=[{"type":"string","pattern":"(?P<n>a)"}]=], [=[{"type":"string","pattern":"a)"}]=],
  [=[{"type":"string","pattern":"*a"}]=], [=[{"type":"string","pattern":"\\"}]=],
  [=[{"type":"string","pattern":"\\q"}]=], [=[{"type":"string","pattern":"[z-a]"}]=],
  [=[{"type":"string","pattern":"a{2,1}"}]=], [=[{"type":"string","pattern":"a{1001}"}]=],
  [=[{"type":"string","pattern":"\\1"}]=], [=[{"type":"string","pattern":"a{,3}"}]=],
  [=[{"type":"string","pattern":"[[:odd:]]"}]=], [=[{"type":"string","pattern":"\\pX"}]=],
  [=[{"type":"string","pattern":"^(?i)a\\d\\W\\b$"}]=], [=[{"type":"string","pattern":"(?<=a)b"}]=],
  [=[{"type":"string","pattern":"a+?b??c*?"}]=], [=[{"type":"string","pattern":"a++"}]=],
  [=[{"type":"string","pattern":"[]a]"}]=], [=[{"type":"string","pattern":"(?z)"}]=],
  [=[{"type":"string","pattern":"x{1}{2}"}]=], [=[{"type":"string","pattern":"\\Z"}]=],
  [=[{"type":"string","pattern":"[\\d-z]"}]=], [=[{"type":"string","pattern":"[a-\\d]"}]=],
  [=[{"type":"string","pattern":"()"}]=], [=[{"type":"string","pattern":"a||b"}]=],
  [=[{"type":"string","pattern":"^*"}]=], [=[{"type":"string","id":"x"}]=], [=[{"type":"string","$ref":"#/x"}]=],
  [=[{"type":"string","$ref":""}]=], [=[{"type":"string","definitions":{"a":{"type":"string"}}}]=],
  [=[{"type":"string","definitions":{}}]=], [=[{"type":"string","dependencies":{"a":["b"]}}]=],
  [=[{"type":"string","patternProperties":{"a":{"type":"string"}}}]=],
  [=[{"type":"array","items":{"type":"string"},"additionalItems":true}]=], [=[{"type":"string","$schema":"x"}]=],
  [=[{"type":"string","x-kubernetes-preserve-unknown-fields":false}]=],
  [=[{"type":"string","x-kubernetes-preserve-unknown-fields":true}]=], [=[{"x-kubernetes-int-or-string":true}]=],
  [=[{"x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true}]=],
  [=[{"x-kubernetes-int-or-string":true,"x-kubernetes-embedded-resource":true}]=],
  [=[{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}]=],
  [=[{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"string"},{"type":"integer"}]}]=],
  [=[{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},
    {"maximum":3}]}]=],
  [=[{"anyOf":[{"type":"integer"},{"type":"string"}],"type":"string"}]=],
  [=[{"x-kubernetes-int-or-string":true,"type":"string"}]=],
  [=[{"type":"string","x-kubernetes-embedded-resource":true}]=], [=[{"x-kubernetes-embedded-resource":true}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"additionalProperties":{"type":"string"}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"kind":{"type":"integer"},
    "apiVersion":{"type":"integer"},"metadata":{"type":"string"}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"string"},"kind":{"type":"integer"}}}]=],
  [=[{"type":"string","x-kubernetes-map-type":"atomic"}]=], [=[{"x-kubernetes-map-type":"atomic"}]=],
  [=[{"type":"object","x-kubernetes-map-type":"odd"}]=], [=[{"type":"string","x-kubernetes-list-type":"atomic"}]=],
  [=[{"x-kubernetes-list-type":"atomic"}]=],
  [=[{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"odd"}]=],
  [=[{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}}]=],
  [=[{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}]=],
  [=[{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","items":{"type":"string"},
    "x-kubernetes-list-type":"set"}}]=],
  [=[{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","nullable":true}}]=],
  [=[{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object",
    "x-kubernetes-map-type":"granular"}}]=],
  [=[{"type":"array","items":{"type":"object"},"x-kubernetes-list-map-keys":["a"]}]=],
  [=[{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"set",
    "x-kubernetes-list-map-keys":["a"]}]=],
  [=[{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map"}]=],
  [=[{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}]=],
  [=[{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"map",
    "x-kubernetes-list-map-keys":["a"]}]=],
  [=[{"type":"array","items":{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"string",
    "nullable":true}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b","b","c"]}]=],
  [=[{"type":"array","items":{"type":"object","nullable":true,"properties":{"a":{"type":"string",
    "default":"x"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}]=],
  [=[{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"type":"object"},
    {"properties":{"a":{"type":"string","description":"x","title":"t","default":1,"nullable":true}}},
    {"properties":{"b":{"minLength":1}}},{"additionalProperties":true},{"additionalProperties":{"minLength":1}},
    {"items":{"minLength":1}},{"x-kubernetes-preserve-unknown-fields":true,
    "x-kubernetes-embedded-resource":true,"x-kubernetes-int-or-string":true,"x-kubernetes-list-type":"set",
    "x-kubernetes-list-map-keys":["a"],"x-kubernetes-map-type":"atomic"}]}]=],
  [=[{"type":"object","properties":{"a":{"type":"string"}},"not":{"properties":{"metadata":{"required":["x"]}}},
    "anyOf":[{"not":{"description":"x"}}],"oneOf":[{"allOf":[{"type":"string"}]},{"pattern":"("},
    {"x-kubernetes-validations":[{"rule":"true"}]},{"required":["z"]}]}]=],
  [=[{"type":"array","items":{"type":"string"},"not":{"items":{"maxLength":3}}}]=],
  [=[{"type":"object","x-kubernetes-validations":[{"rule":"true"}]}]=],
  [=[{"type":"object","x-kubernetes-validations":[{"rule":" "},{"rule":"true","message":" "},{"rule":"true",
    "message":"a\nb"},{"rule":"true ||\ntrue"},{"rule":"true","messageExpression":" "},{"rule":"true",
    "reason":"Odd"},{"rule":"true","fieldPath":" "},{"rule":"true","fieldPath":".x"},{"rule":"true",
    "fieldPath":"a\nb"}]}]=],
  [=[{"type":"string","default":1}]=], [=[{"type":"string","default":"x","maxLength":0}]=],
  [=[{"type":"string","default":null}]=], [=[{"type":"string","enum":["a"],"default":"b"}]=],
  [=[{"type":"object","default":{"a":1}}]=],
  [=[{"type":"object","properties":{"a":{"type":"integer"}},"default":{"a":"x","b":2}}]=],
  [=[{"type":"object","properties":{"a":{"type":"integer"}},"default":{"a":"x"}}]=],
  [=[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"default":{}}]=],
  [=[{"type":"array","items":{"type":"string","default":1},"default":["a"]}]=],
  [=[{"type":"object","additionalProperties":{"type":"string","default":"x"}}]=],
  [=[{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string","default":3}}}}]=],
  [=[{"type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}},"default":{}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{"apiVersion":"","kind":"a_","metadata":{"labels":{"a b":"c"}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "properties":{"name":{"type":"string","default":"a/b"}}},"kind":{"type":"string","default":"a_"},
    "apiVersion":{"type":"string","default":"v1"}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":1}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{"apiVersion":"v1","kind":5,"metadata":{"labels":{"a":"b c"}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":null},"foo":1,"finalizers":[null]}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
    "default":{"apiVersion":"v1","kind":"Pod","metadata":["x"]}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "properties":{"labels":{"type":"object","properties":{"app.kubernetes.io/name":{"type":"string",
    "default":"bad value!"}}}}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "properties":{"labels":{"type":"object","properties":{"app.kubernetes.io/name":{"type":"integer",
    "default":5}}}}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "properties":{"finalizers":{"type":"array","items":{"type":"string","default":"a b"}}}}}}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object",
    "properties":{"ownerReferences":{"type":"array","items":{"type":"object","properties":{"kind":{
    "type":"string","default":"x y"}}}}}}}}]=],
  [=[{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","default":["a","a"]}]=],
  [=[{"type":"number","format":"int32","default":0.5}]=],
  [=[{"type":"integer","format":"int32","default":2147483648}]=], [=[{"type":"string","format":"odd"}]=],
  [=[{"type":"string","format":"date-time","default":"x"}]=], [=[{"type":"object","format":"int32"}]=],
  [=[{"type":"integer","format":"int64"}]=], [=[{"type":"integer","format":"double"}]=],
  [=[{"type":"number","format":"double"}]=], [=[{"type":"string","nullable":true,"default":null}]=],
  [=[{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"z":1}}]=],
  [=[{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}},
    "default":{"a":{"c":1}}}]=],
}

-- Schemas of the whole, each with and without the subresource `status`.
local roots = {
  [=[{"type":"object","maxProperties":3}]=], [=[{"type":"object","oneOf":[{"required":["a"]}]}]=],
  [=[{"type":"object","nullable":true}]=], [=[{"type":"object","description":"d","required":["x"]}]=],
  [=[{"type":"object","x-kubernetes-embedded-resource":true}]=], [=[{"type":"object","additionalProperties":true}]=],
  [=[{"type":"object","enum":[1]}]=], [=[{"type":"object","default":{"a":1}}]=],
  [=[{"x-kubernetes-preserve-unknown-fields":true}]=], [=[{"type":"object","x-kubernetes-map-type":"atomic"}]=],
  [=[{"type":"string"}]=], [=[{"type":"object","properties":{"metadata":{"type":"object"}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string",
    "maxLength":3}}}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string",
    "default":"x"}}}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"string"}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","description":"x"}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","default":{}}}}]=],
  [=[{"type":"object","properties":{"metadata":{"type":"object","required":["name"]}}}]=],
  [=[{"type":"object","properties":{"kind":{"type":"integer"}}}]=],
  [=[{"type":"object","properties":{"apiVersion":{"type":"string","default":"x"}}}]=],
  [=[{"type":"object","properties":{"kind":{"type":"string","enum":["Bad"]}}}]=],
}

-- Members of a version: the only one, and one beside another.
local versions = {
  [=[{"storage":false}]=], [=[{"name":"V1"}]=], [=[{"name":""}]=], [=[{"name":"1"}]=], [=[{"schema":{}}]=],
  [=[{"schema":null}]=], [=[{"deprecationWarning":"x"}]=], [=[{"deprecated":true,"deprecationWarning":""}]=],
  [=[{"deprecated":true,"deprecationWarning":"@257"}]=], [=[{"deprecated":true,"deprecationWarning":"a\nb"}]=],
  [=[{"deprecated":true,"deprecationWarning":"ok"}]=], [=[{"deprecated":true,"deprecationWarning":"a\u200bb"}]=],
  [=[{"additionalPrinterColumns":[{}]}]=], [=[{"additionalPrinterColumns":[{"name":"a"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"x","jsonPath":".a"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","jsonPath":"a"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","jsonPath":".a["}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","jsonPath":".a[?(@.x)]"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","jsonPath":"."}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","format":"odd","jsonPath":".a"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","format":"date","jsonPath":".a"}]}]=],
  [=[{"additionalPrinterColumns":[{"name":"a","type":"string","jsonPath":".a..b"}]}]=],
  [=[{"subresources":{"scale":{}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":"spec.x","statusReplicasPath":".status.x"}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":".status.x","statusReplicasPath":".spec.x"}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":".spec.x","statusReplicasPath":".status.x",
    "labelSelectorPath":"x"}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":".spec.x","statusReplicasPath":".status.x",
    "labelSelectorPath":".x"}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":".spec","statusReplicasPath":".status.",
    "labelSelectorPath":""}}}]=],
  [=[{"subresources":{"scale":{"specReplicasPath":".spec.","statusReplicasPath":".status.x"}}}]=],
  [=[{"selectableFields":[{"jsonPath":".x"}],"schema":null}]=],
}

-- Members of the second version.
local seconds = {
  [=[{"name":"v1","storage":true}]=], [=[{"storage":true}]=], [=[{"name":"v_2"}]=],
  [=[{"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"description":"x"}}}}}]=],
  [=[{"schema":null}]=], [=[{"schema":{}}]=],
  [=[{"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"}}}}}]=],
  [=[{"storage":true,"subresources":{"status":{}}}]=],
}

-- Paths of selectable fields.
local selectable = {
  [=[[""]]=], [=[["spec.a"]]=], [=[[".spec"]]=], [=[[".spec.a",".spec.a"]]=], [=[[".spec.n"]]=], [=[[".spec.m.x"]]=],
  [=[[".spec.m['x']"]]=], [=[[".metadata.name"]]=], [=[[".spec.x"]]=], [=[["."]]=], [=[[".."]]=], [=[[".spec.a."]]=],
  [=[[".spec..a"]]=], [=[["x"]]=],
  [=[[".spec.f0",".spec.f1",".spec.f2",".spec.f3",".spec.f4",".spec.f5",".spec.f6",".spec.f7",".spec.f8"]]=],
  [=[[".spec.a.b"]]=],
}

-- Members of the spec.
local specs = {
  [=[{"names":{"kind":"Bad","plural":"Bads"}}]=], [=[{"names":{"kind":"Bad","plural":""}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","singular":"Bad"}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","singular":"b_d"}}]=], [=[{"names":{"kind":"bad_","plural":"bads"}}]=],
  [=[{"names":{"kind":"","plural":"bads"}}]=], [=[{"names":{"kind":"1Bad","plural":"bads"}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","listKind":"Bad"}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","listKind":"bad-"}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","shortNames":["B","ok",""]}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","categories":["All","x y"]}}]=],
  [=[{"names":{"kind":"Bad","plural":"bads","listKind":"BadList",
    "shortNames":["bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}}]=],
  [=[{"names":{"kind":"BAD","plural":"bads"}}]=], [=[{"names":{}}]=], [=[{"group":""}]=], [=[{"group":"bad"}]=],
  [=[{"group":"Bad.x"}]=], [=[{"scope":""}]=], [=[{"scope":"x"}]=], [=[{"versions":[]}]=], [=[{"versions":null}]=],
  [=[{"preserveUnknownFields":true}]=], [=[{"preserveUnknownFields":false}]=],
  [=[{"preserveUnknownFields":true,"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"string","default":"x"}}}}}]}]=],
  [=[{"conversion":{"strategy":""}}]=], [=[{"conversion":{"strategy":"Odd"}}]=],
  [=[{"conversion":{"strategy":"Webhook"}}]=], [=[{"conversion":{"strategy":"Webhook","webhook":{}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a/b"},
    "conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"http://a/b"},
    "conversionReviewVersions":["v1","v1","V2"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://u:p@/b?x=y#f"},
    "conversionReviewVersions":["v3"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a","service":{"name":"a",
    "namespace":"b"}},"conversionReviewVersions":[]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"","namespace":""}},
    "conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"a","namespace":"b",
    "path":"x//y","port":70000},"caBundle":"eA=="},"conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"None","webhook":{"clientConfig":{"url":"https://a"},
    "conversionReviewVersions":["v1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"%zz"},
    "conversionReviewVersions":["v1beta1"]}}}]=],
  [=[{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":""},
    "conversionReviewVersions":["v1beta1"]}}}]=],
}

-- Members of metadata and of the spec.
local named = {
  [=[{"metadata":{"name":"x.y"}}]=], [=[{"metadata":{"name":"Bads.bad.example.com"}}]=],
  [=[{"metadata":{"name":"bads.x.k8s.io"},"spec":{"group":"x.k8s.io"}}]=],
  [=[{"metadata":{"name":"bads.x.k8s.io","annotations":{"api-approved.kubernetes.io":"x"}},
    "spec":{"group":"x.k8s.io"}}]=],
  [=[{"metadata":{"name":"bads.x.k8s.io","annotations":{"api-approved.kubernetes.io":"unapproved, x"}},
    "spec":{"group":"x.k8s.io"}}]=],
  [=[{"metadata":{"name":"bads.x.kubernetes.io","annotations":{"api-approved.kubernetes.io":"https://a.b/c"}},
    "spec":{"group":"x.kubernetes.io"}}]=],
}

local SELECTABLE = [=[{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},
  "o":{"type":"object"},"n":{"type":"number"},"m":{"type":"object","additionalProperties":{"type":"string"}}%s}}}}]=]

local function read(text) return cjson.decode((text:gsub("@257", ("x"):rep(257)))) end

local function version(name, schema)
  return { name = name, served = true, storage = name == "v1", schema = { openAPIV3Schema = schema } }
end

local function object() return { type = "object" } end

-- Merges maps and lists; null removes.
local function merge(into, from)
  for key, value in pairs(from) do
    if value == cjson.null then
      into[key] = nil
    elseif type(value) == "table" and type(into[key]) == "table" and not value[1] and next(value) then
      merge(into[key], value)
    else
      into[key] = value
    end
  end
  return into
end

local function definition(...)
  return { apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
    metadata = { name = "bads.bad.example.com" }, spec = { group = "bad.example.com", scope = "Namespaced",
      names = { kind = "Bad", plural = "bads" }, versions = { ... } } }
end

local function selecting(paths)
  local many = {}
  for i = 0, 9 do many[#many + 1] = (',"f%d":{"type":"string"}'):format(i) end
  local one = version("v1", cjson.decode((SELECTABLE:gsub("%%s", table.concat(many)))))
  one.selectableFields = {}
  for i, path in ipairs(paths) do one.selectableFields[i] = { jsonPath = path } end
  return definition(one)
end

function definitions.all()
  local list = {}
  local function add(body) list[#list + 1] = cjson.encode(body) end
  for _, text in ipairs(fields) do
    add(definition(version("v1", { type = "object", properties = { spec = read(text) } })))
  end
  for _, text in ipairs(roots) do
    add(definition(version("v1", read(text))))
    add(definition(merge(version("v1", read(text)), { subresources = { status = object() } })))
  end
  for _, text in ipairs(versions) do
    add(definition(merge(version("v1", object()), read(text))))
    add(definition(merge(version("v1", object()), read(text)), version("v2", object())))
  end
  for _, text in ipairs(seconds) do
    add(definition(version("v1", object()), merge(version("v2", object()), read(text))))
  end
  for _, text in ipairs(selectable) do add(selecting(read(text))) end
  for _, text in ipairs(specs) do
    local body = definition(version("v1", object()))
    for key, value in pairs(read(text)) do body.spec[key] = value end
    add(body)
  end
  for _, text in ipairs(named) do add(merge(definition(version("v1", object())), read(text))) end
  return list
end

return definitions
