package process

import "testing"

func TestFreePortsAreGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 100 {
		ports, err := FreePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if given[port] || port < firstPort || port >= lastPort {
				t.Fatalf("port %d is given twice, or is not from %d to %d", port, firstPort, lastPort)
			}
			given[port] = true
		}
	}
}
