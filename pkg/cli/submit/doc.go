// Package submit has the verb submit: the command line of spark-submit, which becomes an application of whichever API the cluster serves.
//
//	command.go     the verb, and its own flags before the application file
//	api.go         the API in which the application is written
//	connection.go  properties of spark-submit that name the API server and the user
//	create.go      checks, uploads files, and creates the object
//	config_maps.go ConfigMaps of the folders of configuration
//	manifests.go   submit -f: manifests in the place of a command line
//	follow.go      waits for the end
//	manage.go      --status, and the drivers that a submission ID names
//	kill.go        --kill: stops applications, and deletes other drivers
package submit
