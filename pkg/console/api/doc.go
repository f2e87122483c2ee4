// Package api is the HTTP API that the console serves, as its clients know it: paths, parameters, JSON, and a client.
//
//	GET /api/firesteel/v1/namespaces
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications/RESOURCE/NAME
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications/RESOURCE/NAME/UID
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications/RESOURCE/NAME/UID/attempts/ATTEMPT/objects/FILE
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications/RESOURCE/NAME/UID/attempts/ATTEMPT/logs/POD/PODUID/CONTAINER/RESTART
//	GET /api/firesteel/v1/namespaces/NAMESPACE/applications/RESOURCE/NAME/UID/attempts/ATTEMPT/eventlogs
//	GET /api/firesteel/v1/live, live/overview, live/calendar, live/stream
//	GET /api/firesteel/v1/live/namespaces/NAMESPACE/RESOURCE/NAME
//	GET /api/firesteel/v1/openapi.json
//
// RESOURCE is the plural and the group of the kind, such as sparkapplications.spark.apache.org. All requests have the user's own bearer token.
package api
