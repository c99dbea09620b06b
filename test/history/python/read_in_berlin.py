"""Prints how many rows of the last ten minutes pyarrow and DuckDB find in each topic, in the time zone of TZ."""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pyarrow.dataset as dataset

folder = Path(sys.argv[1])
database = duckdb.connect()
database.execute("SET TimeZone = 'Europe/Berlin'")
since = datetime.now(ZoneInfo("Europe/Berlin")) - timedelta(minutes=10)
found = {}
for topic in ("locations", "motions", "fence_events"):
    files = [str(path) for path in folder.glob(f"{topic}/date=*/hour=*/*.parquet")]
    by_arrow = dataset.dataset(files).count_rows(filter=dataset.field("time") > since)
    [(by_duckdb,)] = database.execute(
        "SELECT count(*) FROM read_parquet(?, hive_partitioning = false) WHERE time > now() - INTERVAL 10 MINUTE", [files]
    ).fetchall()
    found[topic] = {"pyarrow": by_arrow, "duckdb": by_duckdb}
print(json.dumps(found))
