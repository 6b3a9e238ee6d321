package clustertest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// authority makes certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority returns an authority whose own certificate is in the file ca.pem of dir.
func newAuthority(t *testing.T, dir string) *authority {
	a := &authority{t: t, dir: dir}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.key = a.make("ca", a.cert, nil)
	return a
}

// issue makes the certificate of a server or a client, in the files name.pem and name.key.
func (a *authority) issue(name string) {
	a.make(name, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.key)
}

// make writes a certificate and a new key, signed with signer or, if that is nil, with itself.
func (a *authority) make(name string, cert *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal("ecdsa.GenerateKey:", err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal("x509.CreateCertificate:", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal("x509.MarshalPKCS8PrivateKey:", err)
	}
	for file, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(a.file(name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal("os.WriteFile:", err)
		}
	}
	return key
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// With TLS on both sides, a node needs a certificate of the authority, and believes only servers that have one.
func TestWithTLSBothSidesNeedACertificate(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, t.TempDir())
	a.issue("server")
	a.issue("node")
	s := clustertest.Server(t, clustertest.WithConfig(fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", a.file("server.pem"), a.file("server.key"), a.file("ca.pem"))))
	url := strings.Replace(s.URL(), "nats://", "tls://", 1)
	n, err := cluster.Open(t.Context(), cluster.WithURL(url, nats.RootCAs(a.file("ca.pem")), nats.ClientCert(a.file("node.pem"), a.file("node.key"))))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	f, err := cluster.Handle(n, "double", double).Submit(t.Context(), 21)
	if err != nil {
		t.Fatal("cluster.Handle(n, \"double\", double).Submit:", err)
	}
	expect(t, f, 42)
	// The client's handshake ends before the server has looked for its certificate. So it hears why it is refused, or that the
	// connection is closed, whichever is first.
	if _, err := cluster.Open(t.Context(), cluster.WithURL(url, nats.RootCAs(a.file("ca.pem")))); err == nil || !strings.Contains(err.Error(), "certificate") && !strings.Contains(err.Error(), "closed by remote after TLS handshake") {
		t.Error("without a certificate:", err)
	}
	if _, err := cluster.Open(t.Context(), cluster.WithURL(url, nats.ClientCert(a.file("node.pem"), a.file("node.key")))); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Error("of a server of an unknown authority:", err)
	}
}
