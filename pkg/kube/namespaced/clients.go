package namespaced

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	typedautoscalingv2 "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	typednetworkingv1 "k8s.io/client-go/kubernetes/typed/networking/v1"
	typedpolicyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	typedearlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/early/v1alpha1"
	typedfiresteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/firesteel/v1alpha1"
	typedsparkv1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/spark/v1"
	typedv1beta2 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Each kind that an informer reads has a type with the methods of its own client, of which the collection's List and Watch hide two: they
// are embedded less deep.

// Kubernetes returns a client of Kubernetes' own kinds.
func (n *Namespaces) Kubernetes(client kubernetes.Interface) kubernetes.Interface {
	return kubernetesClient{client, n}
}

type kubernetesClient struct {
	kubernetes.Interface
	namespaces *Namespaces
}

func (c kubernetesClient) CoreV1() typedcorev1.CoreV1Interface {
	return coreV1{c.Interface.CoreV1(), c.namespaces}
}

func (c kubernetesClient) AppsV1() typedappsv1.AppsV1Interface {
	return appsV1{c.Interface.AppsV1(), c.namespaces}
}

func (c kubernetesClient) NetworkingV1() typednetworkingv1.NetworkingV1Interface {
	return networkingV1{c.Interface.NetworkingV1(), c.namespaces}
}

func (c kubernetesClient) AutoscalingV2() typedautoscalingv2.AutoscalingV2Interface {
	return autoscalingV2{c.Interface.AutoscalingV2(), c.namespaces}
}

func (c kubernetesClient) PolicyV1() typedpolicyv1.PolicyV1Interface {
	return policyV1{c.Interface.PolicyV1(), c.namespaces}
}

type coreV1 struct {
	typedcorev1.CoreV1Interface
	namespaces *Namespaces
}

type (
	podsClient struct{ typedcorev1.PodInterface }
	pods       struct {
		podsClient
		collection[corev1.PodList, *corev1.PodList]
	}
)

func (c coreV1) Pods(namespace string) typedcorev1.PodInterface {
	in := c.CoreV1Interface.Pods
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return pods{podsClient{in(namespace)}, collect(c.namespaces, in, &corev1.Pod{})}
}

type (
	servicesClient struct{ typedcorev1.ServiceInterface }
	services       struct {
		servicesClient
		collection[corev1.ServiceList, *corev1.ServiceList]
	}
)

func (c coreV1) Services(namespace string) typedcorev1.ServiceInterface {
	in := c.CoreV1Interface.Services
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return services{servicesClient{in(namespace)}, collect(c.namespaces, in, &corev1.Service{})}
}

type (
	configMapsClient struct{ typedcorev1.ConfigMapInterface }
	configMaps       struct {
		configMapsClient
		collection[corev1.ConfigMapList, *corev1.ConfigMapList]
	}
)

func (c coreV1) ConfigMaps(namespace string) typedcorev1.ConfigMapInterface {
	in := c.CoreV1Interface.ConfigMaps
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return configMaps{configMapsClient{in(namespace)}, collect(c.namespaces, in, &corev1.ConfigMap{})}
}

type (
	resourceQuotasClient struct {
		typedcorev1.ResourceQuotaInterface
	}
	resourceQuotas struct {
		resourceQuotasClient
		collection[corev1.ResourceQuotaList, *corev1.ResourceQuotaList]
	}
)

func (c coreV1) ResourceQuotas(namespace string) typedcorev1.ResourceQuotaInterface {
	in := c.CoreV1Interface.ResourceQuotas
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return resourceQuotas{resourceQuotasClient{in(namespace)}, collect(c.namespaces, in, &corev1.ResourceQuota{})}
}

type appsV1 struct {
	typedappsv1.AppsV1Interface
	namespaces *Namespaces
}

type (
	statefulSetsClient struct {
		typedappsv1.StatefulSetInterface
	}
	statefulSets struct {
		statefulSetsClient
		collection[appsv1.StatefulSetList, *appsv1.StatefulSetList]
	}
)

