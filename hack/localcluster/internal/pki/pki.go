// Package pki makes the cluster's keys and certificates. They live as long as
// the cluster does, so one authority signs everything.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const lifetime = 10 * 365 * 24 * time.Hour

// Authority signs certificates and keeps them, with their keys, in a folder.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// PEM is the authority's own certificate.
	PEM []byte
}

// NewAuthority makes an authority; ca.crt and ca.key appear in the folder.
func NewAuthority(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	template := newTemplate("firesteel-localcluster")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, cert: template, key: key}
	if a.PEM, err = a.write("ca", template, key); err != nil {
		return nil, err
	}
	a.cert, err = parse(a.PEM)
	return a, err
}

// Server makes NAME.crt and NAME.key for a server under these names and addresses.
func (a *Authority) Server(name string, dnsNames []string, addresses ...string) error {
	template := newTemplate(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = dnsNames
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	return a.issue(name, template)
}

// Client makes NAME.crt and NAME.key for a user of these groups.
func (a *Authority) Client(name string, groups ...string) error {
	template := newTemplate(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.Subject.Organization = groups
	return a.issue(name, template)
}

// SigningKey makes NAME.key and NAME.pub, for service-account tokens.
func (a *Authority) SigningKey(name string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	return errors.Join(a.writeKey(name, key), a.writePEM(name+".pub", "PUBLIC KEY", public, 0o644))
}

// Token is a random bearer token.
func Token() (string, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}

func (a *Authority) issue(name string, template *x509.Certificate) error {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return err
	}
	_, err = a.write(name, template, key)
	return err
}

func (a *Authority) write(name string, template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	err = errors.Join(a.writeKey(name, key), a.writePEM(name+".crt", "CERTIFICATE", der, 0o644))
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

func (a *Authority) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return a.writePEM(name+".key", "EC PRIVATE KEY", der, 0o600)
}

func (a *Authority) writePEM(file, kind string, der []byte, mode os.FileMode) error {
	return os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func newTemplate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // machines' clocks differ
		NotAfter:     now.Add(lifetime),
	}
}

func parse(certificate []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return nil, errors.New("no certificate in the PEM text")
	}
	return x509.ParseCertificate(block.Bytes)
}
