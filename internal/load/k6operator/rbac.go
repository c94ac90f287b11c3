package k6operator

// What comes of a TestRun the k6-operator makes. RBAC knows no narrower right than to all of that operator's tests, so that it is generated on its own,
// and given where somebody asks for it: by the chart where rbac.k6Operator is true, or with config/k6operator.
// +kubebuilder:rbac:groups=k6.io,resources=testruns,verbs=get;create;deletecollection
