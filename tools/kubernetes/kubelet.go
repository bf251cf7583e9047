package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
)

const (
	tick = 100 * time.Millisecond
	// How long a container that crashes runs, and how long it waits before it is started again.
	crashAfter = 300 * time.Millisecond
	backOff    = time.Second
)

// kubelet plays the nodes: it writes the status and the events that containers with the behaviour of their image would
// have. What the API server knows, it looks up: a Secret that is missing keeps a container from being created.
type kubelet struct {
	client    kubernetes.Interface
	images    *images
	recorder  record.EventRecorder
	pods      listers.PodLister
	played    map[types.UID]*playedPod
	addresses int
}

type playedPod struct {
	address    string
	containers map[string]*playedContainer
	told       map[string]bool
}

type playedContainer struct {
	// started is zero while it does not run, ended until it has run.
	started, ended time.Time
	completed      bool
	restarts       int32
	last           *v1.ContainerStateTerminated
}

func startKubelet(client kubernetes.Interface, images *images) error {
	for _, name := range []string{"node-1", "node-2"} {
		if err := register(client, name); err != nil {
			return err
		}
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typed.EventSinkImpl{Interface: client.CoreV1().Events("")})
	factory := informers.NewSharedInformerFactory(client, 0)
	k := &kubelet{
		client:   client,
		images:   images,
		recorder: broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet"}),
		pods:     factory.Core().V1().Pods().Lister(),
		played:   map[types.UID]*playedPod{},
	}
	factory.Start(context.Background().Done())
	factory.WaitForCacheSync(context.Background().Done())
	go func() {
		for range time.Tick(tick) {
			k.tick()
		}
	}()
	return nil
}

// register adds a node that is ready, in a zone of its own.
func register(client kubernetes.Interface, name string) error {
	ctx, nodes := context.Background(), client.CoreV1().Nodes()
	zone := map[string]string{
		v1.LabelHostname: name, v1.LabelTopologyZone: "zone-" + name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
	}
	node, err := nodes.Create(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: zone}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	size := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("128Gi"),
		v1.ResourcePods: resource.MustParse("1000"), v1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	node.Status = v1.NodeStatus{
		Capacity: size, Allocatable: size,
		Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady"}},
	}
	if node, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	// A new node is tainted as not ready, and the controller that takes the taint away does not run.
	node.Spec.Taints = nil
	_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
	return err
}

func (k *kubelet) tick() {
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		log.Print(err)
		return
	}
	present := map[types.UID]bool{}
	for _, pod := range pods {
		present[pod.UID] = true
		if pod.Spec.NodeName == "" {
			continue
		}
		// A conflict is solved at the next tick, when the cache has the other's change.
		if err := k.play(pod.DeepCopy()); err != nil && !errors.IsConflict(err) && !errors.IsNotFound(err) {
			log.Print(err)
		}
	}
	for id := range k.played {
		if !present[id] {
			delete(k.played, id)
		}
	}
}

// play writes what the pod's containers have come to.
func (k *kubelet) play(pod *v1.Pod) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	if pod.DeletionTimestamp != nil {
		if slices.ContainsFunc(pod.Spec.Containers, func(c v1.Container) bool { return k.images.behaviour(c.Image) == "undying" }) {
			return nil
		}
		options := metav1.NewPreconditionDeleteOptions(string(pod.UID))
		options.GracePeriodSeconds = new(int64)
		return pods.Delete(context.Background(), pod.Name, *options)
	}
	p := k.played[pod.UID]
	if p == nil {
		k.addresses++
		address := fmt.Sprintf("10.244.%d.%d", k.addresses/250, k.addresses%250+1)
		p = &playedPod{address: address, containers: map[string]*playedContainer{}, told: map[string]bool{}}
		k.played[pod.UID] = p
	}
	status := pod.Status.DeepCopy()
	status.ObservedGeneration = pod.Generation
	if status.StartTime == nil {
		status.StartTime = &metav1.Time{Time: time.Now()}
	}
	address := p.address
	if slices.ContainsFunc(pod.Spec.Containers, func(c v1.Container) bool { return k.images.behaviour(c.Image) == "here" }) {
		address = ownAddress()
	}
	status.HostIP, status.PodIP, status.PodIPs = "127.0.0.1", address, []v1.PodIP{{IP: address}}
	mounted := k.mounts(pod, p)
	initialized := mounted
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	for _, container := range pod.Spec.InitContainers {
		sidecar := container.RestartPolicy != nil && *container.RestartPolicy == v1.ContainerRestartPolicyAlways
		found := k.container(pod, p, container, initialized, !sidecar)
		status.InitContainerStatuses = append(status.InitContainerStatuses, found)
		initialized = initialized && (found.State.Terminated != nil && found.Ready || sidecar && *found.Started)
	}
	begun, prepared := true, initialized
	for _, container := range pod.Spec.Containers {
		found := k.container(pod, p, container, initialized, false)
		status.ContainerStatuses = append(status.ContainerStatuses, found)
		prepared = prepared && found.Ready
		begun = begun && (found.State.Waiting == nil || found.RestartCount > 0 || found.LastTerminationState.Terminated != nil)
	}
	status.Phase = v1.PodPending
	if begun {
		status.Phase = v1.PodRunning
	}
	condition(status, v1.PodInitialized, initialized, "ContainersNotInitialized")
	condition(status, v1.ContainersReady, prepared, "ContainersNotReady")
	condition(status, v1.PodReady, prepared, "ContainersNotReady")
	if equality.Semantic.DeepEqual(*status, pod.Status) {
		return nil
	}
	pod.Status = *status
	_, err := pods.UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
	return err
}

