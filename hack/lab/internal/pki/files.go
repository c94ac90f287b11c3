package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

func (s Set) readCertificate(name string) (*x509.Certificate, error) {
	der, err := readPEM(s.Path(name + ".crt"))
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func (s Set) readKey(name string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(s.Path(name + ".key"))
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(der)
}

func (s Set) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(s.Path(name+".key"), "EC PRIVATE KEY", der, 0o600)
}

func readPEM(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, errNoPEM)
	}
	return block.Bytes, nil
}

// writePEM replaces the file at once, so that no reader sees half of it.
func writePEM(path, kind string, der []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	next := path + ".next"
	if err := os.WriteFile(next, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode); err != nil {
		return err
	}
	return os.Rename(next, path)
}
