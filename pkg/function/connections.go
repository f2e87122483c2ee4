package function

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxConnections bounds the connections of a server. Each may hold a header and the body of a small event.
const maxConnections = 1024

// connectionLimiter bounds the connections of a server. Beyond the limit it closes the one that has kept the server waiting longest, for
// a request or for the rest of one. Those that have delivered an event before are closed last, and one whose event has just arrived
// is not closed.
type connectionLimiter struct {
	limit int

	mutex sync.Mutex
	// withoutEvent and senders hold the connections that are waited for, the longest first: those that have delivered no event, and
	// those that have.
	withoutEvent, withEvent *list.List
	open                    map[net.Conn]*connection
}

type connection struct {
	// delivered says that an event has come.
	delivered bool
	// list is the list that holds the connection at a place; nil if it is not waited for.
	list    *list.List
	element *list.Element
}

func newConnectionLimiter(limit int) *connectionLimiter {
	return &connectionLimiter{limit: limit, withoutEvent: list.New(), withEvent: list.New(), open: map[net.Conn]*connection{}}
}

// stateChanged notes what becomes of a connection. It is an http.Server's ConnState.
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

// closeOldest closes the connection that is waited for longest. The server notes its end by itself.
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

// notReadyPeriod takes a connection out of those that are waited for.
func (c *connection) stopWaiting() {
	if c.list != nil {
		c.list.Remove(c.element)
		c.list = nil
	}
}

type eventArrivedKey struct{}

// context gives the requests of a connection what arrived calls. It is an http.Server's ConnContext.
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

// eventArrived notes that the event of a request is there.
func markEventArrived(ctx context.Context) {
	if note, bounded := ctx.Value(eventArrivedKey{}).(func()); bounded {
		note()
	}
}
