// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/json_names.h"

namespace whichlock {

std::string_view kindName(SectionKind kind)
{
    switch (kind) {
    case SectionKind::CpuProfile:
        return "cpu-profile";
    case SectionKind::WaitProfile:
        return "wait-profile";
    case SectionKind::LockTrace:
        return "lock-trace";
    case SectionKind::LockTable:
        return "lock-table";
    case SectionKind::ThreadDump:
        return "thread-dump";
    case SectionKind::Counters:
        return "counters";
    case SectionKind::Measurements:
        return "measurements";
    }
    return "measurements";
}

std::string_view quantityName(QuantityKind kind)
{
    switch (kind) {
    case QuantityKind::Cpu:
        return "cpu";
    case QuantityKind::Wait:
        return "wait";
    case QuantityKind::Count:
        return "count";
    case QuantityKind::Percent:
        return "percent";
    }
    return "count";
}

std::string_view seesName(Sees sees)
{
    switch (sees) {
    case Sees::No:
        return "no";
    case Sees::Partly:
        return "partly";
    case Sees::Yes:
        return "yes";
    }
    return "no";
}

std::string_view guiltyName(Guilty guilty)
{
    switch (guilty) {
    case Guilty::Yes:
        return "yes";
    case Guilty::No:
        return "no";
    case Guilty::Unknown:
        return "unknown";
    }
    return "unknown";
}

} // namespace whichlock