func (c appsV1) StatefulSets(namespace string) typedappsv1.StatefulSetInterface {
	in := c.AppsV1Interface.StatefulSets
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return statefulSets{statefulSetsClient{in(namespace)}, collect(c.namespaces, in, &appsv1.StatefulSet{})}
}

type networkingV1 struct {
	typednetworkingv1.NetworkingV1Interface
	namespaces *Namespaces
}

type (
	networkPoliciesClient struct {
		typednetworkingv1.NetworkPolicyInterface
	}
	networkPolicies struct {
		networkPoliciesClient
		collection[networkingv1.NetworkPolicyList, *networkingv1.NetworkPolicyList]
	}
)

func (c networkingV1) NetworkPolicies(namespace string) typednetworkingv1.NetworkPolicyInterface {
	in := c.NetworkingV1Interface.NetworkPolicies
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return networkPolicies{networkPoliciesClient{in(namespace)}, collect(c.namespaces, in, &networkingv1.NetworkPolicy{})}
}

type autoscalingV2 struct {
	typedautoscalingv2.AutoscalingV2Interface
	namespaces *Namespaces
}

type (
	autoscalersClient struct {
		typedautoscalingv2.HorizontalPodAutoscalerInterface
	}
	autoscalers struct {
		autoscalersClient
		collection[autoscalingv2.HorizontalPodAutoscalerList, *autoscalingv2.HorizontalPodAutoscalerList]
	}
)

func (c autoscalingV2) HorizontalPodAutoscalers(namespace string) typedautoscalingv2.HorizontalPodAutoscalerInterface {
	in := c.AutoscalingV2Interface.HorizontalPodAutoscalers
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return autoscalers{autoscalersClient{in(namespace)}, collect(c.namespaces, in, &autoscalingv2.HorizontalPodAutoscaler{})}
}

type policyV1 struct {
	typedpolicyv1.PolicyV1Interface
	namespaces *Namespaces
}

type (
	budgetsClient struct {
		typedpolicyv1.PodDisruptionBudgetInterface
	}
	budgets struct {
		budgetsClient
		collection[policyv1.PodDisruptionBudgetList, *policyv1.PodDisruptionBudgetList]
	}
)

func (c policyV1) PodDisruptionBudgets(namespace string) typedpolicyv1.PodDisruptionBudgetInterface {
	in := c.PolicyV1Interface.PodDisruptionBudgets
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return budgets{budgetsClient{in(namespace)}, collect(c.namespaces, in, &policyv1.PodDisruptionBudget{})}
}

// Firesteel returns clients of Firesteel's kinds.
func (n *Namespaces) Firesteel(client kube.Clients) kube.Clients { return firesteelClients{client, n} }

type firesteelClients struct {
	kube.Clients
	namespaces *Namespaces
}

func (c firesteelClients) SparkV1() typedsparkv1.SparkV1Interface {
	return sparkV1{c.Clients.SparkV1(), c.namespaces}
}

func (c firesteelClients) SparkoperatorV1beta2() typedv1beta2.SparkoperatorV1beta2Interface {
	return sparkoperatorV1beta2{c.Clients.SparkoperatorV1beta2(), c.namespaces}
}

func (c firesteelClients) EarlyV1alpha1() typedearlyv1alpha1.EarlyV1alpha1Interface {
	return earlyV1alpha1{c.Clients.EarlyV1alpha1(), c.namespaces}
}

func (c firesteelClients) FiresteelV1alpha1() typedfiresteelv1alpha1.FiresteelV1alpha1Interface {
	return firesteelV1alpha1{c.Clients.FiresteelV1alpha1(), c.namespaces}
}

type sparkV1 struct {
	typedsparkv1.SparkV1Interface
	namespaces *Namespaces
}

type (
	apacheApplicationsClient struct {
		typedsparkv1.SparkApplicationInterface
	}
	apacheApplications struct {
		apacheApplicationsClient
		collection[sparkv1.SparkApplicationList, *sparkv1.SparkApplicationList]
	}
)

