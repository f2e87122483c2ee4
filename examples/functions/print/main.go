// The print function is the smallest subscriber. It prints each event in one line: a summary or, with -json, the whole event.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/function"
)

func main() {
	whole := flag.Bool("json", false, "Print the whole event as JSON, in CloudEvents' structured mode.")
	flag.Parse()
	render := line
	if *whole {
		render = structured
	}
	function.Handle(func(_ context.Context, event cloudevents.Event) error {
		_, err := fmt.Println(render(event))
		return err
	})
}

func structured(event cloudevents.Event) string {
	text, err := json.Marshal(event)
	if err != nil {
		return fmt.Sprintf("event %s of %s cannot be written as JSON: %v", event.ID(), event.Source(), err)
	}
	return string(text)
}

// line reads like: 18:03:12.345  default/pi  attempt 0  DriverStarted  Driver has started running.
func line(event cloudevents.Event) string {
	var data struct {
		Message string `json:"message"`
	}
	text := fmt.Sprintf("%s  %s", event.Time().UTC().Format("15:04:05.000"), event.Subject())
	extensions := event.Extensions()
	if state, ok := extensions["sparkstate"]; ok {
		text += fmt.Sprintf("  attempt %v  %v", extensions["sparkattempt"], state)
	} else {
		name := strings.TrimSuffix(strings.TrimPrefix(event.Type(), "dev.firesteel."), ".v1")
		text += "  " + name
	}
	if extensions["sparkrestartallowed"] == "true" {
		text += "  (may be restarted)"
	}
	if extensions["sparkfinal"] == "true" {
		text += fmt.Sprintf("  (final: %v)", extensions["sparkoutcome"])
	}
	if event.DataAs(&data) == nil && data.Message != "" {
		text += "  " + data.Message
	}
	if late := time.Since(event.Time()); late > time.Minute {
		text += fmt.Sprintf("  (%s late)", late.Round(time.Second))
	}
	return text
}
