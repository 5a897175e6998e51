# Cells that await, on one event loop that all of them share.
import asyncio
import asyncio.events

S = kernel.S


def set_loop():
    """Makes the kernel's loop the current one; `asyncio.run` takes it away."""
    if S.loop is None or S.loop.is_closed():
        S.loop = asyncio.new_event_loop()
    asyncio.events.set_event_loop(S.loop)


def pending():
    """Returns how many tasks of the shared loop are not done."""
    if S.loop is None or S.loop.is_closed():
        return 0
    return len([task for task in asyncio.all_tasks(S.loop) if not task.done()])


def run(coroutine):
    """Runs the coroutine of a cell to its end, and other tasks beside it."""
    set_loop()
    before = S.interrupts
    task = S.loop.create_task(coroutine)
    S.task = task
    try:
        return S.loop.run_until_complete(task)
    except asyncio.CancelledError as error:
        if S.interrupts > before:
            raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
        raise
    except BaseException:
        _let_go(task)
        raise
    finally:
        S.task = None


def _let_go(task):
    """After an interrupt the task is still there: ends it, within its `finally`."""
    if task.done() or S.loop.is_closed():
        return
    task.cancel()
    try:
        S.loop.run_until_complete(task)
    except BaseException:
        pass


def cancel(frame):
    """Cancels the cell's task if the loop, and not its code, is what runs now."""
    name = frame.f_code.co_filename
    if "asyncio" not in name and not name.endswith("selectors.py"):
        return False
    S.loop.call_soon_threadsafe(S.task.cancel)
    return True
