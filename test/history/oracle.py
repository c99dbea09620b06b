"""What questions about the past are answered, in plain Python over the same rows.

Reads {"places": [...], "events": [...], "questions": [...]} and writes the list of answers. Times are milliseconds since
1970. Written from docs/history.md; it compares all with all.
"""

import json
import math
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


def places(q, all_places, _events):
    own = within(q, all_places, q["id"])
    if q.get("step"):
        last = {}
        for p in own:
            last[(p["time"] - q["from"]) // q["step"]] = p
        own = [last[step] for step in sorted(last)]
    return [[p["time"], p["longitude"], p["latitude"]] for p in own]


def snapshot(q, all_places, _events):
    found = []
    for name in sorted({p["id"] for p in all_places}):
        known = [p for p in all_places if p["id"] == name and q["at"] - q["max_age"] < p["time"] <= q["at"]]
        if known:
            last = max(known, key=lambda p: p["time"])
            if last["floor"] == q["floor"]:
                found.append([name, last["time"]])
    return found


def visits_of(q, events):
    known = [e for e in events if e["time"] < q["to"] and e["entry_time"] >= q["from"] - LOOK_BACK]
    keys = {}
    for e in known:
        key = (e["fence_id"], e["object_id"], e["entry_time"])
        exits = keys.setdefault(key, [])
        if e["event_type"] == "region_exit":
            exits.append(e["exit_time"])
    found = []
    for (fence, name, entry), exits in keys.items():
        left = max(exits) if exits else None
        again = any(k[0] == fence and k[1] == name and k[2] > entry for k in keys)
        if left is None and again:
            continue
        if entry < q["to"] and (q["to"] if left is None else left) >= q["from"]:
            found.append((fence, name, entry, left))
    return sorted(found, key=lambda v: (v[2], v[0], v[1]))


def visits(q, _places, events):
    return [list(v) for v in visits_of(q, events)]


def dwell(q, _places, events):
    found = []
    every = visits_of(q, events)
    for fence in sorted({v[0] for v in every}):
        own = [v for v in every if v[0] == fence]
        times = [(q["to"] if v[3] is None else v[3]) - v[2] for v in own]
        still = sum(v[3] is None for v in own)
        objects = len({v[1] for v in own})
        found.append([fence, len(own), objects, still, quantile(times, "0.5"), quantile(times, "0.95"), sum(times)])
    return found


def occupancy(q, _places, events):
    found = []
    every = visits_of(q, events)
    for fence in sorted({v[0] for v in every}):
        counts = []
        at = q["from"]
        while at < q["to"]:
            counts.append(sum(v[0] == fence and v[2] <= at and (v[3] is None or at < v[3]) for v in every))
            at += q["step"]
        if any(counts):
            found.append([fence, counts])
    return found


def flows(q, _places, events):
    ways = {}
    every = visits_of(q, events)
    for name in {v[1] for v in every}:
        own = sorted((v for v in every if v[1] == name), key=lambda v: (v[2], v[0]))
        for a, b in zip(own, own[1:]):
            if a[0] != b[0] and q["from"] <= b[2] < q["to"]:
                ways.setdefault((a[0], b[0]), []).append(None if a[3] is None else max(0, b[2] - a[3]))
    found = []
    for (a, b), times in sorted(ways.items()):
        timed = [t for t in times if t is not None]
        found.append([a, b, len(times), quantile(timed, "0.5") if timed else None])
    return found


def heatmap(q, all_places, _events):
    stays = []
    for name in {p["id"] for p in all_places}:
        own = within(q, all_places, name)
        for a, b in zip(own, own[1:]):
            ms = min(q["max_gap"], b["time"] - a["time"])
            if ms > 0 and a["floor"] == q["floor"]:
                stays.append((a["longitude"], a["latitude"], ms / 1000))
    if not stays:
        return []
    lats = sorted(s[1] for s in stays)
    middle = (lats[(len(lats) - 1) // 2] + lats[len(lats) // 2]) / 2
    across = DEGREE_METRES * math.cos(math.radians(middle))
    cells = {}
    for lon, lat, seconds in stays:
        cell = (math.floor(lon * across / q["cell"]), math.floor(lat * DEGREE_METRES / q["cell"]))
        cells[cell] = cells.get(cell, 0) + seconds
    return sorted(cells.values())


def metres(a, b):
    # By the radii of curvature of WGS 84, which is exact enough for some metres.
    middle = math.radians((a["latitude"] + b["latitude"]) / 2)
    squared = 1 - ECCENTRICITY_SQUARED * math.sin(middle) ** 2
    across = EQUATOR_METRES / math.sqrt(squared)
    along = across * (1 - ECCENTRICITY_SQUARED) / squared
    north = math.radians(b["latitude"] - a["latitude"]) * along
    east = math.radians(b["longitude"] - a["longitude"]) * across * math.cos(middle)
    return math.hypot(north, east)


def trips(q, all_places, _events):
    way = within(q, all_places, q["id"])
    stops = []
    i = 0
    while i < len(way):
        j = i
        while j + 1 < len(way) and metres(way[i], way[j + 1]) <= q["radius"]:
            j += 1
        if way[j]["time"] - way[i]["time"] >= q["min_stop"]:
            stops.append((i, j))
            i = j + 1
        else:
            i += 1
    edges = [0] + [at for stop in stops for at in stop] + [len(way) - 1]
    found = [[way[a]["time"], way[b]["time"]] for a, b in zip(edges[::2], edges[1::2]) if b > a]
    return [found, [[way[a]["time"], way[b]["time"], b - a + 1] for a, b in stops]]


ANSWERS = {f.__name__: f for f in (places, snapshot, visits, dwell, occupancy, flows, heatmap, trips)}
given = json.load(sys.stdin)
json.dump([ANSWERS[q["ask"]](q, given["places"], given["events"]) for q in given["questions"]], sys.stdout)
