package migration

import (
	"fmt"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// Definition is a CRD in the cluster that has the name of one of Firesteel's.
type Definition struct {
	Name string
	// StoredVersions are the versions in which objects may be stored. Versions are those of Firesteel's CRD.
	StoredVersions, Versions []string
	// Owner is another owner of the CRD; empty if there is none.
	Owner string
	// Skew explains how the CRD differs from that of this version of Firesteel; empty if it does not.
	Skew string
	// Release is the Helm release whose manifest has the CRD; empty if there is none.
	Release string
}

// AddDefinition adds what the take-over of a CRD meets.
func (r *Report) AddDefinition(d Definition) {
	add := func(severity Severity, key, message string) {
		r.Add(key, Item{Severity: severity, Area: Definitions, Message: message}, d.Name)
	}
	for _, version := range d.StoredVersions {
		if !slices.Contains(d.Versions, version) {
			add(Blocks, "stored"+version, fmt.Sprintf("The CRD %s has objects stored in the version %s, which Firesteel's does not have: "+
				"store them in another version first, and remove it from status.storedVersions", d.Name, version))
		}
	}
	switch {
	case d.Owner != "":
		add(Step, "owner"+d.Owner, fmt.Sprintf("The CRD belongs to %s. The installation takes it over, by -take-over of setup or crds.takeOver=true of the chart: "+
			"all objects stay", d.Owner))
	case d.Skew != "":
		add(Differs, "skew", "The CRD is not of this version. "+d.Skew)
	}
	if d.Release != "" {
		explanation := diagnosis.CRDsInRelease(d.Release)
		add(Step, "release"+d.Release, explanation.Message())
	}
}

// AddConnect adds a SparkConnect object, which Firesteel does not serve. kind and name are the object's.
func (r *Report) AddConnect(kind, name string) {
	r.Add("connect", Item{
		Severity: Blocks, Area: Objects, Kind: kind,
		Message: "Firesteel does not serve SparkConnect: leave its namespace to the Kubeflow operator, or run the server as an application " +
			"(org.apache.spark.sql.connect.service.SparkConnectServer)",
	}, name)
}
