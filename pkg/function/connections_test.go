package function

import (
	"net"
	"net/http"
	"testing"
)

// named is a connection that records whether it was closed.
type named struct {
	net.Conn
	closed bool
}

func (n *named) Close() error {
	n.closed = true
	return nil
}

func TestConnectionLimiterClosesTheLongestWaiting(t *testing.T) {
	c := newConnectionLimiter(3)
	broker, busy, idle, slow, late := &named{}, &named{}, &named{}, &named{}, &named{}
	deliver := func(conn net.Conn) {
		c.stateChanged(conn, http.StateActive)
		c.eventArrived(conn)
	}
	expect := func(when string, want ...*named) {
		t.Helper()
		closed := map[*named]bool{}
		for _, conn := range want {
			closed[conn] = true
		}
		for name, conn := range map[string]*named{"broker": broker, "busy": busy, "idle": idle, "slow": slow, "late": late} {
			if conn.closed != closed[conn] {
				t.Errorf("%s: the connection %s is closed: %t", when, name, conn.closed)
			}
		}
	}
	c.stateChanged(broker, http.StateNew)
	deliver(broker)
	c.stateChanged(broker, http.StateIdle)
	c.stateChanged(busy, http.StateNew)
	deliver(busy)
	c.stateChanged(idle, http.StateNew)
	expect("within the limit")
	c.stateChanged(slow, http.StateNew)
	expect("beyond the limit", idle)
	c.stateChanged(slow, http.StateActive) // a request begins
	c.stateChanged(late, http.StateNew)
	expect("beyond the limit again", idle, slow)
	c.stateChanged(slow, http.StateActive)
	c.stateChanged(slow, http.StateClosed)
	c.stateChanged(late, http.StateActive)
	deliver(late)
	another := &named{}
	c.stateChanged(another, http.StateNew)
	if !another.closed || broker.closed {
		t.Errorf("a connection with an event was closed before one without: %t, %t", broker.closed, another.closed)
	}
	for _, conn := range []*named{broker, busy, idle, slow, late, another} {
		c.stateChanged(conn, http.StateClosed)
	}
	if len(c.open) != 0 || c.withoutEvent.Len() != 0 || c.withEvent.Len() != 0 {
		t.Errorf("%d, %d and %d connections are left", len(c.open), c.withoutEvent.Len(), c.withEvent.Len())
	}
}
