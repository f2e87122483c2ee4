package function

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connectionLimit bounds the connections of a server. Each may hold a header and the body of a small event.
const connectionLimit = 1024

// connections bounds the connections of a server. Beyond the limit it closes the one that has kept the server waiting longest, for
// a request or for the rest of one. Those that have delivered an event before are closed last, and one whose event has just arrived
// is not closed.
type connections struct {
	limit int

	mutex sync.Mutex
	// strangers and senders hold the connections that are waited for, the longest first: those that have delivered no event, and
	// those that have.
	strangers, senders *list.List
	open               map[net.Conn]*connection
}

type connection struct {
	// delivered says that an event has come.
	delivered bool
	// in is the list that holds the connection at a place; nil if it is not waited for.
	in    *list.List
	place *list.Element
}

func newConnections(limit int) *connections {
	return &connections{limit: limit, strangers: list.New(), senders: list.New(), open: map[net.Conn]*connection{}}
}

// changed notes what becomes of a connection. It is an http.Server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if state == http.StateNew {
		c.open[conn] = &connection{}
	}
	its, open := c.open[conn]
	if !open {
		return
	}
	its.leave()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.open, conn)
		return
	}
	its.in = c.strangers
	if its.delivered {
		its.in = c.senders
	}
	its.place = its.in.PushBack(conn)
	if len(c.open) > c.limit {
		c.closeOldest()
	}
}

// closeOldest closes the connection that is waited for longest. The server notes its end by itself.
func (c *connections) closeOldest() {
	for _, waiting := range []*list.List{c.strangers, c.senders} {
		if oldest := waiting.Front(); oldest != nil {
			conn := oldest.Value.(net.Conn)
			c.open[conn].leave()
			delete(c.open, conn)
			_ = conn.Close()
			return
		}
	}
}

// leave takes a connection out of those that are waited for.
func (c *connection) leave() {
	if c.in != nil {
		c.in.Remove(c.place)
		c.in = nil
	}
}

type arrivedKey struct{}

// context gives the requests of a connection what arrived calls. It is an http.Server's ConnContext.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, arrivedKey{}, func() { c.arrived(conn) })
}

func (c *connections) arrived(conn net.Conn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if its, open := c.open[conn]; open {
		its.leave()
		its.delivered = true
	}
}

// arrived notes that the event of a request is there.
func arrived(ctx context.Context) {
	if note, bounded := ctx.Value(arrivedKey{}).(func()); bounded {
		note()
	}
}
