package live_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/live"
)

// Requests as bytes, as no browser sends them, get nothing that others do not.
func TestRequestsAsBytes(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithName("secret"))
	defer p.Close()
	const cookie = "filch-live-00000000=" // with any value
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(`net.Listen("tcp", "127.0.0.1:0"):`, err)
	}
	s := &http.Server{Handler: live.New(live.WithPools(p), live.WithToken("0123456789abcdef"))}
	go s.Serve(l)
	defer s.Close()
	for request, want := range map[string]string{
		"GET / HTTP/1.1|Host: localhost":                                                "200",
		"GET / HTTP/1.1|Host: localhost:1":                                              "200",
		"GET / HTTP/1.1|Host: localhost:":                                               "200",
		"GET / HTTP/1.1|Host: LocalHost":                                                "200",
		"GET / HTTP/1.1|Host: [::1]":                                                    "200",
		"GET / HTTP/1.1|Host: [0:0:0:0:0:0:0:1]:9":                                      "200",
		"GET / HTTP/1.1|Host: localhost.":                                               "403",
		"GET / HTTP/1.1|Host: localhost:1:2":                                            "403",
		"GET / HTTP/1.1|Host: localhost@evil.example":                                   "40",
		"GET / HTTP/1.1|Host: evil.example#localhost":                                   "40",
		"GET / HTTP/1.1|Host: evil.example/localhost":                                   "40",
		"GET / HTTP/1.1|Host: localhost,evil.example":                                   "403",
		"GET / HTTP/1.1|Host: 2130706433":                                               "403",
		"GET / HTTP/1.1|Host: 0x7f.1":                                                   "403",
		"GET / HTTP/1.1|Host: 127.1":                                                    "403",
		"GET / HTTP/1.1|Host: 0.0.0.0":                                                  "403",
		"GET / HTTP/1.1|Host: [::]":                                                     "403",
		"GET / HTTP/1.1|Host: [::ffff:10.0.0.1]":                                        "403",
		"GET / HTTP/1.1|Host: localhost|Host: evil.example":                             "400",
		"GET / HTTP/1.1|Host: evil.example|Host: localhost":                             "400",
		"GET / HTTP/1.1":                                                                "400",
		"GET / HTTP/1.0":                                                                "403",
		"GET http://evil.example/ HTTP/1.1|Host: localhost":                             "403",
		"GET http://localhost/ HTTP/1.1|Host: localhost|Origin: null":                   "403",
		"GET / HTTP/1.1|Host: localhost|Origin: http://localhost|Origin: http://e":      "403",
		"GET / HTTP/1.1|Host: localhost|X-Forwarded-Host: evil.example":                 "200",
		"GET / HTTP/1.1|Host: evil.example|X-Forwarded-Host: localhost":                 "403",
		"HEAD / HTTP/1.1|Host: localhost":                                               "200",
		"OPTIONS / HTTP/1.1|Host: localhost":                                            "405",
		"OPTIONS * HTTP/1.1|Host: localhost":                                            "",
		"TRACE / HTTP/1.1|Host: localhost":                                              "405",
		"POST / HTTP/1.1|Host: localhost|Content-Length: 0":                             "405",
		"POST /token HTTP/1.1|Host: localhost|Content-Length: 0":                        "401",
		"POST /token?token=0123456789abcdef HTTP/1.1|Host: localhost|Content-Length: 0": "401",
		"POST /token HTTP/1.1|Host: evil.example|Content-Length: 0":                     "403",
		"GET /%2e%2e/%2e%2e/live.go HTTP/1.1|Host: localhost":                           "404",
		"GET /a\\..\\live.go HTTP/1.1|Host: localhost":                                  "404",
		"GET /events HTTP/1.1|Host: localhost":                                          "401",
		"GET /EVENTS HTTP/1.1|Host: localhost":                                          "404",
		"GET /events HTTP/1.1|Host: localhost|Cookie: " + cookie:                        "401",
		"GET /events HTTP/1.1|Host: localhost|Cookie: a=\"; " + cookie + "x\"":          "401",
		"GET /events HTTP/1.1|Host: localhost|Authorization: Bearer 0123456789abcdef":   "401",
		"GET /events?pool=0&pool=1&token=0123456789abcdef HTTP/1.1|Host: localhost":     "401",
	} {
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute)
		if err != nil {
			t.Fatal(`net.DialTimeout("tcp", l.Addr().String(), time.Minute):`, err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(c, strings.ReplaceAll(request, "|", "\r\n")+"\r\nConnection: close\r\n\r\n")
		status, err := bufio.NewReader(c).ReadString('\n')
		c.Close()
		if _, code, _ := strings.Cut(status, " "); err != nil || !strings.HasPrefix(code, want) {
			t.Errorf("%s: %q, not %s; %v", request, status, want, err)
		}
	}
}
