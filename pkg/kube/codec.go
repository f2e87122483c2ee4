package kube

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
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/scheme"
)

// codec is that of generated clients, but for how it finds out what to decode. Theirs reads the whole JSON of an object to
// learn its kind, as much again for the frame that a watch sends it in, twice to find where that ends, and once more before
// it comes to UnmarshalJSON: that was a fifth of the controller's CPU time.
type codec struct {
	runtime.NegotiatedSerializer
}

func newCodec() codec {
	return codec{rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()}
}

// SupportedMediaTypes are those of generated clients.
func (c codec) SupportedMediaTypes() []runtime.SerializerInfo {
	var infos []runtime.SerializerInfo
	for _, info := range c.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeJSON {
			stream := *info.StreamSerializer
			stream.Serializer, stream.Framer = serializer{stream.Serializer}, framer{stream.Framer}
			info.Serializer, info.StreamSerializer = serializer{info.Serializer}, &stream
		}
		infos = append(infos, info)
	}
	return infos
}

// serializer decodes what begins as the API server begins its JSON, and leaves all else to another.
type serializer struct {
	runtime.Serializer
}

func (s serializer) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, is := into.(*metav1.WatchEvent); is {
		if name, object, is := cutEvent(data); is {
			event.Type, event.Object.Raw = name, object
			return event, &schema.GroupVersionKind{}, nil
		}
	} else if kind, is := cutKind(data); is {
		object, err := runtime.UseOrCreateObject(scheme.Scheme, scheme.Scheme, kind, into)
		if its, is := object.(json.Unmarshaler); is && err == nil {
			if err := its.UnmarshalJSON(data); err != nil {
				return nil, &kind, err
			}
			return object, &kind, nil
		}
	}
	return s.Serializer.Decode(data, defaults, into)
}

// cutEvent cuts a frame of a watch into its type and its object: {"type":"ADDED","object":{}}.
func cutEvent(data []byte) (name string, object []byte, is bool) {
	rest, is := bytes.CutPrefix(data, []byte(`{"type":"`))
	if !is {
		return "", nil, false
	}
	text, object, is := bytes.Cut(rest, []byte(`","object":`))
	if !is {
		return "", nil, false
	}
	object, is = bytes.CutSuffix(object, []byte("}"))
	return string(text), object, is && jsontext.Value(object).IsValid() // and not with another field behind it
}

// cutKind reads the kind of an object whose JSON begins with it.
func cutKind(data []byte) (kind schema.GroupVersionKind, is bool) {
	rest, is := bytes.CutPrefix(data, []byte(`{"apiVersion":"`))
	if !is {
		return kind, false
	}
	version, rest, is := bytes.Cut(rest, []byte(`","kind":"`))
	if !is {
		return kind, false
	}
	name, _, is := bytes.Cut(rest, []byte(`","`))
	if !is || bytes.ContainsAny(version, `"\`) || bytes.ContainsAny(name, `"\`) {
		return kind, false // something stands between
	}
	return schema.FromAPIVersionAndKind(string(version), string(name)), true
}

// framer finds where one object of a watch ends and another begins.
type framer struct{ runtime.Framer }

func (framer) NewFrameReader(stream io.ReadCloser) io.ReadCloser {
	values := jsontext.NewDecoder(stream, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &frames{Closer: stream, values: values}
}

// frames reads one object after another, each to its end.
type frames struct {
	io.Closer
	values *jsontext.Decoder
	// rest is what nobody has read yet of an object.
	rest []byte
}

// Read reads what there is of an object, and says with io.ErrShortBuffer that there is more of it.
func (f *frames) Read(buffer []byte) (int, error) {
	if len(f.rest) == 0 {
		value, err := f.values.ReadValue()
		if err != nil {
			return 0, ofStream(err)
		}
		f.rest = value
	}
	count := copy(buffer, f.rest)
	if f.rest = f.rest[count:]; len(f.rest) > 0 {
		return count, io.ErrShortBuffer
	}
	return count, nil
}

// ofStream is the stream's own error, which whoever watches knows, without what a decoder says of where it came.
func ofStream(err error) error {
	var where *jsontext.SyntacticError
	if errors.As(err, &where) {
		err = cmp.Or(where.Err, err)
	}
	return cmp.Or(errors.Unwrap(err), err)
}
