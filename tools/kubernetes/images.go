package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// behaviours is what containers of an image can do, by name.
var behaviours = map[string]string{
	"ready":    "runs and passes its probes; as an init container it completes",
	"unready":  "runs and fails every probe that it has",
	"crash":    "ends with exit code 1 again and again",
	"oom":      "is killed for its use of memory again and again",
	"missing":  "cannot be pulled",
	"creating": "stays in ContainerCreating",
	"root":     "runs as root unless the pod names another user",
	"undying":  "runs, and does not end when its pod is deleted",
	"here":     "runs, and has the address of this machine",
}

// images knows how containers behave: as a test has said of their image, or else as the last part of the image's name
// says. Other images are ready.
type images struct {
	mutex sync.Mutex
	said  map[string]string
}

func newImages() *images { return &images{said: map[string]string{}} }

func (i *images) behaviour(image string) string {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if said, ok := i.said[image]; ok {
		return said
	}
	name := image[strings.LastIndex(image, "/")+1:]
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	if _, ok := behaviours[name]; ok {
		return name
	}
	return "ready"
}

// ServeHTTP takes `PUT /?image=registry.example/agent:1` with the name of a behaviour as its body. Containers that exist
// already follow.
func (i *images) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	image := request.URL.Query().Get("image")
	body, err := io.ReadAll(io.LimitReader(request.Body, 100))
	if err != nil || request.Method != http.MethodPut || image == "" || behaviours[string(body)] == "" {
		known := strings.Join(slices.Sorted(maps.Keys(behaviours)), ", ")
		http.Error(response, fmt.Sprintf("PUT /?image=NAME with one of these: %s", known), http.StatusBadRequest)
		return
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.said[image] = string(body)
	response.WriteHeader(http.StatusNoContent)
}
