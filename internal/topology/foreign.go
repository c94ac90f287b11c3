package topology

import (
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/internal/kube"
)

// ErrForbidden is of an object that another operator makes nodes of, and that this operator may not touch.
var ErrForbidden = errors.New("this operator may not touch another operator's object")

// Foreign is a Driver whose nodes another operator makes, from an object of a kind of its own. It performs no IO.
type Foreign interface {
	// ForeignKind of that object.
	ForeignKind() kube.ForeignKind
	// Object is that one as it is planned. Everything else that belongs to the nodes that operator makes.
	Object(Params) *unstructured.Unstructured
	// Hopeless says why the object comes to nothing, and what to do; "" while it may come to something.
	Hopeless(Params, Found) string
}

// Remaker is a Foreign whose nodes' pods make objects that nobody removes with them.
type Remaker interface {
	// Remade is what the nodes' pods make anew while they end, of what was removed before them.
	Remade(Params) Remade
}

// Remade are objects that belong to nobody: those that had their names belonged to the experiment, and had its labels.
type Remade struct {
	// Set is the StatefulSet of the pods that make them.
	Set string
	// ConfigMaps by name.
	ConfigMaps []string
	// Labels of the pods, and of what they make.
	Labels map[string]string
}

// Found is what there is of an object that another operator carries out.
type Found struct {
	Object *unstructured.Unstructured // nil when it is gone
	// Set are the nodes that were made of it: the StatefulSet of its name, nil while there is none, and where that operator makes pods by itself.
	Set *appsv1.StatefulSet
	// Applied is for how long the object has been there.
	Applied time.Duration
	// LastEvent about it, "" without one.
	LastEvent string
}
