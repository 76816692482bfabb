// SPDX-License-Identifier: GPL-3.0-or-later
// The one way a function reports failure: a value, or an Error that says what and where.
#pragma once

#include "parsers/diagnostic.h"

#include <tl/expected.hpp>

namespace whichlock {

/// A failure that ended an operation; a diagnostic that nobody has reported yet.
using Error = Diagnostic;

/// A value of type T, or the Error that kept it from being made.
template <class T> using Result = tl::expected<T, Error>;

/// Shorthand for returning an Error from a function that returns Result<T>.
inline tl::unexpected<Error> fail(DiagnosticCode code, std::string message, Position position = {})
{
    return tl::make_unexpected(makeDiagnostic(code, std::move(message), std::move(position)));
}

} // namespace whichlock
