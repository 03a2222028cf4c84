-- k8s.main decodes 16 MB of YAML, which is one call of C (E-3).
-- flags: --script-memory 256Mi
-- expect: over the limit piece%-cpu %(80ms%) in one piece of main
local k8s = require "k8s"

local text = ("- { name: a, port: 80, labels: { app: web } }\n"):rep(350000)

k8s.main(function()
  k8s.sleep "300ms"
  while true do
    pcall(k8s.yaml.decode, text)
  end
end)
