// Package quotas knows the ResourceQuotas and the applications that ask something of them, while the setting quota of config-admission is
// on. pkg/quota decides; the controllers of all APIs share one Tracker.
//
//	tracker.go    the applications, from their records
//	watch.go      the informers of ResourceQuotas, priority classes and runtime classes, which exist only while the setting is on
//	wake.go       enqueues those for which there is room, after a change
package quotas
