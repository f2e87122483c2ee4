// Package sparkui serves the UIs of drivers to users who may read their applications.
//
//	console's origin                             origin of the UIs
//	/spark-ui/NAMESPACE/RESOURCE/NAME --ticket--> /open --cookie--> /ui/SECRET/...  ----> driver Pod
//	                                                                /ui/SECRET/history/ID/...  ----> History Server, when the driver is gone
//
//	spark_uis.go  the stable link, and what it leads to
//	ticket.go     hands a user over from the console's origin, once
//	visit.go      one user's visit of one UI: a cookie and the secret of its path
//	forward.go    forwards a request to the driver, and its answer back
//	reach.go      connects to a driver: by its address, or through the API server
//	headers.go    which headers pass
//	driver.go     what must be known of a driver
//	history.go    which pages of the History Server are an application's
//	api.go        Spark's REST API for all applications, at the console's origin
//	api_list.go   its list: what runs, and what the History Server has
//	elements.go   reads the History Server's list, one application at a time
//
// What a driver serves is its tenant's code, so each application has an origin of its own: its scripts can neither read the console's pages nor act
// with its session, and not those of another application. A shared origin could not be made safe: browsers tell a page the addresses of others of its
// origin that were in the same tab. No header of the user but what a page needs reaches a driver, and no answer can set a cookie or lead elsewhere.
// Each visit has a path that no other page knows, its cookie is of that path and of one application's uid, and pages of other origins can only link to
// it.
//
// Spark makes its links from the header X-Forwarded-Context, unless the application has spark.ui.proxyBase: then the UI works only at its own
// address, and the link leads nowhere else.
//
// The History Server shows all applications to everyone who reaches it, and only the console does. A visit reaches the pages of its own application, by
// the ID of its event log, the files of Spark's that all pages share, and nothing else.
//
// The API takes bearer tokens alone, so that no page can use it with a user's session. A proxy may add the token to what a browser sends, so pages of
// other sites are refused, and what a driver answers is neither shown as a page nor a download: it is JSON or plain text in a sandbox. The event logs
// of the History Server are downloads.
package sparkui
