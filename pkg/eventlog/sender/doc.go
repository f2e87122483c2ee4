// Package sender follows the files of a driver's rolling event log, and sends what is new to the archive's service.
//
//	sender.go  when: every few seconds, with a back-off, and what is left once the driver has ended
//	folder.go  the files of the folder; it is bounded, so what is stored is deleted, and so is what does not fit while the service is away
//	client.go  the requests
package sender
