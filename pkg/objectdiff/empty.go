package objectdiff

// DropEmpty removes fields that are null, an empty object or an empty list, also of nested objects: the API server and libraries leave them out or write
// them. An emptyDir stays: its being there has a meaning.
func DropEmpty(value any) {
	switch value := value.(type) {
	case Object:
		for key, entry := range value {
			DropEmpty(entry)
			if key != "emptyDir" && empty(entry) {
				delete(value, key)
			}
		}
	case []any:
		for _, entry := range value {
			DropEmpty(entry)
		}
	}
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case Object:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return false
	}
}