// ownAddress is an address of this machine that is not loopback, to which the API server passes on no request.
func ownAddress() string {
	addresses, _ := net.InterfaceAddrs()
	for _, address := range addresses {
		if own, ok := address.(*net.IPNet); ok && own.IP.IsGlobalUnicast() && own.IP.To4() != nil {
			return own.IP.String()
		}
	}
	return ""
}

// container is the status of one container; may says whether it is its turn, once that it shall end by itself.
func (k *kubelet) container(pod *v1.Pod, p *playedPod, container v1.Container, may, once bool) v1.ContainerStatus {
	c := p.containers[container.Name]
	if c == nil {
		c = &playedContainer{}
		p.containers[container.Name] = c
	}
	behaviour, now := k.images.behaviour(container.Image), time.Now()
	status := v1.ContainerStatus{Name: container.Name, Image: container.Image, Started: new(bool)}
	waits := func(reason, message string) {
		status.State.Waiting = &v1.ContainerStateWaiting{Reason: reason, Message: message}
	}
	crashes := behaviour == "crash" || behaviour == "oom"
	if c.started.IsZero() && !c.completed {
		reason, message := "PodInitializing", ""
		switch {
		case !may && len(pod.Spec.InitContainers) == 0:
			reason = "ContainerCreating"
		case !may:
		case crashes && now.Sub(c.ended) < backOff:
			reason = "CrashLoopBackOff"
			message = fmt.Sprintf("back-off 10s restarting failed container=%s pod=%s_%s(%s)", container.Name, pod.Name, pod.Namespace, pod.UID)
			k.warn(pod, p, "BackOff", "Back-off restarting failed container %s in pod %s", container.Name, pod.Name)
		default:
			if reason, message = k.obstacle(pod, p, container, behaviour); reason != "" {
				break
			}
			if !c.ended.IsZero() {
				c.restarts++
			}
			c.started = now
		}
		if c.started.IsZero() {
			waits(reason, message)
		}
	}
	switch {
	case c.completed:
		status.State.Terminated = c.last
		status.Ready = true
	case c.started.IsZero():
	case crashes && now.Sub(c.started) > crashAfter:
		c.last = terminated(c.started, now, behaviour, container.TerminationMessagePolicy)
		c.started, c.ended = time.Time{}, now
		status.State.Terminated = c.last
	case once && !crashes && behaviour != "unready":
		c.last = terminated(c.started, now, behaviour, container.TerminationMessagePolicy)
		c.completed = true
		status.State.Terminated = c.last
		status.Ready = true
	default:
		status.State.Running = &v1.ContainerStateRunning{StartedAt: metav1.Time{Time: c.started}}
		fails := func(probe *v1.Probe, name string) bool {
			if probe == nil || behaviour != "unready" && !crashes {
				return false
			}
			k.warn(pod, p, "Unhealthy", "%s probe failed: dial tcp %s: connect: connection refused", name, p.address)
			return true
		}
		*status.Started = !fails(container.StartupProbe, "Startup")
		status.Ready = *status.Started && !fails(container.ReadinessProbe, "Readiness")
	}
	status.RestartCount = c.restarts
	if c.last != nil && status.State.Terminated == nil {
		status.LastTerminationState.Terminated = c.last
	}
	return status
}

// obstacle is why a container cannot be started: a reason and a message, or empty.
func (k *kubelet) obstacle(pod *v1.Pod, p *playedPod, container v1.Container, behaviour string) (string, string) {
	if behaviour == "creating" {
		return "ContainerCreating", ""
	}
	if behaviour == "missing" {
		cause := fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", container.Image, container.Image, container.Image)
		if !p.told["Failed"+container.Name] {
			p.told["Failed"+container.Name] = true
			k.recorder.Eventf(pod, v1.EventTypeWarning, "Failed", "Failed to pull image %q: %s", container.Image, cause)
			return "ErrImagePull", cause
		}
		k.warn(pod, p, "BackOff", "Back-off pulling image %q", container.Image)
		return "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", container.Image, cause)
	}
	refused := k.missingSecret(pod, container)
	if behaviour == "root" && runsAsRoot(pod, container) {
		refused = fmt.Sprintf("container has runAsNonRoot and image will run as root (pod: %q, container: %s)", pod.Name, container.Name)
	}
	if refused == "" {
		return "", ""
	}
	k.warn(pod, p, "Failed", "Error: %s", refused)
	return "CreateContainerConfigError", refused
}

