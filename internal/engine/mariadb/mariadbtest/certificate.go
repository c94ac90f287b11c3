package mariadbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// What all servers show their clients. Without it each start makes a key of RSA, which takes longer than the rest of the start.
const certificateFile, keyFile = "certificate.pem", "key.pem"

func writeCertificate(dir string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(err)
	for file, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: certificate}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		check(os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o644)) // whoever the servers run as reads it
	}
}
