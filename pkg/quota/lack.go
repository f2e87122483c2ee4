package quota

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Lack is a resource of a quota that does not suffice.
type Lack struct {
	// Quota is the name of the ResourceQuota, Resource the name of a resource in it.
	Quota, Resource string
	// Requested is what the application asks for, Available what is free, and Hard the limit of the quota.
	Requested, Available, Hard int64
}

// String returns the resource and its amounts: "requests.cpu (3 requested, 2 available of 10)".
func (l Lack) String() string {
	return fmt.Sprintf("%s (%s requested, %s available of %s)", l.Resource, l.amount(l.Requested), l.amount(l.Available), l.amount(l.Hard))
}

// Refusal returns the sentence of the Kubeflow operator about an application that is refused: "too many cores (3.000 cores requested,
// 2.000 available)".
func (l Lack) Refusal() string {
	switch base := strings.TrimPrefix(l.Resource, "requests."); {
	case base == "cpu":
		return fmt.Sprintf("too many cores (%d.%03d cores requested, %d.%03d available)",
			l.Requested/1000, l.Requested%1000, l.Available/1000, l.Available%1000)
	case base == "memory":
		return fmt.Sprintf("too much memory (%s requested, %s available)", l.amount(l.Requested), l.amount(l.Available))
	default:
		return fmt.Sprintf("too much of %s (%s requested, %s available)", l.Resource, l.amount(l.Requested), l.amount(l.Available))
	}
}

const mebibyte = 1 << 20

// amount prints an amount in the unit of its resource.
func (l Lack) amount(thousandths int64) string {
	isBytes := strings.HasSuffix(l.Resource, "memory") || strings.HasSuffix(l.Resource, "storage") || strings.Contains(l.Resource, "hugepages-")
	if !isBytes {
		return resource.NewMilliQuantity(thousandths, resource.DecimalSI).String()
	}
	if bytes := thousandths / 1000; bytes%mebibyte == 0 {
		return fmt.Sprintf("%dMi", bytes/mebibyte)
	}
	return resource.NewQuantity(thousandths/1000, resource.BinarySI).String()
}
