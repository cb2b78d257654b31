"""Why there is no connection, in words of ours: a server's own hold its host, its users and its databases.

What a server says comes in the language of its owner; where it is none of these words, libpq still knows whether a
password was asked for.
"""

from __future__ import annotations

import re
from typing import Any

_NAMES = re.compile(r'"[^"]*"|\'[^\']*\'')
_PASSWORD = "it refused the user or the password, which may have expired; set PGPASSWORD, or mend ~/.pgpass"
_UNREACHED = "the server cannot be reached; check host, port and that it runs"
_REASONS = (
    ("no password supplied", "it asks for a password, and none was given; set PGPASSWORD, or write ~/.pgpass"),
    ("password authentication failed", _PASSWORD),
    ("is not permitted to log in", "this user may not log in; let the database's owner ALTER ROLE ... LOGIN"),
    ("role  does not exist", _PASSWORD),
    ("too many connections", "it has no connection left for this user; try later, or let its owner raise the limit"),
    ("too many clients", "it has no connection left; try again later, or let its owner raise max_connections"),
    ("connection slots", "it has no connection left; try again later, or let its owner raise max_connections"),
    ("does not support SSL", "it has no encryption, and the address asks for it; turn on ssl there, or mend sslmode"),
    ("SSL not in use", "the address asks for encryption, and this connection has none; mend sslmode, channel_binding"),
    ("certificate", "its certificate, or ours, was not accepted; check sslrootcert, sslcert and the name of the host"),
    ("pg_hba.conf", "its pg_hba.conf rejects this user from here; let its owner add a line, or mend sslmode"),
    ("permission denied for database", "this user may not enter the database; let its owner GRANT CONNECT on it"),
    ("not currently accepting", "the database accepts no connections; let its owner ALLOW_CONNECTIONS"),
    ("database  does not exist", "the server has no such database; check its name"),
    ("the database system is", "the server is starting, stopping or in recovery; try again"),
    ("configuration parameter", "it refused a setting in the address; mend its options"),
    ("value for parameter", "it refused a setting in the address; mend its options"),
    ("sslmode", "libpq does not know the sslmode of the address; mend it"),
    ("definition of service", "there is no such service here; mend its service, or ~/.pg_service.conf"),
    ("authentication", _PASSWORD),
    ("Connection refused", _UNREACHED),
    ("No such file", _UNREACHED),
    ("resolve host", _UNREACHED),
    ("timeout", _UNREACHED),
)  # fmt: skip


def why(error: Any) -> str:
    """What went wrong, and what helps.

    >>> why(Exception('connection failed: FATAL:  role "password" is not permitted to log in'))
    "this user may not log in; let the database's owner ALTER ROLE ... LOGIN"
    """
    said = _NAMES.sub("", str(error))
    for words, reason in _REASONS:
        if words in said:
            return reason
    attempt = getattr(error, "pgconn", None)
    if attempt is not None and attempt.used_password:
        return _PASSWORD
    return "the server cannot be reached, or refused it in words of its own; check host and port, and see its log"
