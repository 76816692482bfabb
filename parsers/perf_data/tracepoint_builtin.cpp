// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts of the tracepoints that tell of locks and waiting, as 64-bit kernels of the last years have them,
// for recordings that lost their own description.
#include "parsers/perf_data/tracepoint_format.h"

namespace whichlock {
namespace {

struct BuiltIn {
    std::string_view event; ///< `system:name`
    std::string_view fields;
};

constexpr std::string_view kCommon = "field:unsigned short common_type; offset:0; size:2; signed:0;\n"
                                     "field:unsigned char common_flags; offset:2; size:1; signed:0;\n"
                                     "field:unsigned char common_preempt_count; offset:3; size:1; signed:0;\n"
                                     "field:int common_pid; offset:4; size:4; signed:1;\n";
constexpr std::string_view kWakeup = "field:char comm[16]; offset:8; size:16; signed:0;\n"
                                     "field:pid_t pid; offset:24; size:4; signed:1;\n"
                                     "field:int prio; offset:28; size:4; signed:1;\n"
                                     "field:int target_cpu; offset:32; size:4; signed:1;\n";

constexpr BuiltIn kBuiltIn[] = {
    {"lock:contention_begin",
        "field:void * lock_addr; offset:8; size:8; signed:0;\n"
        "field:unsigned int flags; offset:16; size:4; signed:0;\n"},
    {"lock:contention_end",
        "field:void * lock_addr; offset:8; size:8; signed:0;\n"
        "field:int ret; offset:16; size:4; signed:1;\n"},
    {"sched:sched_switch",
        "field:char prev_comm[16]; offset:8; size:16; signed:0;\n"
        "field:pid_t prev_pid; offset:24; size:4; signed:1;\n"
        "field:int prev_prio; offset:28; size:4; signed:1;\n"
        "field:long prev_state; offset:32; size:8; signed:1;\n"
        "field:char next_comm[16]; offset:40; size:16; signed:0;\n"
        "field:pid_t next_pid; offset:56; size:4; signed:1;\n"
        "field:int next_prio; offset:60; size:4; signed:1;\n"},
    {"sched:sched_waking", kWakeup},
    {"sched:sched_wakeup", kWakeup},
    {"sched:sched_wakeup_new", kWakeup},
    {"syscalls:sys_enter_futex",
        "field:int __syscall_nr; offset:8; size:4; signed:1;\n"
        "field:u32 * uaddr; offset:16; size:8; signed:0;\n"
        "field:int op; offset:24; size:8; signed:0;\n"
        "field:u32 val; offset:32; size:8; signed:0;\n"
        "field:const struct __kernel_timespec * utime; offset:40; size:8; signed:0;\n"
        "field:u32 * uaddr2; offset:48; size:8; signed:0;\n"
        "field:u32 val3; offset:56; size:8; signed:0;\n"},
    {"syscalls:sys_exit_futex",
        "field:int __syscall_nr; offset:8; size:4; signed:1;\n"
        "field:long ret; offset:16; size:8; signed:1;\n"},
    {"raw_syscalls:sys_enter",
        "field:long id; offset:8; size:8; signed:1;\n"
        "field:unsigned long args[6]; offset:16; size:48; signed:0;\n"},
    {"raw_syscalls:sys_exit",
        "field:long id; offset:8; size:8; signed:1;\n"
        "field:long ret; offset:16; size:8; signed:1;\n"},
};

} // namespace

std::shared_ptr<const TracepointFormat> builtInTracepointFormat(std::string_view eventName)
{
    for (const BuiltIn& known : kBuiltIn) {
        if (known.event != eventName)
            continue;
        const size_t colon = eventName.find(':');
        std::string text = "name: " + std::string(eventName.substr(colon + 1)) + "\n";
        text += kCommon;
        text += known.fields;
        std::optional<TracepointFormat> format = parseTracepointFormat(eventName.substr(0, colon), text);
        if (!format)
            return nullptr;
        format->builtIn = true;
        return std::make_shared<const TracepointFormat>(std::move(*format));
    }
    return nullptr;
}

} // namespace whichlock
