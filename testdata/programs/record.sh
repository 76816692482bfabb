#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records the workload programs for testdata/perf-data: record.sh BUILD [CASE...], as root, where BUILD is a
# build folder with the target workload_programs. A case is a folder with the recording, the program's own
# measurements of that very run, and the names that reading it needs. The programs run in a folder and on a
# host with neutral names, so that nothing of the recording machine gets into the files.
set -euo pipefail
testdata=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:?usage: record.sh BUILD [CASE...]}" && pwd)/testdata/programs
shift
wanted=" $* "
place=/opt/workloads
export LC_ALL=C TZ=UTC DEBUGINFOD_URLS=

cpu='-e cpu-clock -F 2999'
futex=-e\ sched:sched_switch,sched:sched_waking,sched:sched_wakeup,syscalls:sys_enter_futex,syscalls:sys_exit_futex
contention='-e lock:contention_begin,lock:contention_end'
probed=-e\ probe_libc:mutex_lock,probe_libc:mutex_lock__return,probe_libc:mutex_unlock,sched:sched_switch
tried=$probed,probe_libc:mutex_trylock,probe_libc:mutex_trylock__return
static_probes='-e sdt_libc:mutex_entry,sdt_libc:mutex_acquired,sdt_libc:mutex_release'
fp='-g'
dwarf='--call-graph dwarf,1024'
# With build ids the libraries of the machine that reads may give more names: golden outputs have to do without.
alone='--no-buildid'

# needed_symbols SORTED_KALLSYMS < ADDRESSES: the lines that name the addresses, and the next ones as their ends.
needed_symbols() {
    awk -v table="$1" '
        BEGIN { while ((getline line < table) > 0) { text[++n] = line; address[n] = substr(line, 1, 16) } }
        {   low = 1; high = n # the last symbol that begins at or before the address
            while (low < high) { mid = int((low + high + 1) / 2)
                if (address[mid] <= $1) low = mid; else high = mid - 1 }
            for (i = low; i > 0 && address[i] == address[low]; --i) keep[i]
            for (i = low - 1; i > 0 && address[i] == address[low - 1]; --i) keep[i] # of a return address
            for (i = low + 1; i <= n && address[i] == address[low + 1]; ++i) keep[i] }
        END { for (i = 1; i <= n; ++i) if (i in keep || text[i] ~ / (_text|_stext|_etext)$/) print text[i] }'
}

# kernel_names RECORDING: of /proc/kallsyms what the recording has addresses of.
kernel_names() {
    perf script --no-inline -i "$1" -F ip 2> /dev/null | grep -oE '\bffff[0-9a-f]{12}\b' | sort -u \
        | needed_symbols "$kallsyms" || true # there may be none
}

# libc_names RECORDING TO: the names in libc that the recording has addresses of, as a file without code. From
# the debug file, since most of them are not in libc itself.
libc_names() {
    local id debug
    id=$(readelf -n /usr/lib/x86_64-linux-gnu/libc.so.6 | awk '/Build ID:/ { print $3 }')
    debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
    [[ -f $debug ]] || return 0
    perf script --no-inline -i "$1" -F ip,sym,dso 2> /dev/null \
        | sed -nE 's/^[[:space:]]*[0-9a-f]+ ([^ ]+) \([^)]*\/libc\.so\.6\)$/\1/p' | sort -u > libc.symbols
    [[ -s libc.symbols ]] || return 0
    mkdir -p "$2"
    objcopy --only-keep-debug --strip-all --keep-symbols=libc.symbols \
        --remove-section='.debug_*' --remove-section=.comment "$debug" "$2/libc.so.6"
}

