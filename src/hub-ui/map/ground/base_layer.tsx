import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button, IconButton } from '../../controls/button.tsx';
import { Icon } from '../../controls/icons.tsx';
import { connection, wasConnected } from '../../hub/live.ts';
import { settings } from '../../hub/settings.ts';
import { t } from '../../languages/language.ts';
import { type CanvasFrame, CanvasLayer } from '../view/canvas_layer.ts';
import { drawGrid } from '../view/grid.ts';
import { useMap } from '../view/map_view.tsx';
import { palette } from '../view/palette.ts';
import { useLayer, Z } from '../view/vector_layer.ts';
import styles from './base_layer.module.css';
import type { ReportHealth, Tiles } from './tiles.ts';
import type { MapExtent } from './world.ts';
import { worldOpacity, zoomOf } from './world_fade.ts';

/**
 * Background of the map: the configured map tiles where they exist and load. Elsewhere it shows the world when zoomed out and a
 * grid in meters when zoomed in.
 */
export function BaseLayer() {
  const { covered, trouble, retry } = useTiles();
  useWorld(covered);
  useGrid(covered === 'nothing');
  return trouble === undefined ? null : <TileTrouble problem={trouble} onRetry={retry} />;
}

/** Draws a plain grid that fades out as the world fades in. */
function useGrid(isOn: boolean): void {
  const { plane } = useMap();
  const colors = palette();
  const layer = useMemo(() => {
    const draw = (frame: CanvasFrame): void => {
      frame.context.globalAlpha = plane.kind === 'earth' ? 1 - worldOpacity(frame.resolution) : 1;
      if (frame.context.globalAlpha > 0) drawGrid(frame, plane, colors);
      frame.context.globalAlpha = 1;
    };
    return isOn ? new CanvasLayer(draw, { zIndex: Z.base, isStill: true }) : undefined;
  }, [plane, colors, isOn]);
  useLayer(layer);
}

/** Area covered by tiles: a box of the earth, from a zoom level on. */
type Covered = 'nothing' | 'everything' | { readonly box: MapExtent; readonly fromZoom: number };

type Pictures = typeof import('./world_draw.ts');

let pictures: Pictures | undefined;

/**
 * Draws the earth with coasts, borders and cities, outside the area that tiles cover. Code and data are loaded when the earth
 * first comes into view.
 */
function useWorld(covered: Covered): void {
  const { map, plane, ground } = useMap();
  const colors = palette();
  // The extent of the site is unknown without a connection to the hub.
  const isAlone = connection.value.state === 'reconnecting' && !wasConnected.value;
  const isOn = (ground.isSettled.value || isAlone) && covered !== 'everything';
  useEffect(() => {
    if (plane.kind !== 'earth' || !isOn) return;
    const layer = new CanvasLayer(
      (frame) => {
        const isVisible = worldOpacity(frame.resolution) > 0;
        if (isVisible && pictures === undefined) void loadPictures().then(redraw, () => undefined);
        const picture = isVisible ? pictures?.pictureAt(zoomOf(frame.resolution), redraw) : undefined;
        const isCovered = typeof covered === 'object' && zoomOf(frame.resolution) > covered.fromZoom;
        picture?.draw(frame, { colors, covered: isCovered ? covered.box : undefined });
        ground.isWorld.value = picture !== undefined;
      },
      { zIndex: Z.world, isStill: true },
    );
    const redraw = (): void => layer.redraw();
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
      ground.isWorld.value = false;
    };
  }, [map, plane, ground, colors, isOn, covered]);
}

/** Loads the drawing code after the first paint, so that it does not delay the page. */
async function loadPictures(): Promise<void> {
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  pictures = await import('./world_draw.ts');
}

/** Opens the configured map tiles. Returns what they cover, or the reason why they are missing. */
function useTiles() {
  const { map, plane, ground } = useMap();
  const { map_tiles: configured } = settings.value;
  const colors = palette();
  const [tiles, setTiles] = useState<Tiles>();
  const [trouble, setTrouble] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (configured === null || plane.kind !== 'earth') return;
    let isDisposed = false;
    let opened: Tiles | undefined;
    const report: ReportHealth = (problem) => {
      if (!isDisposed) setTrouble(problem);
    };
    const open = async (): Promise<void> => {
      const { openTiles } = await import('./tiles.ts');
      opened = await openTiles(configured, report);
      if (isDisposed) return;
      map.addLayer(opened.layer);
      ground.tileCredit.value = opened.attribution;
      setTiles(opened);
    };
    open().catch((error: unknown) => report(error instanceof Error ? error.message : String(error)));
    return () => {
      isDisposed = true;
      if (opened !== undefined) map.removeLayer(opened.layer);
      ground.tileCredit.value = '';
      setTiles(undefined);
      setTrouble(undefined);
    };
  }, [map, plane, ground, configured, attempt]);
  useEffect(() => tiles?.paint(colors), [tiles, colors]);
  const covered = useMemo<Covered>(() => {
    if (configured === null || plane.kind !== 'earth' || trouble !== undefined) return 'nothing';
    return tiles?.box === undefined ? 'everything' : { box: tiles.box, fromZoom: tiles.fromZoom };
  }, [configured, plane, tiles, trouble]);
  return { covered, trouble, retry: () => setAttempt((before) => before + 1) };
}

/** Notice that the configured map tiles are unavailable, until the user dismisses it. */
function TileTrouble({ problem, onRetry }: { readonly problem: string; readonly onRetry: () => void }) {
  const [isRead, setRead] = useState(false);
  if (isRead) return null;
  return (
    <div class={styles.trouble} role="alert">
      <Icon name="warning" />
      <p>
        <strong>{t('There are no map tiles.')}</strong> <span>{`${problem}.`}</span>{' '}
        <span>{t('The map shows the world in their place.')}</span>
      </p>
      <Button kind="quiet" onClick={onRetry}>
        {t('Try again')}
      </Button>
      <IconButton icon="close" label={t('Close')} onClick={() => setRead(true)} />
    </div>
  );
}
