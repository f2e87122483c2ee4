package why

// Cause names a cause. Names are public: they are added to and not changed.
type Cause string

// What an application waits for, or why no operator acts.
const (
	NotPickedUp           Cause = "NotPickedUp"
	OtherOperatorRuns     Cause = "OtherOperatorRuns"
	NotServed             Cause = "NotServed"
	Suspended             Cause = "Suspended"
	AwaitsUserDriver      Cause = "AwaitsUserDriver"
	HeldByQuota           Cause = "HeldByQuota"
	QuotaTooSmall         Cause = "QuotaTooSmall"
	QuotaRefusesExecutors Cause = "QuotaRefusesExecutors"
	BackOff               Cause = "BackOff"
	HandlerSilent         Cause = "HandlerSilent"
	EventsUndelivered     Cause = "EventsUndelivered"
	NameNotFree           Cause = "NameNotFree"
	EarlierDriver         Cause = "EarlierDriver"
	TemplateUnavailable   Cause = "TemplateUnavailable"
	SpecRefused           Cause = "SpecRefused"
	EditedTooLate         Cause = "EditedTooLate"
	SpecNotHonored        Cause = "SpecNotHonored"
	DriverLabelsChanged   Cause = "DriverLabelsChanged"
	BeingDeleted          Cause = "BeingDeleted"
)

// What the API server refused.
const (
	PodSecurityViolated   Cause = "PodSecurityViolated"
	WebhookRefused        Cause = "WebhookRefused"
	WebhookUnavailable    Cause = "WebhookUnavailable"
	ServiceAccountMissing Cause = "ServiceAccountMissing"
	DriverForbidden       Cause = "DriverForbidden"
	NamespaceMissing      Cause = "NamespaceMissing"
	ObjectRefused         Cause = "ObjectRefused"
)

// What keeps a Pod from starting.
const (
	NotEnoughCPU         Cause = "NotEnoughCPU"
	NotEnoughMemory      Cause = "NotEnoughMemory"
	NotEnoughOfResource  Cause = "NotEnoughOfResource"
	NodesFull            Cause = "NodesFull"
	NodesTainted         Cause = "NodesTainted"
	NodeSelectorNoMatch  Cause = "NodeSelectorNoMatch"
	PodAffinityNoMatch   Cause = "PodAffinityNoMatch"
	NodesCordoned        Cause = "NodesCordoned"
	VolumeElsewhere      Cause = "VolumeElsewhere"
	ClaimUnbound         Cause = "ClaimUnbound"
	ClaimMissing         Cause = "ClaimMissing"
	SchedulingGated      Cause = "SchedulingGated"
	NoScheduler          Cause = "NoScheduler"
	Unschedulable        Cause = "Unschedulable"
	ImageNotFound        Cause = "ImageNotFound"
	ImageForbidden       Cause = "ImageForbidden"
	ImageNameInvalid     Cause = "ImageNameInvalid"
	RegistryUnreachable  Cause = "RegistryUnreachable"
	ImagePullFailed      Cause = "ImagePullFailed"
	SecretMissing        Cause = "SecretMissing"
	ConfigMapMissing     Cause = "ConfigMapMissing"
	ContainerNotCreated  Cause = "ContainerNotCreated"
	VolumeNotAttached    Cause = "VolumeNotAttached"
	VolumeNotMounted     Cause = "VolumeNotMounted"
	PodNetworkFailed     Cause = "PodNetworkFailed"
	PodPreparing         Cause = "PodPreparing"
	DriverNotReady       Cause = "DriverNotReady"
	NodeSilent           Cause = "NodeSilent"
	WrongArchitecture    Cause = "WrongArchitecture"
	ContainerCommandLost Cause = "ContainerCommandLost"
)

// How an attempt ended.
const (
	Stopped             Cause = "Stopped"
	DriverOutOfMemory   Cause = "DriverOutOfMemory"
	DriverHeapTooSmall  Cause = "DriverHeapTooSmall"
	Evicted             Cause = "Evicted"
	Preempted           Cause = "Preempted"
	NodeLost            Cause = "NodeLost"
	NodeStopped         Cause = "NodeStopped"
	DriverDeleted       Cause = "DriverDeleted"
	DeadlineExceeded    Cause = "DeadlineExceeded"
	StartTimedOut       Cause = "StartTimedOut"
	DriverExited        Cause = "DriverExited"
	JVMCrashed          Cause = "JVMCrashed"
	EarlierAttempt      Cause = "EarlierAttempt"
	ApplicationFailed   Cause = "ApplicationFailed"
	MainClassNotFound   Cause = "MainClassNotFound"
	ClassNotFound       Cause = "ClassNotFound"
	FileSystemMissing   Cause = "FileSystemMissing"
	LibraryConflict     Cause = "LibraryConflict"
	JavaTooOld          Cause = "JavaTooOld"
	PythonModuleMissing Cause = "PythonModuleMissing"
	PythonMismatch      Cause = "PythonMismatch"
	FileNotFound        Cause = "FileNotFound"
	DependencyUnsolved  Cause = "DependencyNotResolved"
	AccessDenied        Cause = "AccessDenied"
	ResultTooLarge      Cause = "ResultTooLarge"
	DiskFull            Cause = "DiskFull"
	PortTaken           Cause = "PortTaken"
	HostUnknown         Cause = "HostUnknown"
	ConnectionFailed    Cause = "ConnectionFailed"
	APIUnreachable      Cause = "APIServerUnreachable"
	DNSFailed           Cause = "DNSFailed"
)

// What keeps or ends executors.
const (
	NoExecutors          Cause = "NoExecutors"
	ExecutorOutOfMemory  Cause = "ExecutorOutOfMemory"
	ExecutorHeapTooSmall Cause = "ExecutorHeapTooSmall"
	ExecutorsLost        Cause = "ExecutorsLost"
	TooFewExecutors      Cause = "TooFewExecutors"
)
