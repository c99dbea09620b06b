"""Recorded positions as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import geopandas
    import pandas


class History(Sequence[dict[str, Any]]):
    """Recorded positions of an object, in the order of their times."""

    def __init__(self, positions: Sequence[dict[str, Any]]) -> None:
        self._positions = list(positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index: Any) -> Any:
        return self._positions[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._positions)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with the time in UTC as its index. Needs the extra ``pandas``."""
        import pandas

        columns = None if self._positions else ["time", "longitude", "latitude"]
        frame = pandas.DataFrame(self._positions, columns=columns)
        frame["time"] = pandas.to_datetime(frame["time"], utc=True, format="ISO8601")
        return frame.set_index("time")

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return a GeoDataFrame with points in EPSG:4326. Needs the extra ``geo``."""
        import geopandas

        frame = self.to_pandas()
        points = geopandas.points_from_xy(frame["longitude"], frame["latitude"])
        return geopandas.GeoDataFrame(frame, geometry=points, crs="EPSG:4326")
