package httpserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// writeCertificate writes a certificate with a serial number.
func writeCertificate(t *testing.T, folder string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRenewedCertificateIsUsedAtOnce(t *testing.T) {
	folder := t.TempDir()
	for _, absent := range []string{"", folder, filepath.Join(folder, "absent")} {
		if config, err := certificate(absent); config != nil || err != nil {
			t.Errorf("without a certificate in %q: %v, %v", absent, config, err)
		}
	}
	writeCertificate(t, folder, 1)
	config, err := certificate(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, serial := range []int64{1, 2} {
		writeCertificate(t, folder, serial)
		pair, err := config.GetCertificate(&tls.ClientHelloInfo{})
		if err != nil || pair.Leaf.SerialNumber.Int64() != serial {
			t.Errorf("got %v, %v, want the serial number %d", pair, err, serial)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "tls.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate(folder); err == nil {
		t.Error("a certificate without a key is taken")
	}
}

func TestHalfACertificateIsAMistake(t *testing.T) {
	for _, absent := range []string{"tls.crt", "tls.key"} {
		folder := t.TempDir()
		writeCertificate(t, folder, 1)
		if err := os.Remove(filepath.Join(folder, absent)); err != nil {
			t.Fatal(err)
		}
		if config, err := certificate(folder); config != nil || err == nil || !strings.Contains(err.Error(), absent) {
			t.Errorf("without %s: %v, %v", absent, config, err)
		}
	}
}

func TestProbesSayWhenItStops(t *testing.T) {
	var stopping atomic.Bool
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		answer := httptest.NewRecorder()
		probes(&stopping, nil).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if answer.Code != want {
			t.Errorf("stopping %t: %d, want %d", stopping.Load(), answer.Code, want)
		}
		stopping.Store(true)
	}
}

func TestHostHeadersMakeNoSeries(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	handler := measured(probes(&atomic.Bool{}, nil), "console", 8080, otelhttp.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	for i := range 10 {
		request := httptest.NewRequest(http.MethodGet, "/readyz", nil)
		request.Host = fmt.Sprintf("host-%d:%d", i, 1000+i)
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	histograms := 0
	for _, metric := range collected.ScopeMetrics[0].Metrics {
		series := 0
		switch data := metric.Data.(type) {
		case metricdata.Histogram[float64]:
			series = len(data.DataPoints)
		case metricdata.Histogram[int64]:
			series = len(data.DataPoints)
		}
		if histograms++; series != 1 {
			t.Errorf("%s has %d series, want 1", metric.Name, series)
		}
	}
	if histograms == 0 {
		t.Error("there is no metric")
	}
}

func TestLocalServerEndsAlthoughAStreamIsOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- ServeLocal(ctx, map[net.Listener]http.Handler{listener: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})})
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
