package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// SparkApplication is one Spark application: a driver and its executors, run to their end.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, the API of an operator of 2017 that was never reviewed"
// +kubebuilder:resource:shortName=sparkapp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.applicationState.state`
// +kubebuilder:printcolumn:name="Driver",type=string,JSONPath=`.status.driverInfo.podName`
// +kubebuilder:printcolumn:name="UI",type=string,JSONPath=`.status.driverInfo.webUIURL`
// +kubebuilder:printcolumn:name="Submitted",type=date,JSONPath=`.status.submissionTime`
// +kubebuilder:printcolumn:name="Completed",type=date,JSONPath=`.status.completionTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run and how.
	Spec SparkApplicationSpec `json:"spec"`
	// status is what happened so far. Firesteel writes it.
	// +optional
	Status SparkApplicationStatus `json:"status,omitempty"`

	// Undecodable is the reason why the rest of the object could not be decoded; empty if it could. Such an object has only its
	// metadata and its record. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields are messages about fields of the spec that this type does not have.
	UnknownFields []string `json:"-"`
}

// SparkApplicationList is a list of SparkApplications.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SparkApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SparkApplication `json:"items"`
}

// SparkApplicationType is the language of an application.
//
// +kubebuilder:validation:Enum=Java;Scala;Python;R
type SparkApplicationType string

// DeployMode is where the driver runs.
//
// +kubebuilder:validation:Enum=cluster;client;in-cluster-client
type DeployMode string

// The deploy modes.
const (
	ClusterMode         DeployMode = "cluster"
	ClientMode          DeployMode = "client"
	InClusterClientMode DeployMode = "in-cluster-client"
)

// SparkApplicationSpec is what to run and how.
type SparkApplicationSpec struct {
	// What the API server checks beyond the types of the fields is in hack/codegen/rules_early.go.

	// type is the language of the application. It has no effect: Spark chooses by the suffix of mainApplicationFile.
	// +optional
	Type SparkApplicationType `json:"type,omitempty"`
	// mode is where the driver runs. Default: cluster. With in-cluster-client, the user creates the driver Pod that driver.podName names, and
	// Firesteel follows it as with submissionByUser. An application with client fails.
	// +optional
	Mode DeployMode `json:"mode,omitempty"`
	// mainClass is the class that the driver runs, spark-submit's --class. Python and R applications need none.
	// +optional
	MainClass string `json:"mainClass,omitempty"`
	// mainApplicationFile is the URI of a jar, a Python file or an R file: what the driver runs. Files inside the image begin
	// with local://.
	// +optional
	MainApplicationFile string `json:"mainApplicationFile,omitempty"`
	// arguments are the arguments of the application.
	// +optional
	Arguments []string `json:"arguments,omitempty"`
	// sparkConf are Spark properties. Values are strings: write numbers in quotes. Other fields win over them. Properties that
	// Spark had in 2017 only are translated, or the condition Warning names them.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// hadoopConf are Hadoop properties. Each becomes the Spark property spark.hadoop.KEY.
	// +optional
	HadoopConf map[string]string `json:"hadoopConf,omitempty"`
	// sparkConfigMap is the name of a ConfigMap with Spark's configuration files. Driver and executors mount it at
	// /etc/spark/conf, and SPARK_CONF_DIR is set to that.
	// +optional
	SparkConfigMap string `json:"sparkConfigMap,omitempty"`
	// sparkConigMap is the first spelling of sparkConfigMap.
	// +optional
	SparkConigMap string `json:"sparkConigMap,omitempty"`
	// hadoopConfigMap is the name of a ConfigMap with Hadoop's configuration files. Driver and executors mount it at
	// /etc/hadoop/conf, and HADOOP_CONF_DIR is set to that.
	// +optional
	HadoopConfigMap string `json:"hadoopConfigMap,omitempty"`
	// hadoopConigMap is the first spelling of hadoopConfigMap.
	// +optional
	HadoopConigMap string `json:"hadoopConigMap,omitempty"`
	// deps are files that driver and executors need.
	// +optional
	Deps Dependencies `json:"deps,omitempty"`
	// driver is the driver.
	// +optional
	Driver DriverSpec `json:"driver,omitempty"`
	// executor are the executors.
	// +optional
	Executor ExecutorSpec `json:"executor,omitempty"`
	// logsLocation is a folder of logs in the containers. It has no effect, as in the early operator: the condition Warning says
	// so.
	// +optional
	LogsLocation string `json:"logsLocation,omitempty"`
	// submissionByUser means that the user runs spark-submit. Default: false. With true, Firesteel makes appId and the Service of the UI, starts
	// nothing, and follows the first driver Pod whose label spark-operator.k8s.io/appId is that ID. Other fields then have no effect, but for
	// spark.ui.port.
	// +optional
	SubmissionByUser bool `json:"submissionByUser,omitempty"`
}