# perf_counts RECORDING: samples by event and thread name, and by innermost function, as perf script has them.
perf_counts() {
    perf script -i "$1" -F comm,event 2> /dev/null | sed -E 's/:? *$//; s/^ *(.*[^ ]) +([^ ]+)$/\2\t\1/' \
        | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/samples\t\2\t\1/'
    perf script --no-inline -i "$1" -F event,ip,sym 2> /dev/null \
        | awk '/^ *[^ ].*: *$/ { event = $1; sub(/:$/, "", event); next }
               event != "" && NF > 1 { $1 = ""; count[event "\t" substr($0, 2)]++; event = "" }
               END { for (leaf in count) print "leaves\t" leaf "\t" count[leaf] }' | sort
}

# record CASE NAME PROGRAM ARGUMENTS OPTIONS...: NAME is the file's; those called input have golden outputs.
record() {
    local name=$1 file=$2.perf.data program=$3 arguments=$4 folder=$testdata/perf-data/$1
    shift 4
    [[ $wanted == '  ' || $wanted == *" $name "* ]] || return 0
    local command="perf record $* -k CLOCK_MONOTONIC -o $file ./$program $arguments"
    rm -rf "$folder" "$place"
    mkdir -p "$place" "$folder/symbols"
    cd "$place"
    cp "$build/$program" .
    [[ -z ${before:-} ]] || "$before" "$program"
    # shellcheck disable=SC2086
    HOME=$place nice -n -20 unshare --uts bash -c 'hostname whichlock-test && exec "$@"' - \
        $command > truth.json 2> perf.log || {
        cat perf.log >&2
        echo "$name: not recorded" >&2
        rmdir -p --ignore-fail-on-non-empty "$folder/symbols"
        return 0
    }
    if strings "$file" | grep -E '/(work|tmp|home|root|mnt)/' \
        || ! perf script -i "$file" --header-only | grep -q 'hostname : whichlock-test$'; then
        echo "$name: the recording tells of this machine" >&2
        return 1
    fi
    chmod 644 "$file"
    cp "$file" truth.json "$folder"
    objcopy --strip-debug "$program" "$folder/symbols/$program"
    kernel_names "$file" > "$folder/kallsyms"
    libc_names "$file" "$folder/symbols"
    perf_counts "$file" > "$folder/perf-counts.txt"
    [[ $file != input* ]] || echo "--debug-dir symbols --kallsyms kallsyms $file" > "$folder/args"
    cat > "$folder/ORIGIN" << TEXT
From: testdata/programs/${program%.*}.cpp, recorded by testdata/programs/record.sh.
What: $command
Kernel: $(uname -r), $(uname -m), $(nproc) processors; $(perf --version).
Kept: the recording as it is; the program without debug info; kernel and libc names of the recorded addresses.
Right answer: truth.json, which the program measured in that run; it begins and ends at start_ns and stop_ns of
  the recording's clock. perf-counts.txt has the samples as perf script lists them.
TEXT
    echo "$name: $(du -cb "$folder"/* | tail -n 1 | cut -f 1) bytes"
    cd "$testdata"
    rm -r "$place"
}

# set_probes: those that $probed names, at the calls of mutexes in libc.
set_probes() {
    local libc=/usr/lib/x86_64-linux-gnu/libc.so.6
    perf probe -q -x $libc 'mutex_lock=pthread_mutex_lock mutex=%di:u64' \
        && perf probe -q -x $libc 'mutex_lock=pthread_mutex_lock%return' \
        && perf probe -q -x $libc 'mutex_unlock=pthread_mutex_unlock mutex=%di:u64'
}

# set_try_probes: those that $tried names beyond these; what a try returns is the point.
set_try_probes() {
    local libc=/usr/lib/x86_64-linux-gnu/libc.so.6
    perf probe -q -x $libc 'mutex_trylock=pthread_mutex_trylock mutex=%di:u64' \
        && perf probe -q -x $libc 'mutex_trylock=pthread_mutex_trylock%return result=$retval:s32'
}

# set_static_probes PROGRAM: those that $static_probes names.
set_static_probes() {
    local name
    for name in entry acquired release; do
        perf probe -q -x "./$1" "%sdt_libc:mutex_$name"
    done
}

