package tunnel

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// Browse opens an address in the browser. Without a display, xdg-open would open it in a browser of the terminal that nobody sees.
func Browse(address string) error {
	opener := []string{"xdg-open"}
	switch {
	case runtime.GOOS == "darwin":
		opener = []string{"open"}
	case runtime.GOOS == "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "":
		return errors.New("this session has no display (DISPLAY, WAYLAND_DISPLAY and BROWSER are not set): open the address yourself")
	}
	return exec.Command(opener[0], append(opener[1:], address)...).Start() //nolint:gosec // the program is one of these, and the address is one that this process serves
}
