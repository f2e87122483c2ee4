package gateway

import (
	"io"
	"time"
)

// frail is a watch that ends before its time, and whose events come late.
type frail struct {
	io.ReadCloser
	g   *Gateway
	end *time.Timer
}

func (g *Gateway) frail(watch io.ReadCloser) io.ReadCloser {
	f := &frail{ReadCloser: watch, g: g}
	f.end = time.AfterFunc(g.rng.About(g.rates.WatchLife), func() {
		if g.stormy.Load() {
			g.count("watch cut")
			_ = watch.Close()
		}
	})
	return f
}

func (f *frail) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && f.g.stormy.Load() && f.g.rng.Chance(f.g.rates.Stale) {
		f.g.count("watch stale")
		<-time.After(f.g.rng.Between(0, f.g.rates.Delay))
	}
	return n, err
}

func (f *frail) Close() error {
	f.end.Stop()
	return f.ReadCloser.Close()
}
