# How the kernel speaks where only three streams exist; sent there only.


def open_streams(requests, frames):
    """Returns what `_open_link` sets."""
    import select

    fcntl.fcntl(requests, fcntl.F_SETFL, fcntl.fcntl(requests, fcntl.F_GETFL) | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(requests, select.POLLIN)

    def _receive():
        try:
            return os_read(requests, 1 << 16)
        except BlockingIOError:
            return None

    def _transmit(data):
        data = memoryview(data)
        while data:
            data = data[os_write(frames, data) :]

    return poll.poll, _receive, _transmit
