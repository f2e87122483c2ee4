package httpserver

import (
	"net"
	"syscall"
	"testing"
)

func TestKernelHoldsLittleForSlowReaders(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	connection, err := slowReaders{listener}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	raw, err := connection.(*net.TCPConn).SyscallConn() //nolint:forcetypeassert // it is a listener of TCP
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(descriptor uintptr) {
		// Linux doubles what it is asked for.
		if size, err := syscall.GetsockoptInt(int(descriptor), syscall.SOL_SOCKET, syscall.SO_SNDBUF); err != nil || size > 2*kernelBuffer {
			t.Errorf("the buffer has %d bytes (%v), want at most %d", size, err, 2*kernelBuffer)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
