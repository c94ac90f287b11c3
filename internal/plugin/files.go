package plugin

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// read what is in files, "-" being the standard input, in the order in which it stands there.
func (o *Options) read(files []string) ([]*unstructured.Unstructured, error) {
	return o.readBy(resource.NewBuilder(o.Config).Unstructured(), files)
}

// readHere does the same without a cluster.
func (o *Options) readHere(files []string) ([]*unstructured.Unstructured, error) {
	return o.readBy(resource.NewBuilder(o.Config).Unstructured().Local(), files)
}

func (o *Options) readBy(builder *resource.Builder, files []string) ([]*unstructured.Unstructured, error) {
	namespace, enforce, err := o.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	infos, err := builder.
		NamespaceParam(namespace).DefaultNamespace().FilenameParam(enforce, &resource.FilenameOptions{Filenames: files}).
		Flatten().Do().Infos()
	if err != nil {
		return nil, explained(err)
	}
	var all []*unstructured.Unstructured
	for _, i := range infos {
		if x, ok := i.Object.(*unstructured.Unstructured); ok {
			if isExperiment(x) && x.GetNamespace() == "" { // without a cluster the builder cannot know that it needs one
				x.SetNamespace(namespace)
			}
			all = append(all, x)
		}
	}
	return all, nil
}

// isExperiment tells experiments from what they need.
func isExperiment(x *unstructured.Unstructured) bool {
	kind := x.GroupVersionKind()
	return kind.Group == v1alpha1.GroupVersion.Group && kind.Kind == "ReplicationExperiment"
}

func sorted(all []*unstructured.Unstructured) (experiments, others []*unstructured.Unstructured) {
	for _, x := range all {
		if isExperiment(x) {
			experiments = append(experiments, x)
		} else {
			others = append(others, x)
		}
	}
	slices.SortStableFunc(others, func(a, b *unstructured.Unstructured) int { return order(a) - order(b) })
	return experiments, others
}

// order has the namespaces first, which the rest may be in.
func order(x *unstructured.Unstructured) int {
	if isNamespace(x) {
		return 0
	}
	return 1
}

func isNamespace(x *unstructured.Unstructured) bool {
	return x.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace")
}

// makes tells whether a namespace is among objects.
func makes(all []*unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(all, func(x *unstructured.Unstructured) bool { return isNamespace(x) && x.GetName() == namespace })
}

// once fails where two experiments have the same name: the second would be taken for the first.
func once(experiments []*unstructured.Unstructured) error {
	known := map[client.ObjectKey]bool{}
	for _, x := range experiments {
		key := client.ObjectKeyFromObject(x)
		if known[key] {
			return fmt.Errorf("experiment %s is in the files twice: give one another name", x.GetName())
		}
		known[key] = true
	}
	return nil
}
