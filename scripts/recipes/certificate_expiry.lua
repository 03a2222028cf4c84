-- Watches the certificates of TLS Secrets: a metric with the time at which each one ends, and an Event of the Secret
-- when fewer than `days` are left. Nothing of a key is read.
--   kubelua run -f scripts/certificate_expiry.lua --param days=21
local k8s = require "k8s"

local settings = k8s.params {
  days = { type = "integer", default = 14, min = 1, help = "days before the end at which it is told" },
}

local ends = k8s.metric.gauge("certificate_end_seconds", "Time at which the certificate of a Secret ends.",
  { "namespace", "name" })

-- The key is not even cached.
local secrets = k8s.informer("secrets", {
  field_selector = "type=kubernetes.io/tls",
  fields = { "metadata.name", "metadata.namespace", "metadata.uid", "data['tls.crt']" },
})

-- The times of a certificate in DER: UTCTime ("260131120000Z", 13 bytes) or GeneralizedTime (15, with the century). The
-- first is its begin, the second its end.
local function end_of(der)
  local times = {}
  for at = 1, #der - 15 do
    local tag, length = der:byte(at, at + 1)
    local text = (tag == 23 and length == 13 or tag == 24 and length == 15) and der:sub(at + 2, at + 1 + length)
    if text and text:match "^%d+Z$" then
      if #text == 13 then text = (tonumber(text:sub(1, 2)) < 50 and "20" or "19") .. text end
      times[#times + 1] = text:gsub("^(%d%d%d%d)(%d%d)(%d%d)(%d%d)(%d%d)(%d%d)Z$", "%1-%2-%3T%4:%5:%6Z")
      if #times == 2 then return k8s.time.parse(times[2]) end
    end
  end
end

local function certificate_end(secret)
  local pem = k8s.base64.decode(secret:get "data['tls.crt']" or "")
  local body = pem and pem:match "%-+BEGIN CERTIFICATE%-+%s*(.-)%-+END CERTIFICATE"
  local der = body and k8s.base64.decode(body)
  return der and end_of(der)
end

local function look(secret)
  local labels = { namespace = secret:namespace(), name = secret:name() }
  local time = certificate_end(secret)
  if not time then
    ends:remove(labels)
    return
  end
  ends:set(time, labels)
  local left = time - k8s.now()
  if left > settings.days * 86400 then return end
  local what = left <= 0 and "has ended" or ("ends in %d days"):format(math.floor(left / 86400))
  k8s.event(secret, "Warning", "CertificateExpiry", "The certificate %s", what)
  print(("%s: the certificate %s"):format(secret:key(), what))
end

secrets:add_event_handler {
  OnAdd = look,
  OnUpdate = function(_, secret) look(secret) end,
  OnDelete = function(secret) ends:remove { namespace = secret:namespace(), name = secret:name() } end,
}

k8s.cron("0 6 * * *", function()
  for secret in secrets:lister():list() do look(secret) end
end, { tz = "UTC" })
