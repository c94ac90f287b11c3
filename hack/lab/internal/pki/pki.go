// Package pki makes the certificates and keys that the components of the lab
// know each other by. There are three authorities, because whoever trusts one of
// them trusts everything that it signed: etcd must not accept a kubelet.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

const (
	lifetime = 365 * 24 * time.Hour
	// renewal is how long before its end a certificate is made anew.
	renewal = 30 * 24 * time.Hour
)

// Leaf is a certificate that one of the authorities signs.
type Leaf struct {
	// Name is of its files: Name.crt and Name.key.
	Name string
	// Authority is the name of the authority that signs it.
	Authority string
	// CommonName and Groups are who its holder is to the API server.
	CommonName string
	Groups     []string
	// Addresses and Hosts are what it serves as; none for a mere client.
	Addresses []net.IP
	Hosts     []string
}

// Set is all certificates and keys of a lab.
type Set struct {
	Authorities []string
	Leaves      []Leaf
	// Keys are bare key pairs: Name.key and Name.pub.
	Keys []string
	// Path names a file of the set.
	Path func(name string) string
}

// Ensure makes what is missing, expires soon, or no longer says what it should.
// It reports how much it made.
func (s Set) Ensure(now time.Time) (made int, err error) {
	renewed := map[string]bool{}
	for _, name := range s.Authorities {
		if s.validAuthority(name, now) {
			continue
		}
		if err := s.makeAuthority(name, now); err != nil {
			return made, fmt.Errorf("make authority %s: %w", name, err)
		}
		renewed[name] = true
		made++
	}
	for _, leaf := range s.Leaves {
		if !renewed[leaf.Authority] && s.validLeaf(leaf, now) {
			continue
		}
		if err := s.makeLeaf(leaf, now); err != nil {
			return made, fmt.Errorf("make certificate %s: %w", leaf.Name, err)
		}
		made++
	}
	for _, name := range s.Keys {
		if _, err := s.readKey(name); err == nil {
			continue
		}
		if err := s.makeKeyPair(name); err != nil {
			return made, fmt.Errorf("make key %s: %w", name, err)
		}
		made++
	}
	return made, nil
}

func (s Set) validAuthority(name string, now time.Time) bool {
	cert, err := s.readCertificate(name)
	if err != nil || !cert.IsCA || now.Add(renewal).After(cert.NotAfter) {
		return false
	}
	return s.holdsKey(name, cert)
}

func (s Set) validLeaf(leaf Leaf, now time.Time) bool {
	cert, err := s.readCertificate(leaf.Name)
	if err != nil || now.Add(renewal).After(cert.NotAfter) || !s.holdsKey(leaf.Name, cert) {
		return false
	}
	authority, err := s.readCertificate(leaf.Authority)
	if err != nil || cert.CheckSignatureFrom(authority) != nil {
		return false
	}
	return cert.Subject.CommonName == leaf.CommonName &&
		slices.Equal(cert.Subject.Organization, leaf.Groups) &&
		slices.Equal(cert.DNSNames, leaf.Hosts) &&
		slices.EqualFunc(cert.IPAddresses, leaf.Addresses, net.IP.Equal)
}

// holdsKey says whether the key beside a certificate is the certificate's.
func (s Set) holdsKey(name string, cert *x509.Certificate) bool {
	key, err := s.readKey(name)
	if err != nil {
		return false
	}
	public, ok := cert.PublicKey.(*ecdsa.PublicKey)
	return ok && public.Equal(key.Public())
}

func (s Set) makeAuthority(name string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := newTemplate(pkix.Name{CommonName: "replab-lab-" + name}, now)
	if err != nil {
		return err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	return s.sign(name, template, template, key, key)
}

func (s Set) makeLeaf(leaf Leaf, now time.Time) error {
	authority, err := s.readCertificate(leaf.Authority)
	if err != nil {
		return err
	}
	signer, err := s.readKey(leaf.Authority)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := newTemplate(pkix.Name{CommonName: leaf.CommonName, Organization: leaf.Groups}, now)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(leaf.Addresses)+len(leaf.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	template.IPAddresses = leaf.Addresses
	template.DNSNames = leaf.Hosts
	return s.sign(leaf.Name, template, authority, key, signer)
}

// newTemplate begins a certificate. Its validity starts an hour ago, so that a
// clock that is set back after a reboot does not make it useless.
func newTemplate(subject pkix.Name, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func (s Set) sign(name string, template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer) error {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	// The key goes first: a stop in between leaves a pair that does not match,
	// which the next Ensure sees and makes anew.
	if err := s.writeKey(name, key); err != nil {
		return err
	}
	return writePEM(s.Path(name+".crt"), "CERTIFICATE", der, 0o644)
}

func (s Set) makeKeyPair(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(s.Path(name+".pub"), "PUBLIC KEY", public, 0o644); err != nil {
		return err
	}
	return s.writeKey(name, key)
}

var errNoPEM = errors.New("no PEM block")
