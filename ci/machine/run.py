"""Runs a Linux program, with its shared libraries, on an emulated x86-64 machine: Bochs, a ROM in place of a BIOS, one kernel, one process.

    run.py CACHE MODEL SECONDS PROGRAM [ARGUMENT...]

What the program writes comes out as it is written, its exit status is ours. 124: it took longer. 125: the machine failed.
With EMULATION_PROFILE=FOLDER, a program that was built with `-C instrument-coverage` leaves its profile there.
CACHE holds `bochs`, `vmlinuz`, `rom.bin` and `init`, as ../avx512 puts them there. MODEL is a CPU that Bochs knows.
"""

import os
import struct
import subprocess
import sys
import tempfile
import threading

IMAGE = 16 << 20  # where the image goes in the guest's memory; the ROM knows it too
PAGE = 1 << 12
KERNEL_ALIGNMENT = 1 << 21
MEMORY_MIB = 1024
PASSED_ON = ("ARGREDUCE_", "PROPTEST_", "RUST_")  # environment variables that the program sees, by prefix

# Nothing that this machine has none of; no random addresses; and no `rep movsb` in the kernel, on which Bochs loops for ever.
KERNEL_OPTIONS = (
    "quiet nokaslr mitigations=off tsc=reliable lpj=1000000 acpi=off pci=off noapic clearcpuid=erms,fsrm "
    "cryptomgr.notests lsm= audit=0 ipv6.disable=1 panic=-1 reboot=triple random.trust_cpu=on"
)


def cpio(files):
    """An archive in the format that the kernel unpacks its first file system from: (name, mode, content)."""
    archive = bytearray()
    for number, (name, mode, content) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        encoded = name.encode() + b"\0"
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0]
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        archive += bytes(-len(archive) % 4) + content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def libraries(program):
    """The shared libraries that a program is linked to, and the loader of them."""
    listing = subprocess.run(["ldd", program], capture_output=True, text=True)
    words = [word for line in listing.stdout.splitlines() for word in line.split()]
    return sorted({word for word in words if word.startswith("/")})


def first_files(cache, program, arguments):
    environment = {"PATH": "/", "HOME": "/tmp", "TMPDIR": "/tmp"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    if "EMULATION_PROFILE" in os.environ:
        environment["LLVM_PROFILE_FILE"] = "/tmp/profile"  # init passes it on
    yield "dev", 0o40755, b""
    yield "init", 0o100755, read(f"{cache}/init")
    yield "arguments", 0o100644, b"".join(os.fsencode(s) + b"\0" for s in ["/program", *arguments])
    yield "environment", 0o100644, b"".join(os.fsencode(f"{n}={v}") + b"\0" for n, v in environment.items())
    with tempfile.NamedTemporaryFile() as stripped:
        # The tables of debug information are many times the size of the code.
        subprocess.run(["strip", "--strip-debug", "-o", stripped.name, program], check=True)
        yield "program", 0o100755, read(stripped.name)
    made = set()
    for library in libraries(program):
        folders = os.path.dirname(library).strip("/").split("/")
        for depth in range(1, len(folders) + 1):
            folder = "/".join(folders[:depth])
            if folder not in made:
                made.add(folder)
                yield folder, 0o40755, b""
        yield library.strip("/"), 0o100755, read(library)


def image(cache, program, arguments):
    """What is in memory when the machine starts: boot_params, command line, first file system, kernel."""
    file = read(f"{cache}/vmlinuz")
    kernel = file[(file[0x1F1] + 1) * 512 :]
    files = cpio(first_files(cache, program, arguments))
    files_at = IMAGE + 2 * PAGE
    kernel_at = -(-(files_at + len(files)) // KERNEL_ALIGNMENT) * KERNEL_ALIGNMENT

    params = bytearray(2 * PAGE)
    header_end = 0x202 + file[0x201]
    params[0x1F1:header_end] = file[0x1F1:header_end]
    params[0x210] = 0xFF  # a loader without a number
    struct.pack_into("<III", params, 0x214, kernel_at, files_at, len(files))
    struct.pack_into("<I", params, 0x228, IMAGE + PAGE)
    usable = [(0, 0x9FC00), (1 << 20, (MEMORY_MIB - 1) << 20)]
    params[0x1E8] = len(usable)
    for n, (start, length) in enumerate(usable):
        struct.pack_into("<QQI", params, 0x2D0 + 20 * n, start, length, 1)
    struct.pack_into("<I", params, 0xFFC, kernel_at + len(kernel))
    params[PAGE : PAGE + len(KERNEL_OPTIONS)] = KERNEL_OPTIONS.encode()
    return bytes(params) + files + bytes(kernel_at - files_at - len(files)) + kernel


def settings(cache, model):
    # AMX, CET and user interrupts are more than the kernel takes from Bochs.
    excluded = ', exclude_features="amx,amx_int8,amx_bf16,uintr,cet,la57"' if model == "sapphire_rapids" else ""
    return f"""
display_library: nogui
config_interface: textconfig
cpu: model={model}, count=1, ips=20000000, reset_on_triple_fault=0{excluded}
memory: guest={MEMORY_MIB}, host={MEMORY_MIB}
romimage: file={cache}/rom.bin
vga: extension=none
vgaromimage: file=no-vga
optramimage1: file=image, address={IMAGE:#x}
clock: sync=none, time0=1700000000
port_e9_hack: enabled=1
log: log
panic: action=fatal
error: action=ignore
info: action=report
debug: action=ignore
"""


def main():
    cache, model, seconds, program, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        for name, content in [
            ("image", image(cache, program, arguments)),
            ("settings", settings(cache, model).encode()),
            ("no-vga", bytes(2048)),
        ]:
            with open(f"{work}/{name}", "wb") as file:
                file.write(content)
        machine = subprocess.Popen(
            [f"{cache}/bochs", "-q", "-f", "settings"],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        is_late = threading.Event()
        timer = threading.Timer(float(seconds), lambda: (is_late.set(), machine.kill()))
        timer.start()
        before, has_begun, status, line_before = [], False, None, None
        for line in machine.stdout:
            if not has_begun:
                has_begun = line == b"[begin]\n"
                before.append(line)
                continue
            if line.startswith(b"[end ") and line.endswith(b"]\n"):
                status = int(line[5:-2])
                break
            if line.startswith(b"[file ") and line.endswith(b"]\n"):
                name = f"{os.path.basename(program)}-{os.getpid()}.profraw"
                with open(os.path.join(os.environ["EMULATION_PROFILE"], name), "wb") as file:
                    file.write(machine.stdout.read(int(line[6:-2])))
                machine.stdout.readline()  # ended by a newline that is not in the file either
                continue
            # One line late, because the end comes after a newline that the program did not write.
            if line_before is not None:
                sys.stdout.buffer.write(line_before)
                sys.stdout.buffer.flush()
            line_before = line
        sys.stdout.buffer.write((line_before or b"").removesuffix(b"\n") if status is not None else line_before or b"")
        sys.stdout.buffer.flush()
        machine.kill()
        machine.wait()
        timer.cancel()
        if status is not None:
            return status
        if is_late.is_set():
            print(f"{program}: not finished after {seconds} s on the emulated {model}", file=sys.stderr)
            return 124
        print("the emulated machine failed", file=sys.stderr)
        sys.stderr.buffer.write(b"".join(before[-20:]))
        log = f"{work}/log"
        if os.path.exists(log):
            sys.stderr.buffer.write(b"\n".join(read(log).splitlines()[-20:]) + b"\n")
        return 125


sys.exit(main())
