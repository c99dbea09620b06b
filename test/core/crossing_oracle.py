"""Expected fence events of straight ways between locations, computed with shapely.

Reads {"fences": [...], "locations": [[object, milliseconds, longitude, latitude], ...], "gapMs": n} from stdin and
writes {"fence object": [[isEntry, milliseconds], ...]} to stdout. Circles are polygons of many geodesics by Vincenty's
direct formula on the WGS 84 ellipsoid.
"""

import json
import math
import sys

import shapely

A, F = 6378137.0, 1 / 298.257223563
B = A * (1 - F)
CORNERS = 7200


def direct(lon, lat, azimuth, meters):
    u1 = math.atan((1 - F) * math.tan(math.radians(lat)))
    s1 = math.atan2(math.tan(u1), math.cos(azimuth))
    sin_alpha = math.cos(u1) * math.sin(azimuth)
    cos2_alpha = 1 - sin_alpha**2
    u2 = cos2_alpha * (A**2 - B**2) / B**2
    a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    s = meters / (B * a)
    for _ in range(20):
        c = math.cos(2 * s1 + s)
        delta = b * math.sin(s) * (
            c + b / 4 * (math.cos(s) * (2 * c * c - 1) - b / 6 * c * (4 * math.sin(s) ** 2 - 3) * (4 * c * c - 3))
        )
        s = meters / (B * a) + delta
    x = math.sin(u1) * math.sin(s) - math.cos(u1) * math.cos(s) * math.cos(azimuth)
    y = math.sin(u1) * math.cos(s) + math.cos(u1) * math.sin(s) * math.cos(azimuth)
    to_lat = math.atan2(y, (1 - F) * math.hypot(sin_alpha, x))
    turn = math.atan2(
        math.sin(s) * math.sin(azimuth),
        math.cos(u1) * math.cos(s) - math.sin(u1) * math.sin(s) * math.cos(azimuth),
    )
    c = F / 16 * cos2_alpha * (4 + F * (4 - 3 * cos2_alpha))
    e = math.cos(2 * s1 + s)
    step = turn - (1 - c) * F * sin_alpha * (s + c * math.sin(s) * (e + c * math.cos(s) * (2 * e * e - 1)))
    return lon + math.degrees(step), math.degrees(to_lat)


def area(fence):
    region = fence["region"]
    if region["type"] == "Polygon":
        return shapely.Polygon(region["coordinates"][0], region["coordinates"][1:])
    lon, lat = region["coordinates"][:2]
    ring = [direct(lon, lat, 2 * math.pi * i / CORNERS, fence["radius"]) for i in range(CORNERS)]
    return shapely.Polygon(ring)


def parts_inside(polygon, start, end):
    """Fractions of the way between which it is inside."""
    way = shapely.LineString([start, end])
    inside = way.intersection(polygon)
    lines = [part for part in getattr(inside, "geoms", [inside]) if part.geom_type == "LineString" and not part.is_empty]
    spans = sorted(sorted(way.project(shapely.Point(at), normalized=True) for at in (p.coords[0], p.coords[-1])) for p in lines)
    joined = []
    for low, high in spans:
        if high - low < 1e-12:
            continue
        if joined and low - joined[-1][1] < 1e-9:
            joined[-1][1] = high
        else:
            joined.append([low, high])
    return joined


def main():
    given = json.load(sys.stdin)
    areas = [(fence["id"], area(fence)) for fence in given["fences"]]
    tree = shapely.STRtree([polygon for _, polygon in areas])
    last, inside, events = {}, {}, {}

    def change(fence, name, is_entry, at):
        key = f"{fence} {name}"
        if inside.get(key, False) == is_entry:
            return
        inside[key] = is_entry
        events.setdefault(key, []).append([is_entry, at])

    for name, at, lon, lat in given["locations"]:
        before = last.get(name)
        if before is not None and at < before[0]:
            continue
        last[name] = (at, lon, lat)
        here = shapely.Point(lon, lat)
        near = set(tree.query(here))
        is_way = before is not None and 0 < at - before[0] <= given["gapMs"] and (lon, lat) != before[1:]
        if before is not None:
            near |= set(tree.query(shapely.LineString([before[1:], (lon, lat)])))
        for index in near:
            fence, polygon = areas[index]
            if is_way:
                for low, high in parts_inside(polygon, before[1:], (lon, lat)):
                    change(fence, name, True, before[0] + low * (at - before[0]))
                    if high < 1 - 1e-12:
                        change(fence, name, False, before[0] + high * (at - before[0]))
            change(fence, name, polygon.covers(here), at)
    json.dump(events, sys.stdout)


main()
