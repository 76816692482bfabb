#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lists the lock calls of a Debian kernel with all its modules, out of its package with debug information:
#
#     scan_package.sh WHICHLOCK linux-image-6.1.0-57-amd64-dbg > 6.1.csv
#
# WHICHLOCK is the program. A package that apt does not know is given as a .deb file. Nothing is installed; the
# package is unpacked in a temporary folder (7 GB), which is removed at the end. Each row is one of
# `whichlock locks --format csv` behind the module, whose name is its path below kernel/.
set -euo pipefail
whichlock=$(realpath "$1")
package=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache

if [[ -f $package ]]; then
    package=$(realpath "$package")
else
    (cd "$folder" && apt-get download -q "$package" >&2)
    package=$(ls "$folder"/*.deb)
fi
dpkg -x "$package" "$folder/tree"

# Kinds of drivers that merge_tables.py leaves out anyway.
skipped=(gpu media iio usb staging hwmon input accel gpio platform i2c mtd)
filter=(! -path '*/sound/*' ! -path '*/wireless/*')
for kind in "${skipped[@]}"; do
    filter+=(! -path "*/drivers/$kind/*")
done
find "$folder/tree" -type f \( -name 'vmlinux*' -o -name '*.ko' -o -name '*.ko.debug' \) "${filter[@]}" \
    | LC_ALL=C sort | while read -r file; do
    case $file in
        */kernel/*)
            name=${file#*/kernel/}
            name=${name%.debug}
            name=${name%.ko}
            ;;
        *) name=vmlinux ;;
    esac
    # A module without code of its own is refused, which is said and no reason to stop.
    { timeout 300 "$whichlock" locks "$file" --format csv || true; } | tail -n +2 | sed "s|^|$name,|"
done
