package embedded

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/filch-go/filch/cluster"
)

// User is one that may connect to a [Server].
type User struct {
	Name     string
	Password string // as it is, or what bcrypt has made of it
	// Permissions are what it may do: those of [cluster.PermissionsOf] for a node. nil means everything.
	Permissions *cluster.Permissions
}

// enter lets the users of s in, and the node of Start, by a key that nobody else has: own is its option.
func (s Server) enter(o *server.Options) (own nats.Option, err error) {
	own = func(*nats.Options) error { return nil }
	if len(s.Users) == 0 {
		return own, nil
	}
	if s.Routed != "" && s.TLS == nil {
		return nil, errors.New("cluster: the embedded server has Users and Routed, and so needs TLS: else whoever reaches Routed needs no password")
	}
	known := map[string]bool{}
	for i, u := range s.Users {
		if u.Name == "" || u.Password == "" {
			return nil, fmt.Errorf("cluster: the embedded server: Users[%d] has no name or no password", i)
		}
		if known[u.Name] {
			return nil, fmt.Errorf("cluster: the embedded server: two of Users have the name %q", u.Name)
		}
		known[u.Name] = true
		o.Users = append(o.Users, &server.User{Username: u.Name, Password: u.Password, Permissions: permissions(u.Permissions)})
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cluster: the embedded server: %w", err)
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("cluster: the embedded server: %w", err)
	}
	o.Nkeys = []*server.NkeyUser{{Nkey: public}}
	return nats.Nkey(public, key.Sign), nil
}

// permissions returns p in the words of the server.
func permissions(p *cluster.Permissions) *server.Permissions {
	if p == nil {
		return nil
	}
	to := func(subjects []string) *server.SubjectPermission {
		if len(subjects) == 0 {
			return &server.SubjectPermission{Deny: []string{">"}} // else it may have all
		}
		return &server.SubjectPermission{Allow: subjects}
	}
	all := &server.Permissions{Publish: to(p.Publish), Subscribe: to(p.Subscribe)}
	if p.Responses {
		all.Response = &server.ResponsePermission{}
	}
	return all
}

// setTLS sets how those that connect, and other servers, are to know the server.
func (s Server) setTLS(o *server.Options) error {
	if s.TLS == nil {
		return nil
	}
	if len(s.TLS.Certificates) == 0 && s.TLS.GetCertificate == nil && s.TLS.GetConfigForClient == nil {
		return errors.New("cluster: the embedded server: TLS has no certificate")
	}
	o.TLS, o.TLSConfig, o.TLSVerify = true, s.TLS.Clone(), s.TLS.ClientAuth == tls.RequireAndVerifyClientCert
	if s.Routed != "" {
		if s.TLS.RootCAs == nil || s.TLS.ClientCAs == nil {
			return errors.New("cluster: the embedded server: TLS with Routed needs RootCAs and ClientCAs, by which servers know each other")
		}
		o.Cluster.TLSConfig = s.TLS.Clone()
		o.Cluster.TLSConfig.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return nil
}
