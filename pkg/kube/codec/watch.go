package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watchCodec is the codec of generated clients, but for how it finds out what to decode.
type watchCodec struct {
	runtime.NegotiatedSerializer
	mediaTypes []runtime.SerializerInfo
}

func newWatchCodec(kubernetes runtime.NegotiatedSerializer, scheme *runtime.Scheme) watchCodec {
	var infos []runtime.SerializerInfo
	for _, info := range kubernetes.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeJSON {
			stream := *info.StreamSerializer
			stream.Serializer, stream.Framer = serializer{stream.Serializer, scheme}, framer{stream.Framer}
			info.Serializer, info.StreamSerializer = serializer{info.Serializer, scheme}, &stream
		}
		infos = append(infos, info)
	}
	return watchCodec{kubernetes, infos}
}

// SupportedMediaTypes returns those of generated clients. It is called several times for each request.
func (c watchCodec) SupportedMediaTypes() []runtime.SerializerInfo { return c.mediaTypes }

// serializer decodes JSON that begins as the API server writes it. It leaves everything else to the serializer of Kubernetes.
type serializer struct {
	runtime.Serializer
	scheme *runtime.Scheme
}

func (s serializer) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		if kind, object, ok := cutEvent(data); ok {
			event.Type, event.Object.Raw = kind, object
			return event, &schema.GroupVersionKind{}, nil
		}
	} else if kind, ok := cutKind(data); ok {
		object, err := runtime.UseOrCreateObject(s.scheme, s.scheme, kind, into)
		if decoder, ok := object.(json.Unmarshaler); ok && err == nil {
			if err := withoutManagedFields(data, decoder.UnmarshalJSON); err != nil {
				return nil, &kind, err
			}
			return object, &kind, nil
		}
	}
	return s.Serializer.Decode(data, defaults, into)
}

// cutEvent cuts a frame of a watch into its type and its object: {"type":"ADDED","object":{}}. A frame with other fields begins otherwise.
func cutEvent(data []byte) (kind string, object []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`))
	if !ok {
		return "", nil, false
	}
	text, object, ok := bytes.Cut(rest, []byte(`","object":`))
	if !ok {
		return "", nil, false
	}
	object, ok = bytes.CutSuffix(object, []byte("}"))
	return string(text), object, ok
}

// cutKind reads the kind of an object whose JSON begins with it.
func cutKind(data []byte) (kind schema.GroupVersionKind, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"apiVersion":"`))
	if !ok {
		return kind, false
	}
	version, rest, ok := bytes.Cut(rest, []byte(`","kind":"`))
	if !ok {
		return kind, false
	}
	name, _, ok := bytes.Cut(rest, []byte(`","`))
	if !ok || bytes.ContainsAny(version, `"\`) || bytes.ContainsAny(name, `"\`) {
		return kind, false // another field stands between
	}
	return schema.FromAPIVersionAndKind(string(version), string(name)), true
}

// framer finds where one object of a watch ends and another begins.
type framer struct{ runtime.Framer }

func (framer) NewFrameReader(stream io.ReadCloser) io.ReadCloser {
	values := jsontext.NewDecoder(stream, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &frames{Closer: stream, values: values}
}

// frames reads one frame after another, each to its end. It removes the blanks between the fields of a frame. If the fields are not
// those that the API server writes, in its order, the frame begins with a blank.
type frames struct {
	io.Closer
	values *jsontext.Decoder
	// frame is the last frame after a blank, and rest is the part that was not read yet.
	frame, rest []byte
}

// Read reads the next part of a frame. It returns io.ErrShortBuffer if the frame has more.
func (f *frames) Read(buffer []byte) (int, error) {
	if len(f.rest) == 0 {
		if err := f.next(); err != nil {
			return 0, streamError(err)
		}
	}
	count := copy(buffer, f.rest)
	if f.rest = f.rest[count:]; len(f.rest) > 0 {
		return count, io.ErrShortBuffer
	}
	return count, nil
}

// eventFields are the names of a frame's fields, as the API server writes them.
var eventFields = []string{`"type"`, `"object"`}

// next reads the next frame.
func (f *frames) next() error {
	f.frame = append(f.frame[:0], ' ')
	if f.values.PeekKind() != '{' {
		if _, err := f.copyValue(); err != nil {
			return err
		}
		f.rest = f.frame
		return nil
	}
	if _, err := f.values.ReadToken(); err != nil {
		return err
	}
	f.frame = append(f.frame, '{')
	known := true
	for count := 0; f.values.PeekKind() == '"'; count++ {
		if count > 0 {
			f.frame = append(f.frame, ',')
		}
		name, err := f.copyValue()
		if err != nil {
			return err
		}
		known = known && count < len(eventFields) && string(name) == eventFields[count]
		f.frame = append(f.frame, ':')
		if _, err := f.copyValue(); err != nil {
			return err
		}
	}
	if _, err := f.values.ReadToken(); err != nil {
		return err
	}
	f.frame = append(f.frame, '}')
	if f.rest = f.frame; known {
		f.rest = f.frame[1:]
	}
	return nil
}

// copyValue copies the next name or value into the frame, and returns the copy.
func (f *frames) copyValue() ([]byte, error) {
	begin := len(f.frame)
	value, err := f.values.ReadValue()
	f.frame = append(f.frame, value...)
	return f.frame[begin:], err
}

// streamError returns the stream's own error, which watches know, without the position that a decoder adds.
func streamError(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		err = cmp.Or(syntactic.Err, err)
	}
	return cmp.Or(errors.Unwrap(err), err)
}
