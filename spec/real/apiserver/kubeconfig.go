package main

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig names three ways in: admin (client certificate, the current one), admin-token and nobody.
func writeKubeconfig(files *folder, server string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["real"] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: files.path("ca.crt")}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificate: files.path("admin.crt"),
		ClientKey:         files.path("admin.key"),
	}
	config.AuthInfos["admin-token"] = &clientcmdapi.AuthInfo{Token: files.creds.adminToken}
	config.AuthInfos["nobody"] = &clientcmdapi.AuthInfo{Token: files.creds.nobodyToken}
	for user := range config.AuthInfos {
		config.Contexts[user] = &clientcmdapi.Context{Cluster: "real", AuthInfo: user}
	}
	config.CurrentContext = "admin"
	return clientcmd.WriteToFile(*config, files.path("kubeconfig"))
}