// Dependencies are files that driver and executors need. Files inside the image begin with local://.
type Dependencies struct {
	// jars are URIs of jars for the class path.
	// +optional
	Jars []string `json:"jars,omitempty"`
	// jarFiles is the first spelling of jars.
	// +optional
	JarFiles []string `json:"jarFiles,omitempty"`
	// files are URIs of files for the working directories.
	// +optional
	Files []string `json:"files,omitempty"`
	// pyFiles are URIs of Python files for the search path.
	// +optional
	PyFiles []string `json:"pyFiles,omitempty"`
}

// Cores is a number of cores: 1, 0.1 or 100m.
type Cores string

// DriverSpec is the driver.
type DriverSpec struct {
	// podName is the name of the driver Pod that the user creates, with the mode in-cluster-client, which needs it. In other modes it has no
	// effect, and the condition Warning says so.
	// +optional
	PodName string `json:"podName,omitempty"`
	// image is the container image of the driver.
	// +optional
	Image string `json:"image,omitempty"`
	// cores is how many cores the driver has. Default: Spark's, which is 1. A fraction, or a quantity such as 100m, is what the
	// Pod requests; tasks then get whole cores.
	// +optional
	// +nullable
	// +kubebuilder:validation:Schemaless
	Cores *Cores `json:"cores,omitempty"`
	// memory is the driver's heap, in Java's units such as 512m. Default: Spark's, which is 1g.
	// +optional
	// +nullable
	Memory *string `json:"memory,omitempty"`
	// configMaps are ConfigMaps to mount.
	// +optional
	ConfigMaps []NamePath `json:"configMaps,omitempty"`
	// driverConfigMaps is an older spelling of configMaps.
	// +optional
	DriverConfigMaps []NamePath `json:"driverConfigMaps,omitempty"`
	// driverConigMaps is the first spelling of configMaps.
	// +optional
	DriverConigMaps []NamePath `json:"driverConigMaps,omitempty"`
	// secrets are Secrets to mount.
	// +optional
	Secrets []SecretInfo `json:"secrets,omitempty"`
	// driverSecrets is the first spelling of secrets.
	// +optional
	DriverSecrets []SecretInfo `json:"driverSecrets,omitempty"`
	// envVars are environment variables.
	// +optional
	EnvVars map[string]string `json:"envVars,omitempty"`
	// driverEnvVars is the first spelling of envVars.
	// +optional
	DriverEnvVars map[string]string `json:"driverEnvVars,omitempty"`
}

// ExecutorSpec are the executors.
type ExecutorSpec struct {
	// image is the container image of executors.
	// +optional
	Image string `json:"image,omitempty"`
	// cores is how many cores each executor has. Default: Spark's, which is 1. A fraction, or a quantity such as 100m, is what the
	// Pod requests; tasks then get whole cores.
	// +optional
	// +nullable
	// +kubebuilder:validation:Schemaless
	Cores *Cores `json:"cores,omitempty"`
	// memory is an executor's heap, in Java's units such as 512m. Default: Spark's, which is 1g.
	// +optional
	// +nullable
	Memory *string `json:"memory,omitempty"`
	// instances is how many executors there are. Default: Spark's, which is 2.
	// +optional
	// +nullable
	// +kubebuilder:validation:Minimum=0
	Instances *int32 `json:"instances,omitempty"`
	// configMaps are ConfigMaps to mount.
	// +optional
	ConfigMaps []NamePath `json:"configMaps,omitempty"`
	// executorConfigMaps is an older spelling of configMaps.
	// +optional
	ExecutorConfigMaps []NamePath `json:"executorConfigMaps,omitempty"`
	// executorConigMaps is the first spelling of configMaps.
	// +optional
	ExecutorConigMaps []NamePath `json:"executorConigMaps,omitempty"`
	// secrets are Secrets to mount.
	// +optional
	Secrets []SecretInfo `json:"secrets,omitempty"`
	// executorSecrets is the first spelling of secrets.
	// +optional
	ExecutorSecrets []SecretInfo `json:"executorSecrets,omitempty"`
	// envVars are environment variables.
	// +optional
	EnvVars map[string]string `json:"envVars,omitempty"`
	// executorEnvVars is the first spelling of envVars.
	// +optional
	ExecutorEnvVars map[string]string `json:"executorEnvVars,omitempty"`
}

// NamePath is a ConfigMap, and the path that it is mounted at.
type NamePath struct {
	// name is the name of the ConfigMap.
	Name string `json:"name"`
	// path is the path in the container.
	Path string `json:"path"`
}

