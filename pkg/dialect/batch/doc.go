// Package batch makes what batch schedulers need to know of an application before its Pods: pod groups for Volcano and for the
// coscheduling plugin of Kubernetes' scheduler-plugins, and task groups for YuniKorn. All APIs use it.
package batch
