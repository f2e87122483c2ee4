// Package namespaced gives informers of all namespaces their objects, if the controller may read only listed namespaces. Knative's
// informers read one namespace or all. So clients below the informers answer a list and a watch of all namespaces:
//
//	informer            client                    API server
//	   | list, watch      |  one for each namespace    |
//	   |----------------->|--------------------------->|  team-a
//	   |                  |--------------------------->|  team-b
//	   |<-----------------|<---------------------------|  one list, one watch
//	   |                  |  a watch is over:          |
//	   |                  |--------------------------->|  it goes on where it was
//	   |                  |  a watch breaks:           |
//	   |<---- 410 Gone ---|                            |
//	   | list, watch      |                            |
//
// A namespace that refuses is empty, and the others are served. The client asks it again from time to time. All other requests, and
// those in one namespace, pass unchanged.
//
//	namespaced.go  Namespaces: which are listed, and which refuse
//	clients.go     the clients below the informers
//	collection.go  a list and a watch of all namespaces
//	stream.go      the watch of one namespace
//	merged.go      one watch of many
//	positions.go   the resourceVersion of a list of many namespaces
package namespaced
