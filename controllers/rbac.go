package controllers

// What the operator may do. Each line is used by the reconciler or by package cluster; config/rbac/role.yaml is made of them.
// A runner of the load, a proxy or a topology that needs more says so in a folder of its own.
//
// +kubebuilder:rbac:groups=replab.dev,resources=replicationexperiments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=replab.dev,resources=replicationexperiments/status,verbs=patch
// +kubebuilder:rbac:groups=replab.dev,resources=replicationexperiments/finalizers,verbs=update
// +kubebuilder:rbac:groups=replab.dev,resources=replicationsuites,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=replab.dev,resources=replicationsuites/status,verbs=patch
// +kubebuilder:rbac:groups=replab.dev,resources=replicationsuites/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=services;configmaps;serviceaccounts,verbs=get;create;patch;deletecollection
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;deletecollection
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;delete
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets;deployments,verbs=get;create;patch;deletecollection
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;create;patch;deletecollection
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update;deletecollection
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;create;patch;deletecollection
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;create;patch;deletecollection
//
// An experiment's director gets this from the operator, who can grant only what he has himself.
// +kubebuilder:rbac:groups="",resources=pods,verbs=patch
