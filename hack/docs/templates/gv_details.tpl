{{- define "gvDetails" -}}
{{- $gv := . }}
Version `{{ $gv.GroupVersionString }}`. Examples are in [experiments](../../experiments). The rules that join fields are checked before anything is created.
{{- range $gv.SortedKinds }}
{{ template "type" ($gv.TypeForKind .) }}{{ end }}
{{- range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end -}}
{{- end -}}