// SecretInfo is a Secret, and the path that it is mounted at.
type SecretInfo struct {
	// name is the name of the Secret.
	Name string `json:"name"`
	// path is the path in the container.
	Path string `json:"path"`
	// secretType is which environment variable leads to the Secret. With GCPServiceAccount, GOOGLE_APPLICATION_CREDENTIALS leads to its
	// key.json. With HDFSDelegationToken or HadoopDelegationToken, HADOOP_TOKEN_FILE_LOCATION leads to its hadoop.token. With Generic there
	// is none. Default: Generic.
	// +optional
	Type string `json:"secretType,omitempty"`
	// type is the first spelling of secretType.
	// +optional
	FirstType string `json:"type,omitempty"`
}

// The types of secrets.
const (
	GenericSecret               = "Generic"
	GCPServiceAccountSecret     = "GCPServiceAccount"
	HDFSDelegationTokenSecret   = "HDFSDelegationToken"
	HadoopDelegationTokenSecret = "HadoopDelegationToken"
)

// SparkApplicationStatus is what the early operator's clients read, with Firesteel's record beside it.
type SparkApplicationStatus struct {
	// What no controller writes by parts is atomic. Otherwise the API server would store, in every object, who wrote each field,
	// and compare that on each write.

	// appId is the value of the label spark-operator.k8s.io/appId of the application's Pods and of its UI Service.
	// +optional
	AppID string `json:"appId,omitempty"`
	// submissionTime is when the application was submitted. It is null before.
	// +optional
	// +nullable
	SubmissionTime metav1.Time `json:"submissionTime,omitempty"`
	// completionTime is when the run ended. It is null while it lasts.
	// +optional
	// +nullable
	CompletionTime metav1.Time `json:"completionTime,omitempty"`
	// driverInfo is where the driver and its UI are.
	// +optional
	DriverInfo DriverInfo `json:"driverInfo"`
	// applicationState is the state now.
	// +optional
	AppState ApplicationState `json:"applicationState,omitempty"`
	// executorState are the states of executors by the names of their Pods: PENDING, RUNNING, COMPLETED or FAILED.
	// max-tracked-executors of the ConfigMap config-kubeflow limits how many there are.
	// +optional
	// +mapType=atomic
	ExecutorState map[string]ExecutorState `json:"executorState,omitempty"`
	// observedGeneration is the metadata.generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Succeeded, which is Unknown until the end, DriverReady, ExecutorsReady, ResourcesReleased,
	// EventsDelivered, Warning and others. Reason and message say why.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// firesteel is Firesteel's record. The fields above are made from it.
	// +optional
	// +structType=atomic
	Firesteel *firesteelv1alpha1.Record `json:"firesteel,omitempty"`
}

// ApplicationState is the state of an application, and what went wrong.
type ApplicationState struct {
	// state is the name of the state: NEW, SUBMITTED, RUNNING, COMPLETED or FAILED.
	// +optional
	State ApplicationStateType `json:"state,omitempty"`
	// errorMessage is what went wrong; empty if nothing did.
	// +optional
	ErrorMessage string `json:"errorMessage"`
}

// ApplicationStateType is the name of a state of an application.
type ApplicationStateType string

// The states of an application, in their order.
const (
	NewState       ApplicationStateType = "NEW"
	SubmittedState ApplicationStateType = "SUBMITTED"
	RunningState   ApplicationStateType = "RUNNING"
	CompletedState ApplicationStateType = "COMPLETED"
	FailedState    ApplicationStateType = "FAILED"
)

// ExecutorState is the name of a state of an executor.
type ExecutorState string

// The states of an executor.
const (
	ExecutorPendingState   ExecutorState = "PENDING"
	ExecutorRunningState   ExecutorState = "RUNNING"
	ExecutorCompletedState ExecutorState = "COMPLETED"
	ExecutorFailedState    ExecutorState = "FAILED"
)

// DriverInfo is where the driver and its UI are.
type DriverInfo struct {
	// podName is the name of the driver Pod.
	// +optional
	PodName string `json:"podName,omitempty"`
	// webUIServiceName is the name of the Service of Spark's UI.
	// +optional
	WebUIServiceName string `json:"webUIServiceName,omitempty"`
	// webUIPort is the port at which nodes serve Spark's UI. If the Service has the type ClusterIP, it is the Service's port.
	// +optional
	WebUIPort int32 `json:"webUIPort,omitempty"`
	// webUIURL is where Spark's UI answers: the IP of the driver's node and webUIPort, or a URL by the operator's Gateway.
	// +optional
	WebUIURL string `json:"webUIURL,omitempty"`
	// webUIAddress is a newer spelling of webUIURL, with the same value.
	// +optional
	WebUIAddress string `json:"webUIAddress,omitempty"`
}
