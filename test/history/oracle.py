"""Answers to questions about the past, computed in plain Python from the same rows.

Reads {"places": [...], "fixes": [...], "events": [...], "timeouts": {...}, "questions": [...]} and writes the list of
answers. `places` are the rows of motions, `fixes` those of locations. Times are milliseconds since 1970. Written from
docs/history.md; it compares all with all.
"""

import json
import math
import statistics
import sys
from fractions import Fraction

EARTH_METRES = 6_371_008.8
EQUATOR_METRES, ECCENTRICITY_SQUARED = 6_378_137.0, 0.00669437999014
DEGREE_METRES = EARTH_METRES * math.pi / 180
LOOK_BACK = 7 * 86_400_000


def quantile(values, part):
    ordered = sorted(values)
    at = Fraction(part) * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return round(float(ordered[low] + (at - low) * (ordered[high] - ordered[low])))


def within(q, places, name):
    own = [p for p in places if p["id"] == name and q["from"] <= p["time"] < q["to"]]
    return sorted(own, key=lambda p: p["time"])


def places(q, all_places):
    own = within(q, all_places, q["id"])
    if q.get("step"):
        last = {}
        for p in own:
            last[(p["time"] - q["from"]) // q["step"]] = p
        own = [last[step] for step in sorted(last)]
    return [[p["time"], p["longitude"], p["latitude"]] for p in own]


def snapshot(q, all_places):
    found = []
    for name in sorted({p["id"] for p in all_places}):
        known = [p for p in all_places if p["id"] == name and q["at"] - q["max_age"] < p["time"] <= q["at"]]
        if known:
            last = max(known, key=lambda p: p["time"])
            if last["floor"] == q["floor"]:
                found.append([name, last["time"]])
    return found


def tracks(q, all_places):
    found = []
    for name in sorted({p["id"] for p in all_places}):
        for time, longitude, _ in places({**q, "id": name}, all_places):
            found.append([name, time - q["from"], longitude])
    return found


def end_of_open(fence, kind, name, entry):
    """An open visit ends at the last fix of its object plus the timeout, within LOOK_BACK of its entry."""
    rows = given["places"] if kind == "trackable" else given["fixes"]
    own = sorted((p for p in rows if p["id"] == name and p["time"] >= entry), key=lambda p: p["time"])
    last = own[-1]["time"] if own else entry
    provider = (own[-1]["provider_id"] if own else None) if kind == "trackable" else name
    timeouts = given["timeouts"]
    timeout = timeouts["providers"].get(provider)
    if timeout is None and kind == "trackable":
        timeout = timeouts["trackables"].get(name)
    if timeout is None:
        timeout = timeouts["fences"].get(fence, 0)
    return min(last + timeout, entry + LOOK_BACK)


def every_visit(kind):
    """All visits of objects that count: (fence, type, name, entry, end, is_open). Knows nothing of a span."""
    events = given["events"]
    found = []
    for key in {(e["fence_id"], e["object_type"], e["object_id"], e["entry_time"]) for e in events}:
        own = [e for e in events if (e["fence_id"], e["object_type"], e["object_id"], e["entry_time"]) == key]
        fence, object_type, name, entry = key
        is_assigned = any(json.loads(e.get("trackables") or "[]") for e in own)
        if kind == "object" and object_type == "provider" and is_assigned:
            continue
        if kind in ("trackable", "provider") and object_type != kind:
            continue
        exits = [e["exit_time"] for e in own if e["event_type"] == "region_exit"]
        if exits:
            found.append((fence, object_type, name, entry, max(exits), False))
        elif not any((e["fence_id"], e["object_type"], e["object_id"]) == key[:3] and e["entry_time"] > entry for e in events):
            found.append((fence, object_type, name, entry, end_of_open(fence, object_type, name, entry), True))
    return found


def visits_of(q):
    every = every_visit(q.get("kind", "object"))
    found = [v for v in every if v[3] < q["to"] and (v[4] > q["from"] or v[3] >= q["from"])]
    return sorted(found, key=lambda v: (v[3], v[0], v[2]))


def visits(q, _places):
    return [[v[0], v[2], v[3], None if v[5] else v[4], v[4] - v[3]] for v in visits_of(q)]


def overlap(v, q):
    return max(0, min(v[4], q["to"]) - max(v[3], q["from"]))


def dwell(q, _places):
    found = []
    every = visits_of(q)
    for fence in sorted({v[0] for v in every}):
        own = [v for v in every if v[0] == fence]
        closed = [v for v in own if not v[5]]
        still = [v for v in own if v[5]]
        times = [v[4] - v[3] for v in closed]
        found.append(
            [
                *[fence, len(closed), sum(v[3] >= q["from"] for v in own), len({v[1:3] for v in own})],
                *([quantile(times, "0.5"), quantile(times, "0.95")] if times else [None, None]),
                *[sum(overlap(v, q) for v in closed), len(still), sum(overlap(v, q) for v in still)],
            ]
        )
    return found


def occupancy(q, _places):
    found = []
    every = visits_of(q)
    for fence in sorted({v[0] for v in every}):
        counts = []
        at = q["from"]
        while at < q["to"]:
            counts.append(sum(v[0] == fence and v[3] <= at < v[4] for v in every))
            at += q["step"]
        if any(counts):
            found.append([fence, counts])
    return found


def flows(q, _places):
    ways = {}
    every = [v for v in every_visit(q.get("kind", "object")) if v[3] < q["to"]]
    for name in {v[1:3] for v in every}:
        own = sorted((v for v in every if v[1:3] == name), key=lambda v: (v[3], -v[4], v[0]))
        for a, b in zip(own, own[1:]):
            contained = b[3] < a[4] and (a[5] or b[4] <= a[4])
            if a[0] != b[0] and not contained and q["from"] <= b[3] < q["to"]:
                ways.setdefault((a[0], b[0]), []).append(None if a[5] else max(0, b[3] - a[4]))
    found = []
    for (a, b), times in sorted(ways.items()):
        timed = [t for t in times if t is not None]
        found.append([a, b, len(times), quantile(timed, "0.5") if timed else None])
    return found


def cell_of(longitude, latitude, cell):
    """The middle of a square on a grid that is counted from 0° N, 0° E, in bands of 0.1° of latitude."""
    up = math.floor(latitude * DEGREE_METRES / cell)
    band = math.floor((up + 0.5) * cell / (DEGREE_METRES / 10))
    width = DEGREE_METRES * math.cos(math.radians((band + 0.5) / 10))
    across = math.floor(longitude * width / cell)
    return (up + 0.5) * cell / DEGREE_METRES, (across + 0.5) * cell / width


def heatmap(q, all_places):
    cells = {}
    for name in {p["id"] for p in all_places}:
        own = sorted((p for p in all_places if p["id"] == name), key=lambda p: p["time"])
        for a, b in zip(own, own[1:]):
            end = min(a["time"] + q["max_gap"], b["time"])
            ms = min(end, q["to"]) - max(a["time"], q["from"])
            if ms > 0 and a["floor"] == q["floor"]:
                cell = cell_of(a["longitude"], a["latitude"], q["cell"])
                cells[cell] = cells.get(cell, 0) + ms / 1000
    return [[longitude, latitude, seconds] for (latitude, longitude), seconds in sorted(cells.items())]


def metres_on_sphere(a, b):
    north = b["latitude"] - a["latitude"]
    east = (b["longitude"] - a["longitude"]) * math.cos(math.radians((a["latitude"] + b["latitude"]) / 2))
    return DEGREE_METRES * math.hypot(north, east)


def quality(q, all_places):
    cells = {}
    for name in {p["id"] for p in all_places}:
        own = [p for p in all_places if p["id"] == name and q["from"] <= p["time"] < q["to"]]
        own.sort(key=lambda p: p["time"])
        for before, p, after in zip([None] + own, own, own[1:] + [None]):
            if p["floor"] != q["floor"]:
                continue
            found = cells.setdefault(cell_of(p["longitude"], p["latitude"], q["cell"]), [0, [], 0, 0])
            found[0] += 1
            if p.get("accuracy") is not None:
                found[1].append(p["accuracy"])
            found[2] += after is not None and after["time"] - p["time"] > q["max_gap"]
            if before is not None:
                seconds = (p["time"] - before["time"]) / 1000
                found[3] += metres_on_sphere(before, p) > max(0.01, q["max_speed"] * seconds)
    return [
        [longitude, latitude, count, statistics.median(accuracies) if accuracies else None, gaps, jumps]
        for (latitude, longitude), (count, accuracies, gaps, jumps) in sorted(cells.items())
    ]


def metres(a, b):
    # By the radii of curvature of WGS 84, which is exact enough for some metres.
    middle = math.radians((a["latitude"] + b["latitude"]) / 2)
    squared = 1 - ECCENTRICITY_SQUARED * math.sin(middle) ** 2
    across = EQUATOR_METRES / math.sqrt(squared)
    along = across * (1 - ECCENTRICITY_SQUARED) / squared
    north = math.radians(b["latitude"] - a["latitude"]) * along
    east = math.radians(b["longitude"] - a["longitude"]) * across * math.cos(middle)
    return math.hypot(north, east)


def trips(q, all_places):
    way = within(q, all_places, q["id"])
    stops = []
    i = 0
    while i < len(way):
        j = i
        while j + 1 < len(way) and way[j + 1]["time"] - way[j]["time"] <= q["max_gap"]:
            if metres(way[i], way[j + 1]) > q["radius"]:
                break
            j += 1
        if way[j]["time"] - way[i]["time"] >= q["min_stop"]:
            stops.append((i, j))
            i = j + 1
        else:
            i += 1
    edges = [0] + [at for stop in stops for at in stop] + [len(way) - 1]
    found = []
    for a, b in zip(edges[::2], edges[1::2]):
        cuts = [k for k in range(a, b) if way[k + 1]["time"] - way[k]["time"] > q["max_gap"]]
        for first, last in zip([a] + [k + 1 for k in cuts], cuts + [b]):
            if last > first:
                found.append([way[first]["time"], way[last]["time"]])
    return [found, [[way[a]["time"], way[b]["time"], b - a + 1] for a, b in stops]]


ANSWERS = {f.__name__: f for f in (places, snapshot, tracks, visits, dwell, occupancy, flows, heatmap, quality, trips)}
given = json.load(sys.stdin)
json.dump([ANSWERS[q["ask"]](q, given["places"]) for q in given["questions"]], sys.stdout)
