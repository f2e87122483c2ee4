package site

import (
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
)

// Drivers are the drivers of what runs. It is a sparkui.Drivers.
type Drivers struct{ *live.Live }

// Driver returns what is known of an application.
func (d Drivers) Driver(ref sparkui.Ref) (*sparkui.Driver, bool) {
	found, ok := d.DriverUI(live.Ref{Resource: ref.Resource + "." + ref.Group, Namespace: ref.Namespace, Name: ref.Name})
	if !ok {
		return nil, false
	}
	driver := sparkui.Driver(*found)
	return &driver, true
}
