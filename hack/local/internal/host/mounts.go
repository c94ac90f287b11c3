package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Unmount unmounts everything below the folders, the latest mount first.
func Unmount(folders ...string) error {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, point := range mountsBelow(string(b), folders) {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EBUSY) {
			// What still uses it is about to end; it then goes by itself.
			err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
		}
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}

// Remove removes the folders and files with all below them, unless something is
// still mounted there: a pod's mount can lead to a folder of the machine, whose
// content would go with it.
func Remove(paths ...string) error {
	var errs []error
	for _, path := range paths {
		b, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			return err
		}
		if points := mountsBelow(string(b), []string{filepath.Clean(path)}); len(points) > 0 {
			errs = append(errs, fmt.Errorf("%s is kept: something is still mounted on %s", path, points[0]))
			continue
		}
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// mountsBelow returns the mount points below the folders in the order in which
// they can be unmounted.
func mountsBelow(mountinfo string, folders []string) []string {
	var points []string
	for line := range strings.SplitSeq(mountinfo, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape(fields[4])
		if slices.ContainsFunc(folders, func(f string) bool { return point == f || strings.HasPrefix(point, f+"/") }) {
			points = append(points, point)
		}
	}
	slices.Reverse(points)
	return points
}

// unescape reads the octal escapes that the kernel writes for blanks.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
