// Command walk goes through the API of a hub with the client that oapi-codegen makes of its OpenAPI document. It prints
// what it was answered as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"walk/hub"
)

var ctx = context.Background()

func main() {
	client, err := hub.NewClientWithResponses(os.Args[1])
	check(err)
	seen, err := json.Marshal(walk(client))
	check(err)
	fmt.Println(string(seen))
}

func walk(client *hub.ClientWithResponses) map[string]any {
	seen := map[string]any{}
	yes := true

	zone, err := client.CreateZoneWithResponse(ctx, hub.Zone{
		Type: hub.ZoneTypeUwb, Name: ptr("Hall"), ForeignId: ptr("hall"), GroundControlPoints: &[]hub.Position{
			{8.6821, 50.1109}, {0, 0}, {8.6835, 50.1109}, {100, 0}, {8.6835, 50.1118}, {100, 100}, {8.6821, 50.1118}, {0, 100},
		},
	})
	expect(err, zone.HTTPResponse, 201)
	zoneID := *zone.JSON201.Id
	seen["zone"] = *zone.JSON201.Name

	var region hub.Geometry
	check(region.FromPolygon(hub.Polygon{Coordinates: [][]hub.Position{{
		{8.6821, 50.1109}, {8.6835, 50.1109}, {8.6835, 50.1118}, {8.6821, 50.1118}, {8.6821, 50.1109},
	}}}))
	fence, err := client.CreateFenceWithResponse(ctx, nil, hub.Fence{Name: ptr("Dock"), Region: region})
	expect(err, fence.HTTPResponse, 201)
	fenceID := *fence.JSON201.Id

	trackable, err := client.CreateNewTrackableWithResponse(ctx, nil, hub.Trackable{
		Type: hub.TrackableTypeOmlox, Name: ptr("Vehicle"), LocationProviders: &[]string{"tag-1"}, Radius: ptr(1.5),
	})
	expect(err, trackable.HTTPResponse, 201)

	position := hub.Point{Type: hub.PointTypePoint, Coordinates: hub.Position{20.25, 20}}
	location := hub.Location{
		Position: position, Source: ptr("hall"), ProviderType: hub.ProviderTypeUwb, ProviderId: ptr("tag-1"), Crs: ptr("local"),
	}
	put, err := client.UpdateLocationByProviderIdWithResponse(ctx, "tag-1", location)
	expect(err, put.HTTPResponse, 204)
	all, err := client.UpdateLocationsWithResponse(ctx, hub.LocationArray{location})
	expect(err, all.HTTPResponse, 204)

	motions, err := client.GetAllTrackableMotionsWithResponse(ctx, nil)
	expect(err, motions.HTTPResponse, 200)
	motionArray, err := motions.JSON200.AsTrackableMotionArray()
	check(err)
	shape, err := motionArray[0].Geometry.Discriminator()
	check(err)
	seen["motions"] = []string{*motionArray[0].Name, shape}

	asFeatures, err := client.GetAllTrackableMotionsWithResponse(ctx, &hub.GetAllTrackableMotionsParams{Geojson: &yes})
	expect(err, asFeatures.HTTPResponse, 200)
	features, err := asFeatures.JSON200.AsFeatureCollection()
	check(err)
	seen["motionFeatures"] = geometries(features)

	crs := "local"
	locations, err := client.GetAllLocationsWithResponse(ctx, &hub.GetAllLocationsParams{Crs: &crs, ZoneId: &zoneID})
	expect(err, locations.HTTPResponse, 200)
	locationArray, err := locations.JSON200.AsLocationArray()
	check(err)
	seen["locations"] = []any{*locationArray[0].ProviderId, locationArray[0].Position.Coordinates[0]}

	fences, err := client.GetAllFencesWithResponse(ctx, &hub.GetAllFencesParams{Geojson: &yes})
	expect(err, fences.HTTPResponse, 200)
	fenceFeatures, err := fences.JSON200.AsFeatureCollection()
	check(err)
	seen["fenceFeatures"] = geometries(fenceFeatures)

	one, err := client.GetFenceByIdWithResponse(ctx, fenceID, nil)
	expect(err, one.HTTPResponse, 200)
	dock, err := one.JSON200.AsFence()
	check(err)
	value, err := dock.Region.ValueByDiscriminator()
	check(err)
	seen["fence"] = []any{*dock.Name, len(value.(hub.Polygon).Coordinates[0])}

	inside, err := client.GetTrackablesInsideWithResponse(ctx, fenceID, nil)
	expect(err, inside.HTTPResponse, 200)
	seen["inside"] = *(*inside.JSON200)[0].Name

	vehicle := *trackable.JSON201
	vehicle.Name = ptr("Vehicle 7")
	renamed, err := client.UpdateTrackableByIdWithResponse(ctx, *vehicle.Id, nil, vehicle)
	expect(err, renamed.HTTPResponse, 200)
	seen["renamed"] = *renamed.JSON200.Name

	var building any = "A"
	var patch hub.JsonPatch
	check(patch.FromJsonPatchOperations([]hub.JsonPatchOperation{{Op: hub.Add, Path: "/building", Value: &building}}))
	patched, err := client.PatchZoneByIdWithResponse(ctx, zoneID, nil, patch)
	expect(err, patched.HTTPResponse, 200)
	seen["patched"] = *patched.JSON200.Building

	providers, err := client.GetProvidersOfTrackableWithResponse(ctx, *vehicle.Id)
	expect(err, providers.HTTPResponse, 200)
	seen["providers"] = []any{*(*providers.JSON200)[0].Id, (*providers.JSON200)[0].Type}

	measured, err := client.UpdateSensorsByProviderIdWithResponse(ctx, "tag-1", map[string]any{"battery": 0.5})
	expect(err, measured.HTTPResponse, 204)
	sensors, err := client.GetSensorsByProviderIdWithResponse(ctx, "tag-1")
	expect(err, sensors.HTTPResponse, 200)
	seen["sensors"] = *sensors.JSON200

	missing, err := client.GetZoneByIdWithResponse(ctx, "nothing", nil)
	expect(err, missing.HTTPResponse, 404)
	seen["notFound"] = []any{missing.JSON404.Code, missing.JSON404.Message}
	refused, err := client.CreateFenceWithResponse(ctx, nil, hub.Fence{Region: region, Radius: ptr(-1.0)})
	expect(err, refused.HTTPResponse, 400)
	seen["refused"] = []any{refused.JSON400.Code, refused.JSON400.Message}
	return seen
}

func geometries(features hub.FeatureCollection) []string {
	kinds := []string{}
	for _, feature := range features.Features {
		kind, err := feature.Geometry.Discriminator()
		check(err)
		kinds = append(kinds, kind)
	}
	return kinds
}

func ptr[T any](value T) *T { return &value }

func expect(err error, response *http.Response, status int) {
	check(err)
	if response.StatusCode != status {
		panic(fmt.Sprintf("%s %s: %s", response.Request.Method, response.Request.URL, response.Status))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
