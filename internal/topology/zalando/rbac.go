package zalando

// What comes of the resource the Zalando operator makes and removes, but for pods that it has not got to. It is a right to the
// databases of everybody whom that operator serves, so that it is generated on its own, and given where somebody asks for it: by the chart
// where rbac.zalandoOperator is true, or with config/zalando.
// +kubebuilder:rbac:groups=acid.zalan.do,resources=postgresqls,verbs=get;create;patch;deletecollection