func (c sparkV1) SparkApplications(namespace string) typedsparkv1.SparkApplicationInterface {
	in := c.SparkV1Interface.SparkApplications
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return apacheApplications{apacheApplicationsClient{in(namespace)}, collect(c.namespaces, in, &sparkv1.SparkApplication{})}
}

type (
	clustersClient struct {
		typedsparkv1.SparkClusterInterface
	}
	clusters struct {
		clustersClient
		collection[sparkv1.SparkClusterList, *sparkv1.SparkClusterList]
	}
)

func (c sparkV1) SparkClusters(namespace string) typedsparkv1.SparkClusterInterface {
	in := c.SparkV1Interface.SparkClusters
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return clusters{clustersClient{in(namespace)}, collect(c.namespaces, in, &sparkv1.SparkCluster{})}
}

type sparkoperatorV1beta2 struct {
	typedv1beta2.SparkoperatorV1beta2Interface
	namespaces *Namespaces
}

type (
	kubeflowApplicationsClient struct {
		typedv1beta2.SparkApplicationInterface
	}
	kubeflowApplications struct {
		kubeflowApplicationsClient
		collection[v1beta2.SparkApplicationList, *v1beta2.SparkApplicationList]
	}
)

func (c sparkoperatorV1beta2) SparkApplications(namespace string) typedv1beta2.SparkApplicationInterface {
	in := c.SparkoperatorV1beta2Interface.SparkApplications
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return kubeflowApplications{kubeflowApplicationsClient{in(namespace)}, collect(c.namespaces, in, &v1beta2.SparkApplication{})}
}

type (
	kubeflowSchedulesClient struct {
		typedv1beta2.ScheduledSparkApplicationInterface
	}
	kubeflowSchedules struct {
		kubeflowSchedulesClient
		collection[v1beta2.ScheduledSparkApplicationList, *v1beta2.ScheduledSparkApplicationList]
	}
)

func (c sparkoperatorV1beta2) ScheduledSparkApplications(namespace string) typedv1beta2.ScheduledSparkApplicationInterface {
	in := c.SparkoperatorV1beta2Interface.ScheduledSparkApplications
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return kubeflowSchedules{kubeflowSchedulesClient{in(namespace)}, collect(c.namespaces, in, &v1beta2.ScheduledSparkApplication{})}
}

type earlyV1alpha1 struct {
	typedearlyv1alpha1.EarlyV1alpha1Interface
	namespaces *Namespaces
}

type (
	earlyApplicationsClient struct {
		typedearlyv1alpha1.SparkApplicationInterface
	}
	earlyApplications struct {
		earlyApplicationsClient
		collection[earlyv1alpha1.SparkApplicationList, *earlyv1alpha1.SparkApplicationList]
	}
)

func (c earlyV1alpha1) SparkApplications(namespace string) typedearlyv1alpha1.SparkApplicationInterface {
	in := c.EarlyV1alpha1Interface.SparkApplications
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return earlyApplications{earlyApplicationsClient{in(namespace)}, collect(c.namespaces, in, &earlyv1alpha1.SparkApplication{})}
}

type firesteelV1alpha1 struct {
	typedfiresteelv1alpha1.FiresteelV1alpha1Interface
	namespaces *Namespaces
}

type (
	apacheSchedulesClient struct {
		typedfiresteelv1alpha1.ScheduledSparkApplicationInterface
	}
	apacheSchedules struct {
		apacheSchedulesClient
		collection[firesteelv1alpha1.ScheduledSparkApplicationList, *firesteelv1alpha1.ScheduledSparkApplicationList]
	}
)

func (c firesteelV1alpha1) ScheduledSparkApplications(namespace string) typedfiresteelv1alpha1.ScheduledSparkApplicationInterface {
	in := c.FiresteelV1alpha1Interface.ScheduledSparkApplications
	if namespace != metav1.NamespaceAll {
		return in(namespace)
	}
	return apacheSchedules{apacheSchedulesClient{in(namespace)}, collect(c.namespaces, in, &firesteelv1alpha1.ScheduledSparkApplication{})}
}
