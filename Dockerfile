# For machines that have Go and no registry for the base image: `buildah build --target prebuilt`, see docs/how-to/install.md. It comes first, since
# some builders go through all stages above the one that is asked for.
FROM scratch AS prebuilt
ARG TARGETARCH=amd64
COPY dist/replab-linux-$TARGETARCH /replab
USER 65532:65532
ENTRYPOINT ["/replab"]

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION=devel
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY cmd cmd
COPY controllers controllers
COPY internal internal
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /replab ./cmd/replab

# One static binary and nothing beside it: no shell, no libraries, no certificates, since it talks to its own cluster only.
FROM scratch
COPY --from=build /replab /replab
USER 65532:65532
ENTRYPOINT ["/replab"]
