package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// page is the page about the move.
const page = "docs/operators/moving-in.md"

var writers = map[string]func(*check, *migration.Report) error{
	"text": (*check).writeText, "json": (*check).writeJSON, "yaml": (*check).writeYAML,
}

func (c *check) writeJSON(r *migration.Report) error {
	encoder := json.NewEncoder(c.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (c *check) writeYAML(r *migration.Report) error {
	text, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.Out.Write(text)
	return err
}

func (c *check) writeText(r *migration.Report) error {
	color := cli.Bad
	if r.Ready {
		color = cli.Good
	}
	fmt.Fprintf(c.Out, "%s\n", c.Color(c.Out, color, r.Summary()))
	fmt.Fprintf(c.Out, "# settings: %s\n# how to move: %s\n", r.Settings, page)
	c.items(r, migration.Blocks, cli.Bad, "TO FIX BEFORE THE MOVE")
	c.items(r, migration.Differs, cli.Odd, "WHAT FIRESTEEL DOES OTHERWISE")
	c.items(r, migration.Step, cli.Dim, "STEPS OF THE MOVE")
	if err := c.kinds(r); err != nil {
		return err
	}
	if err := c.operators(r); err != nil {
		return err
	}
	if err := c.suggested(r); err != nil {
		return err
	}
	if len(r.NotRead) > 0 {
		c.title("NOT READ")
		for _, what := range r.NotRead {
			fmt.Fprintf(c.Out, "  %s\n", what)
		}
	}
	return nil
}

func (c *check) title(text string) { fmt.Fprintf(c.Out, "\n%s\n", text) }

func (c *check) items(r *migration.Report, severity migration.Severity, color cli.Color, title string) {
	items := r.Of(severity)
	if len(items) == 0 {
		return
	}
	c.title(title)
	for _, item := range items {
		fmt.Fprintf(c.Out, "  %s %s%s\n", c.Color(c.Out, color, string(item.Area)+":"), oneLine(item.Message), whose(item))
	}
}

// whose names the objects of an item.
func whose(item *migration.Item) string {
	if len(item.Examples) == 0 {
		return ""
	}
	names := strings.Join(item.Examples, ", ")
	if item.Kind != "" {
		names = item.Kind + " " + names
	}
	if more := item.Count - len(item.Examples); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return " [" + names + "]"
}

func oneLine(text string) string { return cli.Printable(strings.Join(strings.Fields(text), " ")) }

func (c *check) kinds(r *migration.Report) error {
	c.title("OBJECTS")
	table := cli.Table(c.Out)
	fmt.Fprintln(table, "  KIND\tCOUNT\tFIRESTEEL'S\tSTATES")
	for _, kind := range r.Kinds {
		if kind.Count == 0 {
			continue
		}
		var states []string
		for _, state := range slices.Sorted(maps.Keys(kind.States)) {
			states = append(states, fmt.Sprintf("%s %d", oneLine(state), kind.States[state]))
		}
		fmt.Fprintf(table, "  %s\t%d\t%d\t%s\n", kind.Kind, kind.Count, kind.Firesteel, strings.Join(states, ", "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if d := r.Drivers; d.Running > 0 {
		fmt.Fprintf(c.Out, "  drivers of other operators that run: %d; compared with Firesteel's: %d; the same: %d\n", d.Running, d.Compared, d.Equal)
	}
	return nil
}

func (c *check) operators(r *migration.Report) error {
	for i := range r.Operators {
		o := &r.Operators[i]
		c.title(fmt.Sprintf("THE %s OPERATOR, Deployment %s/%s, image %s", strings.ToUpper(o.Operator), o.Namespace, o.Deployment, o.Image))
		table := cli.Table(c.Out)
		fmt.Fprintln(table, "  GIVEN\tVALUE\tINSTEAD")
		for _, given := range o.Given {
			instead := given.Instead
			if instead == "" {
				instead = "none: " + given.Why
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\n", oneLine(given.Name), oneLine(given.Value), instead)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// suggested prints the settings as ConfigMaps.
func (c *check) suggested(r *migration.Report) error {
	if len(r.Suggested) == 0 {
		return nil
	}
	c.title("SETTINGS WITH THE SAME EFFECT, in the namespace of Firesteel; in its chart, below settings")
	for _, name := range slices.Sorted(maps.Keys(r.Suggested)) {
		text, err := yaml.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": name}, "data": r.Suggested[name],
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "---\n%s", text)
	}
	return nil
}
