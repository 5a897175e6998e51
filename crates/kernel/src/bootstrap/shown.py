# What a cell displays, as frames.


def send(mime, data, width=None, height=None, note=None):
    """Shows text (str) or an image (bytes) at this place of the output."""
    frame = {
        "frame": "display",
        "cell": kernel.S.running or kernel.cell,
        "mime": mime,
        "mark": kernel.write_mark(),
    }
    for key, value in (("width", width), ("height", height), ("note", note)):
        if value is not None:
            frame[key] = value
    if isinstance(data, str):
        frame["text"] = data
        kernel.send(frame)
    else:
        frame["binary"] = True
        kernel.send(frame, data)
