// Package eventstest checks events in tests against the contract.
package eventstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/events/reference"
)

// sizeLimit is the exclusive upper bound of an event's size as JSON.
const sizeLimit = 8 << 10

// Check returns an error that names each violation of the contract. The event must have the attributes that its type
// requires and no others. Its data must match the type's schema and the attributes. Check ignores the extensions of a Knative
// broker.
func Check(event cloudevents.Event) error {
	if err := event.Validate(); err != nil {
		return err
	}
	eventType, ok := events.TypeByName(event.Type())
	if !ok {
		return fmt.Errorf("%s is not a type of the contract", event.Type())
	}
	attributes, err := structuredAttributes(event)
	if err != nil {
		return err
	}
	return errors.Join(
		checkNames(eventType, attributes),
		checkData(eventType, event.Data()),
		checkAgreement(eventType, event, attributes),
		checkSize(event),
	)
}

// structuredAttributes returns all attributes of an event in structured mode.
func structuredAttributes(event cloudevents.Event) (map[string]any, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	attributes := map[string]any{}
	if err := json.Unmarshal(text, &attributes); err != nil {
		return nil, err
	}
	delete(attributes, "data")
	for name := range attributes {
		if strings.HasPrefix(name, "knative") {
			delete(attributes, name)
		}
	}
	return attributes, nil
}

func checkNames(eventType events.Type, attributes map[string]any) error {
	var problems []error
	possible := map[string]bool{}
	for _, a := range events.Attributes {
		value, present := attributes[a.Name]
		text, isText := value.(string)
		switch possible[a.Name] = a.AllowedOn(eventType); {
		case !present && a.RequiredOn(eventType):
			problems = append(problems, fmt.Errorf("%s lacks attribute %s", eventType.Name, a.Name))
		case present && (!isText || !regexp.MustCompile("^("+a.Pattern+")$").MatchString(text)):
			problems = append(problems, fmt.Errorf("%s is %#v, which does not match %s", a.Name, value, a.Pattern))
		}
	}
	for name := range attributes {
		if !possible[name] {
			problems = append(problems, fmt.Errorf("%s has unknown attribute %s", eventType.Name, name))
		}
	}
	return errors.Join(problems...)
}

// schemas caches compiled schemas by the names of their types.
var schemas sync.Map

func schemaOf(eventType events.Type) (*jsonschema.Schema, error) {
	if schema, ok := schemas.Load(eventType.Name); ok {
		return schema.(*jsonschema.Schema), nil
	}
	text, err := reference.Schema(eventType)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(eventType.Schema(), document); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(eventType.Schema())
	if err != nil {
		return nil, err
	}
	schemas.Store(eventType.Name, schema)
	return schema, nil
}

// checkData validates data against the schema. It also refuses fields that the schema does not have, since all fields are published.
func checkData(eventType events.Type, data []byte) error {
	schema, err := schemaOf(eventType)
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return errors.Join(schema.Validate(document), checkFields("data", schema, document))
}

func checkFields(path string, schema *jsonschema.Schema, document any) error {
	fields, _ := document.(map[string]any)
	var problems []error
	for name, value := range fields {
		if property := schema.Properties[name]; property != nil {
			problems = append(problems, checkFields(path+"."+name, property, value))
		} else {
			problems = append(problems, fmt.Errorf("%s.%s is not in the schema", path, name))
		}
	}
	return errors.Join(problems...)
}

// checkAgreement checks that attributes and data have the same values.
func checkAgreement(eventType events.Type, event cloudevents.Event, attributes map[string]any) error {
	object, err := events.Identify(event)
	if err != nil {
		return err
	}
	want := map[string]any{
		"specversion": "1.0", "type": eventType.Name, "dataschema": eventType.Schema(), "datacontenttype": cloudevents.ApplicationJSON,
		"source": object.Source(), "subject": object.Key().String(), "time": attributes["time"],
		events.ExtensionKind: object.Kind, events.ExtensionNamespace: object.Namespace, events.ExtensionName: object.Name,
	}
	if object.Resource != eventType.Resource() {
		return fmt.Errorf("%s is about resource %s", eventType.Name, object.Resource)
	}
	var inData events.Object
	if eventType.Clock() {
		clock, err := events.DecodeClock(event)
		if err != nil {
			return err
		}
		inData = events.Object{Namespace: clock.Namespace, Name: clock.Name, Kind: clock.Kind}
		want["id"] = clock.UID + "." + clock.Due.Format(time.RFC3339Nano)
		want["time"] = clock.Due.Format(time.RFC3339Nano)
	} else {
		data, err := events.DecodeTransition(event)
		if err != nil {
			return err
		}
		inData = events.Object{Namespace: data.Namespace, Name: data.Name, Kind: data.Kind}
		addTransitionAttributes(want, data)
	}
	inData.Group, inData.Resource, inData.UID = object.Group, object.Resource, object.UID
	if inData != object || !strings.HasPrefix(fmt.Sprint(want["id"]), string(object.UID)+".") {
		return fmt.Errorf("the attributes name %+v, the data names %+v", object, inData)
	}
	if !reflect.DeepEqual(attributes, want) {
		return fmt.Errorf("the attributes are %v, the data requires %v", attributes, want)
	}
	return nil
}

// addTransitionAttributes adds the attributes that a transition's data requires.
func addTransitionAttributes(want map[string]any, data events.TransitionData) {
	want[events.ExtensionSequence] = fmt.Sprintf("%010d", data.Sequence)
	want["id"] = fmt.Sprintf("%s.%010d", data.UID, data.Sequence)
	want[events.ExtensionState] = data.State
	want[events.ExtensionAttempt] = strconv.FormatInt(data.Attempt, 10)
	if data.End != nil {
		want[events.ExtensionOutcome] = data.End.Outcome
		want[events.ExtensionRestartAllowed] = strconv.FormatBool(data.End.RestartAllowed)
	}
	if data.Outcome != "" {
		want[events.ExtensionOutcome] = data.Outcome
		want[events.ExtensionFinal] = "true"
	}
}

func checkSize(event cloudevents.Event) error {
	text, err := json.Marshal(event)
	if err == nil && len(text) >= sizeLimit {
		err = fmt.Errorf("the event has %d bytes, must be below %d", len(text), sizeLimit)
	}
	return err
}
