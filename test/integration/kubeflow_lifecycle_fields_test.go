package integration

// lifecycleFields are those that no Pod shows, each with what it does.
var lifecycleFields = map[string]func(*scene){}
