package redact

// Fields returns a part of an object as JSON, with the secrets in it replaced. key is the field that holds it.
func (r *Redactor) Fields(key string, value any) any {
	switch value := value.(type) {
	case string:
		return r.Text(value)
	case map[string]any:
		name, named := value["name"].(string)
		for field, child := range value {
			text, isText := child.(string)
			switch {
			case isText && field == "value" && named:
				value[field] = r.Value(name, text)
			case isText && freeForm[key]:
				value[field] = r.Value(field, text)
			default:
				value[field] = r.Fields(field, child)
			}
		}
		return value
	case []any:
		for i, child := range value {
			value[i] = r.Fields(key, child)
		}
		return value
	default:
		return value
	}
}

// freeForm are the fields whose keys people choose. A key may be that of a secret.
var freeForm = map[string]bool{"annotations": true, "data": true, "stringData": true}
