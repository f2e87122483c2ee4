// Package quotas follows the ResourceQuotas, and the applications and clusters that have claims on them, while the setting quota of
// config-admission is on. pkg/quota decides. The controllers of all kinds share one Tracker.
//
//	tracker.go    the applications and clusters, from their records
//	reserve.go    reserves room for a launch, confirms it, and explains why a launch waits
//	watch.go      the informer of ResourceQuotas, which exists only while the setting is on
//	wake.go       enqueues applications for which there is room after a change
package quotas
