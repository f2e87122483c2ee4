package function

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxConnections bounds the connections of a server. Each may hold a header and the body of a small event in memory.
const maxConnections = 1024

// connectionLimiter bounds the connections of a server. Beyond the limit it closes the connection for which the server has waited
// longest, for a request or for the rest of one. It closes connections that have delivered an event last. It does not close a
// connection while its event is being handled.
type connectionLimiter struct {
	limit int

	mutex sync.Mutex
	// The server waits for the connections in these two lists, for the first longest. Those in withoutEvent have delivered no event
	// yet. Those in withEvent have.
	withoutEvent, withEvent *list.List
	open                    map[net.Conn]*connection
}

type connection struct {
	// delivered reports whether the connection has delivered an event.
	delivered bool
	// list holds the connection at element. It is nil while the server does not wait for the connection.
	list    *list.List
	element *list.Element
}

func newConnectionLimiter(limit int) *connectionLimiter {
	return &connectionLimiter{limit: limit, withoutEvent: list.New(), withEvent: list.New(), open: map[net.Conn]*connection{}}
}

// stateChanged records the new state of a connection. It is an http.Server's ConnState.
func (c *connectionLimiter) stateChanged(conn net.Conn, state http.ConnState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if state == http.StateNew {
		c.open[conn] = &connection{}
	}
	entry, ok := c.open[conn]
	if !ok {
		return
	}
	entry.stopWaiting()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.open, conn)
		return
	}
	entry.list = c.withoutEvent
	if entry.delivered {
		entry.list = c.withEvent
	}
	entry.element = entry.list.PushBack(conn)
	if len(c.open) > c.limit {
		c.closeOldest()
	}
}

// closeOldest closes the connection for which the server has waited longest.
func (c *connectionLimiter) closeOldest() {
	for _, waiting := range []*list.List{c.withoutEvent, c.withEvent} {
		if oldest := waiting.Front(); oldest != nil {
			conn := oldest.Value.(net.Conn)
			c.open[conn].stopWaiting()
			delete(c.open, conn)
			_ = conn.Close()
			return
		}
	}
}

// stopWaiting removes a connection from its list.
func (c *connection) stopWaiting() {
	if c.list != nil {
		c.list.Remove(c.element)
		c.list = nil
	}
}

type eventArrivedKey struct{}

// context adds the function that markEventArrived calls. It is an http.Server's ConnContext.
func (c *connectionLimiter) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, eventArrivedKey{}, func() { c.eventArrived(conn) })
}

func (c *connectionLimiter) eventArrived(conn net.Conn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if entry, ok := c.open[conn]; ok {
		entry.stopWaiting()
		entry.delivered = true
	}
}

// markEventArrived records that a request's event has arrived, so that its connection is not closed.
func markEventArrived(ctx context.Context) {
	if mark, ok := ctx.Value(eventArrivedKey{}).(func()); ok {
		mark()
	}
}
