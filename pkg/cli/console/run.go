package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/internal/httpserver"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/cli/tunnel"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/liveapi"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/site"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

const (
	// syncPatience is how long is waited until what runs was read once. Then the pages show what is known.
	syncPatience = 15 * time.Second
	syncPause    = 50 * time.Millisecond
)

// options are those of the command line, and the flags of the verb.
type options struct {
	*cli.Options
	// Port is the port of the pages, and SparkUIPort that of the UIs of drivers; 0 for any that is free.
	Port, SparkUIPort int
	// AllNamespaces reports whether all namespaces are to be shown.
	AllNamespaces bool
	// Actions reports whether the user may act from the pages.
	Actions bool
	// SettingsNamespace is the namespace of Firesteel, whose settings are read if the user may.
	SettingsNamespace string
	// NoBrowser reports whether no browser is to be opened.
	NoBrowser bool
}

// run serves the console until the context ends.
func run(ctx context.Context, o options) error {
	ofPages, err := opener(net.Listen).at(loopback, "--port", o.Port)
	if err != nil {
		return err
	}
	defer ofPages.Close()
	ofSparkUIs, err := listenAsUIHosts("--spark-ui-port", o.SparkUIPort)
	if err != nil {
		return err
	}
	defer closeAll(ofSparkUIs)
	logger := newLogger(o.ErrOut)
	ctx = logging.WithLogger(ctx, logger)
	c, err := connect(ctx, o)
	if err != nil {
		return orEnded(ctx, err)
	}
	go c.scope.follow(ctx, clock.RealClock{})
	running, err := c.follow(ctx, logger)
	if err != nil {
		return orEnded(ctx, err)
	}
	key, _, err := session.LoadKey("") // a random one: the sessions end with the process
	if err != nil {
		return err
	}
	address := &url.URL{Scheme: "http", Host: net.JoinHostPort(loopback, portOf(ofPages)), Path: "/" + strings.ToLower(rand.Text())}
	sparkUIs := "http://" + net.JoinHostPort(uiHosts, portOf(ofSparkUIs[0]))
	pages := site.New(site.Options{
		Source: running.Live, Views: running.Views, Clients: clients{c.cluster}, Settings: c.settings, Address: address.String, Note: c.scope.Note,
		Actions: func() bool { return o.Actions }, Drivers: site.Drivers{Live: running.Live}, SparkUIs: func() string { return sparkUIs },
		HistoryServer: func() string { return "" }, Archived: func() bool { return false }, Forward: c.forward, Clock: clock.RealClock{}, Logger: logger,
	})
	link := session.NewLink(c.user.token, clock.RealClock{})
	sessions := session.New(session.Options{Key: key, Users: c.user, Pages: pages, Clock: clock.RealClock{}, Address: address.String, Link: link})
	handler, uis := pages.Handlers(sessions, http.NotFoundHandler()) // programs have kubectl
	remove := announce(o, address.String()+link.Path(), c)
	defer remove()
	go func() {
		select {
		case <-link.Used():
			remove()
		case <-ctx.Done():
		}
	}()
	served := map[net.Listener]http.Handler{ofPages: own(address, handler)}
	for _, listener := range ofSparkUIs {
		served[listener] = uis
	}
	return httpserver.ServeLocal(ctx, served)
}

func closeAll(listeners []net.Listener) {
	for _, listener := range listeners {
		_ = listener.Close() // the command ends
	}
}

// orEnded returns nil if the user has ended the command.
func orEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newLogger returns a logger of errors. The pages show what users are to know.
func newLogger(to io.Writer) *zap.SugaredLogger {
	encoder := zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(to)), zap.ErrorLevel), redactlog.Option()).Sugar()
}

// connection is the cluster, and what the user may see of it.
type connection struct {
	cluster *rest.Config
	user    *user
	scope   *scope
	// client is the user's, and namespace that of Firesteel.
	client    kubernetes.Interface
	namespace string
}

// connect asks the API server who the user is, and what may be followed.
func connect(ctx context.Context, o options) (*connection, error) {
	asked := wanted{all: o.AllNamespaces}
	var err error
	if asked.namespace, asked.explicit, err = o.Namespace(); err != nil {
		return nil, err
	}
	c := &connection{namespace: o.SettingsNamespace}
	if c.cluster, err = o.Cluster(); err != nil {
		return nil, err
	}
	if c.client, err = kubernetes.NewForConfig(c.cluster); err != nil {
		return nil, err
	}
	if c.user, err = newUser(ctx, c.client, o.Warn); err != nil {
		return nil, err
	}
	if c.scope, err = newScope(ctx, c.user, c.client.Discovery(), asked); err != nil {
		return nil, err
	}
	if err = c.scope.look(ctx); err != nil {
		return nil, err
	}
	c.cluster.Timeout = 0 // --request-timeout would end watches and logs
	return c, nil
}

// settings returns the settings of the installation, if the user may read them.
func (c *connection) settings(ctx context.Context) (*config.Config, error) {
	return settings.Installation(ctx, c.client, c.namespace)
}

// follow follows what runs. It returns as soon as that was read once.
func (c *connection) follow(ctx context.Context, logger *zap.SugaredLogger) (*liveapi.Live, error) {
	cluster := rest.CopyConfig(c.cluster)
	kube.Configure(cluster)
	known, err := c.settings(ctx)
	if err != nil {
		known = config.Default() // plans report why
	}
	shown := live.Settings{TeamLabel: known.Console.TeamLabel, UserLabel: known.Console.UserLabel, Prices: live.Prices(known.Console.Prices)}
	running, err := liveapi.New(ctx, cluster, liveapi.Options{
		Versions: c.scope.versions, DiscoveryOnly: true, Logger: logger,
		Settings: func() live.Settings { return shown },
	})
	if err != nil {
		return nil, err
	}
	running.Watch([]string{c.scope.namespace})
	go running.Run(ctx)
	_ = wait.PollUntilContextTimeout(ctx, syncPause, syncPatience, true, func(context.Context) (bool, error) { // the pages show what is known
		return running.HasSynced(), nil
	})
	return running, ctx.Err()
}

// forward connects to a port of a Pod. It is a sparkui.Forward.
func (c *connection) forward(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	return tunnel.Connect(ctx, c.cluster, namespace, pod, port)
}

// announce prints the link, and opens it in the browser. remove removes what the browser needs to open it.
func announce(o options, link string, c *connection) (remove func()) {
	fmt.Fprintln(o.Out, link)
	mode := ""
	if !o.Actions {
		mode = ", read-only (--actions allows more)"
	}
	fmt.Fprintf(o.ErrOut, "It shows what %s may see%s%s, until Ctrl-C. The link opens one browser, once, within %d minutes: start the command again for another one.\n",
		c.user.name, inNamespace(c.scope.namespace), mode, session.LinkLife/time.Minute)
	if o.NoBrowser {
		return func() {}
	}
	remove, err := tunnel.BrowseSecret(link)
	if err != nil {
		o.Warn(fmt.Sprintf("no browser can be opened: %v", err))
	} else {
		fmt.Fprintln(o.ErrOut, "If the browser shows no page, open the link yourself.")
	}
	return remove
}
