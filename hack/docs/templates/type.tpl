{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
## {{ $type.Name }}
{{ with $type.Doc }}
{{ template "prose" . }}
{{ end }}
{{- with $type.SortedReferences }}
Appears in: {{ range $i, $t := . }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $t }}{{ end }}.
{{ end }}
{{- if $type.EnumValues }}
| value | meaning |
|---|---|
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ template "cell" .Doc }} |
{{- end }}
{{ else if $type.Members }}
{{- $limited := false }}{{ range $type.Members }}{{ if or .Default (without .Validation "Optional: {}" "Required: {}") }}{{ $limited = true }}{{ end }}{{ end }}
{{- if $limited }}
| field | type | default | limits | meaning |
|---|---|---|---|---|
{{- range $type.Members }}{{ if .Name }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "default" . }} | {{ template "limits" .Validation }} | {{ template "cell" .Doc }} |
{{- end }}{{ end }}
{{ else }}
| field | type | meaning |
|---|---|---|
{{- range $type.Members }}{{ if .Name }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "cell" .Doc }} |
{{- end }}{{ end }}
{{ end }}
{{- else if $type.Validation }}
Limits: {{ template "limits" $type.Validation }}.
{{ end }}
{{- template "rules" $type }}
{{- with index $type.Markers "kubebuilder:printcolumn" }}
`kubectl get` shows:

| column | from |
|---|---|
{{- range . }}
| {{ .Name }} | `{{ .JSONPath | trimPrefix "." }}` |
{{- end }}
{{ end }}
{{- end -}}
{{- end -}}

{{- define "rules" -}}
{{- $type := . -}}
{{- $rules := list -}}
{{- range $type.Members }}{{ range index .Markers "kubebuilder:validation:XValidation" }}{{ $rules = append $rules .Message }}{{ end }}{{ end -}}
{{- range index $type.Markers "kubebuilder:validation:XValidation" }}{{ $rules = append $rules .Message }}{{ end -}}
{{- with $rules | uniq }}
The API server refuses what breaks these rules:
{{ range . }}
- {{ . }}
{{- end }}
{{ end -}}
{{- end -}}

{{- define "default" -}}
{{- if has "Required: {}" .Validation }}required{{ else if and .Default (ne .Default "{  }") }}`{{ .Default }}`{{ end -}}
{{- end -}}

{{- define "limits" -}}
{{- range $i, $limit := without . "Optional: {}" "Required: {}" }}{{ if $i }}; {{ end -}}
{{- if hasPrefix "Enum: " $limit }}`{{ $limit | trimPrefix "Enum: [" | trimSuffix "]" | replace " " "`, `" }}`{{ else }}{{ template "cell" $limit }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "cell" -}}{{ regexReplaceAll "\\s+" . " " | replace "|" "\\|" }}{{- end -}}

{{- define "prose" -}}{{ regexReplaceAll "([^\\n])\\n([^\\n])" . "${1} ${2}" }}{{- end -}}
