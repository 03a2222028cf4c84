-- kubelua test scripts/recipes
local test = require "k8s.test"

-- A certificate made with openssl, which ends at 2026-12-27T22:16:14Z.
local CERTIFICATE =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJjRENDQVJlZ0F3SUJBZ0lVUVorcUdLQUV5aXVIYURMejVmRWI5RWJHZnZF"
  .. "d0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RGQyVmlNQjRYRFRJMk1URXlOekl5TVRZeE5Gb1hEVEkyTVRJeU56SXlN"
  .. "VFl4TkZvdwpEakVNTUFvR0ExVUVBd3dEZDJWaU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRTZNeWNLZVJLCjJZ"
  .. "TTFER1NYb1lpTmxaODNkZUpaSHdjZEYrTlNvNE9aMjM2cUpUUm5OZ1FJaEkvbFkra0RQZjlVM0NKemJtMjUKUFpaaVhLeWFadTM3"
  .. "d3FOVE1GRXdIUVlEVlIwT0JCWUVGQ1hiN0xEK2FGRmZvNXJqT2dZWmZ1Nmp6RlRjTUI4RwpBMVVkSXdRWU1CYUFGQ1hiN0xEK2FG"
  .. "RmZvNXJqT2dZWmZ1Nmp6RlRjTUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3CkNnWUlLb1pJemowRUF3SURSd0F3UkFJZ1gweXJBN2Yy"
  .. "VlN5YXhlb01Ea1c5UGlPaFJWT2w5dVM1d1hueEduTWIKTGxzQ0lCTG1lNGNURUFNWlpmZFFFaVlGN2NNaVEwdWpBVW5Jb0V2SlFV"
  .. "WDNCUCtFCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"

describe("recipes/certificate_expiry.lua", function()
  local function secret(data)
    return { kind = "Secret", type = "kubernetes.io/tls", data = data, metadata = { namespace = "shop", name = "web" } }
  end

  it("shows the end of a certificate, and tells in time", function()
    local env = test.load("certificate_expiry.lua", { now = "2026-12-07T22:16:14Z" })
    local labels = { namespace = "shop", name = "web" }
    env:add(secret { ["tls.crt"] = CERTIFICATE, ["tls.key"] = "c2VjcmV0" })
    assert.equal(1798409774, env:metric("certificate_end_seconds", labels))
    assert.same({}, env.prints)
    env:advance "7d"
    assert.printed(env, "shop/web: the certificate ends in 13 days", true)
    assert.sent_event(env, { type = "Warning", reason = "CertificateExpiry" })
    env:advance "14d"
    assert.printed(env, "shop/web: the certificate has ended")
    env:delete("secrets", "shop/web")
    assert.is_nil(env:metric("certificate_end_seconds", labels))
  end)

  it("passes over what is no certificate", function()
    local env = test.load "certificate_expiry.lua"
    for _, text in ipairs { "", "bm9uZQ==", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==" } do
      env:add(secret { ["tls.crt"] = text })
      env:delete("secrets", "shop/web")
    end
    assert.same({}, env.failures)
  end)
end)
