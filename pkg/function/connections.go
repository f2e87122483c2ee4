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
// a request or for the rest of one. A connection whose request has arrived is not closed.
type connections struct {
	limit int

	mutex sync.Mutex
	// waiting holds the connections that are waited for, the longest first.
	waiting *list.List
	// open holds every connection with its place in waiting, nil if its request has arrived.
	open map[net.Conn]*list.Element
}

func newConnections(limit int) *connections {
	return &connections{limit: limit, waiting: list.New(), open: map[net.Conn]*list.Element{}}
}

// changed notes what becomes of a connection. It is an http.Server's ConnState.
func (c *connections) changed(connection net.Conn, state http.ConnState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	place, open := c.open[connection]
	if place != nil {
		c.waiting.Remove(place)
	}
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		delete(c.open, connection)
	case state == http.StateNew || open:
		c.open[connection] = c.waiting.PushBack(connection)
	}
	if oldest := c.waiting.Front(); len(c.open) > c.limit && oldest != nil {
		c.waiting.Remove(oldest)
		delete(c.open, oldest.Value.(net.Conn))
		_ = oldest.Value.(net.Conn).Close() // the server notes its end by itself
	}
}

type arrivedKey struct{}

// context gives the requests of a connection what arrived calls. It is an http.Server's ConnContext.
func (c *connections) context(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, arrivedKey{}, func() { c.arrived(connection) })
}

func (c *connections) arrived(connection net.Conn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if place := c.open[connection]; place != nil {
		c.waiting.Remove(place)
		c.open[connection] = nil
	}
}

// arrived notes that the whole request of a context is there.
func arrived(ctx context.Context) {
	if note, bounded := ctx.Value(arrivedKey{}).(func()); bounded {
		note()
	}
}
