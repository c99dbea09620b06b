"""Prints, for each topic of a history, what pyarrow finds in its Parquet files, as a line of JSON."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as parquet

folder = Path(sys.argv[1])
for topic in sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
    files = sorted(folder.glob(f"{topic}/date=*/hour=*/*.parquet"))
    rows = 0
    ids = {}
    ordered = True
    for file in files:
        # A file by itself: its folders are not columns here.
        table = parquet.ParquetFile(file).read()
        table.validate(full=True)
        rows += table.num_rows
        by = "fence_id" if topic == "fence_events" else "trackable_1" if topic == "collision_events" else "id"
        keys = list(zip(table[by].to_pylist(), table["time"].to_pylist()))
        ordered = ordered and keys == sorted(keys)
        for name in table["id"].to_pylist():
            ids[name] = ids.get(name, 0) + 1
        hour = file.parent.parent.name.removeprefix("date=") + " " + file.parent.name.removeprefix("hour=")
        ordered = ordered and all(time.strftime("%Y-%m-%d %H") == hour for _, time in keys)
    columns = {field.name: str(field.type) for field in parquet.read_schema(files[0])} if files else {}
    print(json.dumps({"topic": topic, "rows": rows, "ids": ids, "ordered": ordered, "columns": columns}))
