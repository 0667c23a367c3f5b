"""Hosts on one machine: each has a network, processes and temporary files of its own.

A host lives as long as a process that waits at a pipe, and all that belongs to it ends with that
process: its programs, interfaces and mounts. So nothing stays behind, even of a test that was
killed, and nothing of the machine's own network is touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_APART = ["unshare", "--net", "--pid", "--fork", "--mount", "--mount-proc"]

# Not all of /tmp: this project or its interpreter may be there.
_INIT = """
set -e
mount -t tmpfs none /dev/shm
mkdir -p -m 777 /tmp/ray
mount --bind "$0" /tmp/ray
echo up
read end
"""

_SECONDS = 150
"""How long any program may take, so that one that hangs is told from one that works."""


def obstacle() -> str:
    """Why there can be no hosts on this machine; nothing if there can."""
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            return f"there is no {program}: hosts need util-linux and iproute2"
    tried = subprocess.run(
        [*_APART, "ip", "link", "add", "bridge", "type", "bridge"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"hosts need root: {tried.stderr.strip()}" if tried.returncode else ""


class Host:
    """A machine, as far as the programs on it can tell."""

    def __init__(self, files: Path, environment: Mapping[str, str], address: str = "") -> None:
        """`files` is the folder that is `/tmp/ray` there. It stays, with all that was logged."""
        files.mkdir()
        self.address = address
        self._errors = files / "stderr"
        self._environment = environment
        self._programs: list[subprocess.Popen[str]] = []
        self._init = subprocess.Popen(
            [*_APART, "sh", "-c", _INIT, str(files)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._init.stdout is not None
        assert self._init.stdout.readline() == "up\n"
        self.process = self._init.pid
        """What names its network to others."""
        self._namespaces = f"/proc/{self.process}/ns"

    def ip(self, words: str) -> None:
        """Change its network."""
        command = ["nsenter", f"--net={self._namespaces}/net", "ip", *words.split()]
        subprocess.run(command, check=True)

    def start(self, *command: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start a program there."""
        inside = ["nsenter", f"--net={self._namespaces}/net", f"--mount={self._namespaces}/mnt"]
        inside += [f"--pid={self._namespaces}/pid_for_children"]
        with self._errors.open("a") as errors:
            program = subprocess.Popen(
                [*inside, "timeout", "--signal=KILL", str(_SECONDS), *command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=errors,
                text=True,
                env=self._environment,
            )
        self._programs.append(program)
        return program

    def run(self, *command: str) -> str:
        """Run a program there to its good end, for what it says."""
        program = self.start(*command, stdout=subprocess.PIPE)
        said, _ = program.communicate()
        assert program.returncode == 0, (command, said, self.errors)
        return said

    @property
    def errors(self) -> str:
        """What programs there have said on stderr."""
        return self._errors.read_text()

    def kill(self) -> None:
        """Every program there is killed at once: without its first process a host is no more."""
        for process in (self._init, *self._programs):
            with process:  # its pipes are closed, and its end is waited for
                pass


class Network:
    """A switch, and hosts that are plugged in at 10.77.0.1, 10.77.0.2 and so on."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._ports: dict[Host, str] = {}
        self._switch = Host(folder / "switch", environment)
        self._switch.ip("link add bridge up type bridge")

    def add(self) -> Host:
        """A new host."""
        number = len(self._ports) + 1
        host = Host(self._folder / f"host{number}", self._environment, f"10.77.0.{number}")
        self._ports[host] = port = f"port{number}"
        self._switch.ip(
            f"link add {port} up master bridge type veth peer name eth0 netns {host.process}"
        )
        host.ip("link set lo up")
        host.ip("link set eth0 up")
        host.ip(f"address add {host.address}/24 dev eth0")
        host.ip("route add default dev eth0")  # by it programs find out their own address
        return host

    def cut(self, host: Host) -> None:
        """Pull a host's plug: from now on there is silence, and nobody is told."""
        self._switch.ip(f"link set {self._ports[host]} down")

    def end(self) -> None:
        for host in (*self._ports, self._switch):
            host.kill()


@contextmanager
def network(folder: Path, environment: Mapping[str, str]) -> Iterator[Network]:
    """A network of hosts whose programs have this environment besides that of this process."""
    found = Network(folder, {**os.environ, **environment})
    try:
        yield found
    finally:
        found.end()
