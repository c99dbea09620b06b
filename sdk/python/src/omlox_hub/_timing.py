"""Pauses between attempts."""

PAUSE_MAX_S = 5.0
FIRST_PAUSE_S = 0.1


def pause_s(failures: int, random: float) -> float:
    """Return the pause in seconds before the next attempt.

    There is none before the first attempt. Then it doubles from 0.1 s to 5 s, times a random factor from 0.5 to 1.5, so that
    clients that failed together do not return together. ``random`` is from 0 to 1.
    """
    if failures <= 0:
        return 0.0
    doubled: float = FIRST_PAUSE_S * 2 ** min(failures - 1, 16)
    return min(PAUSE_MAX_S, doubled) * (0.5 + random)
