/** The endings of the files that can be read, for the browser's dialog. */
export const ACCEPTED = '.json,.geojson,.kml,.csv,.zip,.dxf,application/json,application/geo+json,text/csv';
