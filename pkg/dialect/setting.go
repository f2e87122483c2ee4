package dialect

// Setting is a key of a ConfigMap of Firesteel, with a value, that takes the place of a flag or a property of another operator.
type Setting struct{ ConfigMap, Key, Value string }