((EUID == 0)) || { echo 'perf needs root' >&2; exit 1; }
kallsyms=$(mktemp)
trap 'rm -f "$kallsyms"' EXIT
dd if=/proc/kallsyms bs=1M status=none | sort -s -k 1,1 > "$kallsyms" # small reads of it take minutes
# shellcheck disable=SC2086
{
    record mutex-two-sites-cpu input mutex_two_sites.fp 60 $cpu $fp $alone
    record spin-and-ttas-cpu-fp input spin_and_ttas.fp 300 $cpu $fp $alone
    record spin-and-ttas-cpu-dwarf recording spin_and_ttas.nofp 300 -e cpu-clock -F 1499 $dwarf
    record no-contention-cpu input no_contention.fp 4000 $cpu $fp $alone
    record kernel-mmap-cpu input kernel_mmap.fp 600 $cpu $fp $alone
    record sharded-heap-mutexes-cpu input sharded_heap_mutexes.fp 600 $cpu $fp $alone

    record mutex-two-sites-futex recording mutex_two_sites.fp 30 $futex $fp
    record mutex-two-sites-futex-dwarf recording mutex_two_sites.nofp 12 $futex $dwarf
    record rw-readers-first-futex recording rw_reader_flood.fp '20 reader' $futex $fp
    record rw-writers-first-futex recording rw_reader_flood.fp '20 writer' $futex $fp
    record convoy-condvar-futex recording convoy_condvar.fp 8 $futex $fp
    record chain-of-three-futex recording chain_of_three.fp 20 $futex $fp
    record chain-of-three-futex-dwarf recording chain_of_three.nofp 8 $futex $dwarf
    record sharded-heap-mutexes-futex recording sharded_heap_mutexes.fp 300 $futex $fp
    record no-contention-futex recording no_contention.fp 3000 $futex $fp
    record parker-futex recording parker.fp 25 $futex $fp
    record condvar-lock-futex recording condvar_lock.fp 25 $futex $fp
    record yield-loop-futex recording yield_loop.fp 4 $futex $fp
    record hog-preempts-holder-futex recording hog_preempts_holder.fp 15 $futex $fp
    record cfs-throttled-futex recording cfs_throttled.fp 8 $futex $fp
    record deadlock-cut-short-futex recording deadlock_cut_short.fp 100 $futex $fp
    record herd-futex recording herd.fp 2 $futex $fp
    record sleepers-futex recording sleepers.fp 15 $futex $fp
    record condvar-lock-futex-dwarf recording condvar_lock.nofp 10 $futex $dwarf
    record yield-loop-futex-dwarf recording yield_loop.nofp 2 $futex $dwarf
    record parker-futex-dwarf recording parker.nofp 30 $futex $dwarf
    record priority-inversion-futex recording hog_preempts_holder.fp '15 inversion' $futex $fp
    record io-under-lock-futex recording io_under_lock.fp 15 $futex $fp
    record malloc-arena-futex-dwarf recording malloc_arena.nofp 50 $futex $dwarf
    record shared-mutex-futex recording shared_mutex.fp 15 $futex $fp -d
    set_probes
    record deadlock-probes recording deadlock_cut_short.fp 60 $probed $fp
    record mutex-two-sites-probes recording mutex_two_sites.fp 20 $probed $fp
    set_try_probes
    record trylock-poll-probes recording trylock_poll.fp 15 $tried $fp
    perf probe -q -d 'probe_libc:mutex_*'
    before=set_static_probes
    record mutex-two-sites-sdt recording mutex_with_sdt.fp 20 $static_probes $fp
    before=
    perf probe -q -d 'sdt_libc:mutex_*' || true # there are none unless they were recorded
    record kernel-dir-contention recording kernel_dir.fp 2000 $contention $fp
    record kernel-mmap-contention recording kernel_mmap.fp 40 $contention $fp
}
