package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

// credentials are who the server is and whom it knows. The files, all in the folder:
//
//	ca.crt  server.crt server.key  admin.crt admin.key  service-account.key  admin.token nobody.token  tokens.csv
type credentials struct {
	adminToken, nobodyToken string
}

func (c *credentials) loadOrMake(files *folder) error {
	if _, err := os.Stat(files.path("tokens.csv")); err != nil {
		if err := makeCertificates(files); err != nil {
			return err
		}
		if err := makeTokens(files); err != nil {
			return err
		}
	}
	for name, token := range map[string]*string{"admin.token": &c.adminToken, "nobody.token": &c.nobodyToken} {
		text, err := os.ReadFile(files.path(name))
		if err != nil {
			return err
		}
		*token = strings.TrimSpace(string(text))
	}
	return nil
}

func makeCertificates(files *folder) error {
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kubelua spec CA"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	caKey, err := sign(files, "ca", ca, ca, nil)
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if _, err := sign(files, "server", server, ca, caKey); err != nil {
		return err
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if _, err := sign(files, "admin", admin, ca, caKey); err != nil {
		return err
	}
	_, err = makeKey(files, "service-account")
	return err
}

// sign makes a key and a certificate for it, by the issuer's key or, when that is nil, by its own.
func sign(files *folder, name string, cert, issuer *x509.Certificate, by *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := makeKey(files, name)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = key
	}
	cert.SerialNumber = big.NewInt(time.Now().UnixNano())
	cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	cert.KeyUsage |= x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, cert, issuer, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	return key, writePEM(files.path(name+".crt"), "CERTIFICATE", der)
}

func makeKey(files *folder, name string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(files.path(name+".key"), "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// makeTokens writes a token of system:masters and one of a user without any right, and the list for the server.
func makeTokens(files *folder) error {
	var csv strings.Builder
	for _, user := range []struct{ name, groups string }{{"admin", "system:masters"}, {"nobody", ""}} {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		token := hex.EncodeToString(secret)
		if err := os.WriteFile(files.path(user.name+".token"), []byte(token+"\n"), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(&csv, "%s,%s,%s,%q\n", token, user.name, user.name, user.groups)
	}
	return os.WriteFile(files.path("tokens.csv"), []byte(csv.String()), 0o600)
}