func runsAsRoot(pod *v1.Pod, container v1.Container) bool {
	nonRoot, user := false, (*int64)(nil)
	if s := pod.Spec.SecurityContext; s != nil {
		nonRoot, user = s.RunAsNonRoot != nil && *s.RunAsNonRoot, s.RunAsUser
	}
	if s := container.SecurityContext; s != nil {
		if s.RunAsNonRoot != nil {
			nonRoot = *s.RunAsNonRoot
		}
		if s.RunAsUser != nil {
			user = s.RunAsUser
		}
	}
	return nonRoot && user == nil
}

// missingSecret says which Secret or key of the container's environment is not there.
func (k *kubelet) missingSecret(pod *v1.Pod, container v1.Container) string {
	look := func(name, key string, optional *bool) string {
		if optional != nil && *optional {
			return ""
		}
		secret, err := k.client.CoreV1().Secrets(pod.Namespace).Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return fmt.Sprintf("secret %q not found", name)
		}
		if _, ok := secret.Data[key]; !ok && key != "" {
			return fmt.Sprintf("couldn't find key %s in Secret %s/%s", key, pod.Namespace, name)
		}
		return ""
	}
	for _, from := range container.EnvFrom {
		if ref := from.SecretRef; ref != nil {
			if missing := look(ref.Name, "", ref.Optional); missing != "" {
				return missing
			}
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			ref := variable.ValueFrom.SecretKeyRef
			if missing := look(ref.Name, ref.Key, ref.Optional); missing != "" {
				return missing
			}
		}
	}
	return ""
}

// mounts says whether the Secrets and ConfigMaps of the pod's volumes are there.
func (k *kubelet) mounts(pod *v1.Pod, p *playedPod) bool {
	if len(p.containers) > 0 && p.told["mounted"] {
		return true
	}
	for _, volume := range pod.Spec.Volumes {
		var err error
		switch {
		case volume.Secret != nil && (volume.Secret.Optional == nil || !*volume.Secret.Optional):
			_, err = k.client.CoreV1().Secrets(pod.Namespace).Get(context.Background(), volume.Secret.SecretName, metav1.GetOptions{})
		case volume.ConfigMap != nil && (volume.ConfigMap.Optional == nil || !*volume.ConfigMap.Optional):
			_, err = k.client.CoreV1().ConfigMaps(pod.Namespace).Get(context.Background(), volume.ConfigMap.Name, metav1.GetOptions{})
		}
		if err != nil {
			k.warn(pod, p, "FailedMount", "MountVolume.SetUp failed for volume %q : %v", volume.Name, err)
			return false
		}
	}
	p.told["mounted"] = true
	return true
}

func terminated(started, ended time.Time, behaviour string, policy v1.TerminationMessagePolicy) *v1.ContainerStateTerminated {
	state := &v1.ContainerStateTerminated{
		StartedAt: metav1.Time{Time: started}, FinishedAt: metav1.Time{Time: ended}, Reason: "Completed",
	}
	switch behaviour {
	case "crash":
		state.ExitCode, state.Reason = 1, "Error"
		if policy == v1.TerminationMessageFallbackToLogsOnError {
			state.Message = "The agent cannot be loaded."
		}
	case "oom":
		state.ExitCode, state.Reason = 137, "OOMKilled"
	}
	return state
}

func condition(status *v1.PodStatus, kind v1.PodConditionType, fulfilled bool, reason string) {
	wanted := v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: metav1.Now()}
	if !fulfilled {
		wanted.Status, wanted.Reason = v1.ConditionFalse, reason
	}
	index := slices.IndexFunc(status.Conditions, func(c v1.PodCondition) bool { return c.Type == kind })
	if index < 0 {
		status.Conditions = append(status.Conditions, wanted)
	} else if status.Conditions[index].Status != wanted.Status {
		status.Conditions[index] = wanted
	}
}

// warn records an event once for each pod.
func (k *kubelet) warn(pod *v1.Pod, p *playedPod, reason, format string, values ...any) {
	message := fmt.Sprintf(format, values...)
	if !p.told[reason+message] {
		p.told[reason+message] = true
		k.recorder.Event(pod, v1.EventTypeWarning, reason, message)
	}
}
