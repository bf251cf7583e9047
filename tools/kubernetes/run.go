package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	startTime = 2 * time.Minute
	// Every request but those of the control plane itself is written to the audit log, so that tests can compare what a
	// user does with what its role allows.
	auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived"],"rules":[
		{"level":"None","users":["admin","system:apiserver"]},{"level":"Metadata"}]}`
)

// running is printed as one line of JSON once the control plane serves.
type running struct {
	Kubeconfig string `json:"kubeconfig"`
	// Images is the address where a test decides how containers behave.
	Images string `json:"images"`
	Audit  string `json:"audit"`
	// Program is this program, which also renders Kustomize directories.
	Program string `json:"program"`
	Version string `json:"version"`
	Seconds int    `json:"seconds"`
}

// run starts everything in the directory, and ends it when standard input ends or a component does.
func run(directory string) error {
	begin := time.Now()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	path := func(name string) string { return filepath.Join(directory, name) }
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	etcd, err := startEtcd(path("etcd"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	if err := writeServiceAccountKey(path("service-accounts.key")); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	token := rand.Text()
	files := map[string]string{"tokens.csv": token + `,admin,admin,"system:masters"` + "\n", "audit.json": auditPolicy}
	for name, text := range files {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	ended := make(chan error, 4)
	start := func(component string, arguments ...string) error {
		return startComponent(path(component+".log"), ended, component, arguments...)
	}
	if err := start("kube-apiserver",
		"--etcd-servers="+etcd.Config().ListenClientUrls[0].String(),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir="+path("certificates"), "--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-key-file="+path("service-accounts.key"),
		"--service-account-signing-key-file="+path("service-accounts.key"),
		"--token-auth-file="+path("tokens.csv"), "--authorization-mode=RBAC", "--allow-privileged=true",
		"--audit-policy-file="+path("audit.json"), "--audit-log-path="+path("audit.log"),
		"--audit-log-mode=blocking-strict", "--profiling=false",
	); err != nil {
		return err
	}
	certificate := path("certificates/apiserver.crt")
	config, err := until(ended, func() (*rest.Config, error) { return connect(port, token, certificate, path("kubeconfig")) })
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := until(ended, func() ([]byte, error) {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
	}); err != nil {
		return err
	}
	kubeconfig := "--kubeconfig=" + path("kubeconfig")
	if err := start("kube-controller-manager", kubeconfig, "--leader-elect=false", "--secure-port=0", "--profiling=false",
		// It would take the nodes for lost, whose leases nobody renews.
		"--controllers=*,-node-lifecycle-controller",
		"--service-account-private-key-file="+path("service-accounts.key"), "--root-ca-file="+certificate,
		"--horizontal-pod-autoscaler-sync-period=1s",
	); err != nil {
		return err
	}
	if err := start("kube-scheduler", kubeconfig, "--leader-elect=false", "--secure-port=0", "--profiling=false"); err != nil {
		return err
	}
	images := newImages()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { ended <- http.Serve(server, images) }()
	if err := startKubelet(client, images); err != nil {
		return err
	}
	// Pods can be created once the namespace has its service account.
	if _, err := until(ended, func() (any, error) {
		return client.CoreV1().ServiceAccounts("default").Get(context.Background(), "default", metav1.GetOptions{})
	}); err != nil {
		return err
	}
	line, err := json.Marshal(running{
		Kubeconfig: path("kubeconfig"),
		Images:     "http://" + server.Addr().String(),
		Audit:      path("audit.log"),
		Program:    program,
		Version:    version(),
		Seconds:    int(time.Since(begin).Seconds()),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	go endWithInput(func() { ended <- nil })
	return <-ended
}

func startEtcd(directory string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = directory
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	listen := func() ([]url.URL, error) {
		port, err := freePort()
		return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}, err
	}
	var err error
	if config.ListenClientUrls, err = listen(); err != nil {
		return nil, err
	}
	if config.ListenPeerUrls, err = listen(); err != nil {
		return nil, err
	}
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = config.ListenClientUrls, config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, err
	case <-time.After(startTime):
		etcd.Close()
		return nil, fmt.Errorf("it was not ready in time")
	}
}

// startComponent runs this program once more as one of the components. The child ends when this process does, because
// nothing holds the other side of its standard input then.
func startComponent(log string, ended chan<- error, component string, arguments ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	output, err := os.Create(log)
	if err != nil {
		return err
	}
	child := exec.Command(program, append([]string{component}, arguments...)...)
	child.Stdout, child.Stderr = output, output
	if _, err := child.StdinPipe(); err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	go func() {
		err := child.Wait()
		text, _ := os.ReadFile(log)
		ended <- fmt.Errorf("%s ended (%v): %s", component, err, text[max(0, len(text)-2000):])
	}()
	return nil
}

func writeServiceAccountKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	bytes, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600)
}

// connect writes a kubeconfig with the certificate that the server has made, and answers what it says.
func connect(port int, token, certificate, kubeconfig string) (*rest.Config, error) {
	authority, err := os.ReadFile(certificate)
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin"}
	config.CurrentContext = "test"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		return nil, err
	}
	client, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client.QPS = -1
	return client, nil
}

// version is that of Kubernetes in go.mod.
func version() string {
	information, _ := debug.ReadBuildInfo()
	for _, module := range information.Deps {
		if module.Path == "k8s.io/kubernetes" {
			return module.Version
		}
	}
	return ""
}

// until tries again until there is an answer, a component has ended or the time is over.
func until[T any](ended <-chan error, try func() (T, error)) (T, error) {
	deadline := time.After(startTime)
	for {
		answer, err := try()
		if err == nil {
			return answer, nil
		}
		select {
		case end := <-ended:
			return answer, end
		case <-deadline:
			return answer, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
