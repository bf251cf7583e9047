"""Notes which methods of the SDK's client are called, also by the SDK itself."""

import functools
import inspect

from langsmith import Client

called = set()


def _noting(name, method):
    @functools.wraps(method)
    def noting(*args, **kwargs):
        called.add(name)
        return method(*args, **kwargs)

    return noting


for _name, _method in list(vars(Client).items()):
    if inspect.isfunction(_method) and not _name.startswith("_"):
        setattr(Client, _name, _noting(_name, _method))

#: All methods that a program can call.
public = sorted(name for name, member in vars(Client).items() if inspect.isfunction(member) and not name.startswith("_"))
